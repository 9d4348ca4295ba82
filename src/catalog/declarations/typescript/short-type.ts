import { onlyOption } from '../schema/node-comment.js';
import { mergeNotes } from '../schema/notes.js';
import { type ObjectProperty, type ObjectShape, type SchemaNode, withoutReference } from '../schema/schema-model.js';
import { literalType, propertyName } from './typescript-types.js';

/**
 * A type that does not fit is written with fewer levels of objects, tried in order. `names` is how many properties of an object
 * below the last level are named without their types: a program can filter and join by names.
 */
const ATTEMPTS = [
  { depth: 2, names: 0 },
  { depth: 1, names: 12 },
  { depth: 1, names: 6 },
  { depth: 1, names: 0 },
  { depth: 0, names: 12 },
  { depth: 0, names: 6 },
  { depth: 0, names: 0 },
];
/** Nothing is checked beyond these: schemas are untrusted and may refer to themselves. */
const MAX_NODES = 300;
const MAX_NESTING = 8;
const MAX_LITERALS = 6;
const MAX_LITERAL_CHARACTERS = 60;
const MAX_OPTIONS = 4;
const MAX_NAME_CHARACTERS = 60;
const MAX_DEFAULT_CHARACTERS = 24;

/**
 * A type on one line, in at most this many characters: `{ path: string, head?: number, max_count = 10 }`. Required properties come
 * first, then those for paging. Members that do not fit become `…`, nested ones `object` or `unknown`.
 */
export function shortType(node: SchemaNode, maximum: number): string {
  for (const { depth, names } of ATTEMPTS) {
    const text = new ShortWriter(Number.POSITIVE_INFINITY, names).type(node, depth + 1, 0);
    if (text.length <= maximum) return text;
  }
  const text = new ShortWriter(maximum, 0).type(node, 1, 0);
  return text.length <= maximum ? text : 'unknown';
}

class ShortWriter {
  /** Maximum characters for the outermost object. Members that do not fit are left out. */
  readonly #maximum: number;
  readonly #names: number;
  #nodes = 0;

  constructor(maximum: number, names: number) {
    this.#maximum = maximum;
    this.#names = names;
  }

  type(node: SchemaNode, depth: number, nesting: number): string {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES || nesting > MAX_NESTING) return 'unknown';
    const { shape } = withoutReference(node);
    const inner = (each: SchemaNode) => this.type(each, depth, nesting + 1);
    switch (shape.kind) {
      case 'unknown':
      case 'never':
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return shape.kind;
      case 'integer':
        return 'number';
      case 'literals':
        return joined(shape.values.map(literalType), MAX_LITERALS, MAX_LITERAL_CHARACTERS);
      case 'array':
        return arrayOf(inner(shape.item));
      case 'tuple': {
        const rest = shape.rest === undefined ? [] : [`...${arrayOf(inner(shape.rest))}`];
        return `[${[...shape.elements.slice(0, MAX_OPTIONS).map(inner), ...rest].join(', ')}]`;
      }
      case 'object':
        return this.#object(shape, depth, nesting);
      case 'union':
        return joined([...new Set(shape.options.map(inner))], MAX_OPTIONS, Number.POSITIVE_INFINITY);
      case 'intersection':
        return [...new Set(shape.parts.map(inner))].filter((part) => part !== 'unknown').join(' & ') || 'unknown';
      case 'reference':
        return 'unknown';
    }
  }

  #object({ properties, patterns, additional }: ObjectShape, depth: number, nesting: number): string {
    if (properties.size === 0) return 'object';
    if (depth === 0) return this.#names === 0 ? 'object' : namesOf(properties, this.#names);
    const isOpen = patterns.length > 0 || typeof additional !== 'string';
    const shown: string[] = [];
    let length = '{  }'.length + MORE.length;
    let isCut = isOpen;
    for (const [name, property] of inOrder(properties)) {
      const member =
        name.length > MAX_NAME_CHARACTERS ? undefined : this.#member(name, property, depth - 1, nesting + 1);
      const cost = (member?.length ?? 0) + ', '.length;
      if (member === undefined || (nesting === 0 && length + cost > this.#maximum)) {
        isCut = true;
        continue;
      }
      length += cost;
      shown.push(member);
    }
    return `{ ${[...shown, ...(isCut ? [MORE] : [])].join(', ')} }`;
  }

  #member(name: string, { node, isRequired }: ObjectProperty, depth: number, nesting: number): string {
    const key = propertyName(name);
    if (isRequired) return `${key}: ${this.type(node, depth, nesting)}`;
    // Null means no value, and an optional property can be omitted.
    const core = onlyOption(node);
    const value = defaultOf(
      name,
      core === node ? node : { shape: core.shape, notes: mergeNotes(node.notes, core.notes) },
    );
    return value === undefined ? `${key}?: ${this.type(core, depth, nesting)}` : `${key} = ${value}`;
  }
}

const MORE = '…';

/** `{ id, name, note?, … }` */
function namesOf(properties: ObjectShape['properties'], most: number): string {
  const names = inOrder(properties).map(([name, { isRequired }]) => `${propertyName(name)}${isRequired ? '' : '?'}`);
  const shown = names.filter((name) => name.length <= MAX_NAME_CHARACTERS).slice(0, most);
  return `{ ${[...shown, ...(shown.length < names.length ? [MORE] : [])].join(', ')} }`;
}

/** Required properties first, then those that control how much is returned. */
function inOrder(properties: ObjectShape['properties']): [string, ObjectProperty][] {
  const rank = ([name, { isRequired }]: [string, ObjectProperty]) => (isRequired ? 0 : isPaging(name) ? 1 : 2);
  return [...properties].sort((one, other) => rank(one) - rank(other));
}

function isPaging(name: string): boolean {
  return PAGING.has(name.toLowerCase().replace(/[^a-z]/g, ''));
}

const PAGING = new Set(
  (
    'limit offset page pagesize perpage size cursor nextcursor pagetoken nextpagetoken nexttoken count maxcount max maxresults ' +
    'maxitems maxrows maxlines maxentries numresults num top first last skip start startat startindex head tail'
  ).split(' '),
);

/** The default of a property, if it also shows the type. */
function defaultOf(name: string, node: SchemaNode): string | undefined {
  const { shape, notes } = withoutReference(node);
  const { defaultValue, description } = { ...notes, ...node.notes };
  const value = defaultValue?.value;
  if (value !== undefined && value !== null && TYPES[shape.kind] === typeof value) {
    const text = literalType(value);
    return text.length > MAX_DEFAULT_CHARACTERS ? undefined : text;
  }
  // Many servers state it only in the description.
  const isNumber = shape.kind === 'number' || shape.kind === 'integer';
  return value === undefined && isNumber && isPaging(name)
    ? IN_WORDS.exec((description ?? '').slice(0, 1_000))?.[1]
    : undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
};
const IN_WORDS = /\bdefaults?(?: value)?(?: to| is| of)?\s?[:=]?\s?\(?(\d{1,6})\b(?![.,]?\d)/i;

function joined(texts: readonly string[], most: number, maximum: number): string {
  const shown: string[] = [];
  let length = 0;
  for (const text of texts) {
    length += text.length + ' | '.length;
    if (shown.length === most || length > maximum) return [...shown, MORE].join(' | ');
    shown.push(text);
  }
  return shown.join(' | ');
}

function arrayOf(type: string): string {
  return / [|&] /.test(type) && !type.startsWith('{') ? `(${type})[]` : `${type}[]`;
}
