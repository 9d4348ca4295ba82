import { isJsonObject, type JsonValue } from '../../../domain/json.js';
import { quoteVisibly, withoutMarkup } from '../../../lib/text/visible-text.js';
import { docComment } from '../doc-comment.js';
import type { Detail } from '../schema/node-comment.js';
import { mergeNotes } from '../schema/notes.js';
import type { Definition, ObjectShape, SchemaNode, TupleShape } from '../schema/schema-model.js';
import type { AliasGroup } from './aliases.js';
import { optionDocs, propertyDocs } from './typescript-docs.js';

export interface TypeWriterOptions {
  readonly detail: Detail;
  /** Objects nested deeper than this become `unknown`. */
  readonly maximumDepth: number;
  /** Beyond this many characters the text is useless, and the rest is only closed. */
  readonly maximumCharacters: number;
  readonly groupOf: (definition: Definition) => AliasGroup | undefined;
  /** The name of a definition. It then has to be declared. */
  readonly nameOf: (group: AliasGroup, depth: number) => string;
}

/** Definitions nested deeper than this get a name instead of being inlined. */
const MAX_INLINE_DEPTH = 12;
const MAX_ONE_LINE = 90;
const MAX_ONE_LINE_MEMBERS = 8;
/** A union of more types than this is useless as an index signature. */
const MAX_INDEX_TYPES = 6;

/** Writes shapes as TypeScript types. */
export class TypeWriter {
  readonly #options: TypeWriterOptions;
  #characters = 0;
  #isCut = false;

  constructor(options: TypeWriterOptions) {
    this.#options = options;
  }

  /** Whether something was left out because it was nested too deeply. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get isTooLong(): boolean {
    return this.#characters > this.#options.maximumCharacters;
  }

  /** Counts text that is written here. Nested text has already been counted. */
  #count(text: string): string {
    this.#characters += text.length;
    return text;
  }

  /** `indent` is the indentation of the line on which the type begins. */
  type(node: SchemaNode, indent: string, depth: number): string {
    if (this.isTooLong) return 'unknown';
    const { shape } = node;
    switch (shape.kind) {
      case 'unknown':
      case 'never':
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return this.#count(shape.kind);
      case 'integer':
        return this.#count('number');
      case 'literals':
        return this.#count(literalUnion(shape.values));
      case 'array':
        return arrayOf(this.type(this.inPlace(shape.item, depth), indent, depth), indent);
      case 'tuple':
        return this.#tuple(shape, indent, depth);
      case 'object':
        return this.#object(shape, indent, depth);
      case 'union':
        return this.#union(shape.options, node, indent, depth);
      case 'intersection':
        return this.#intersection(shape.parts, indent, depth);
      case 'reference':
        return this.#reference(shape.definition, indent, depth);
    }
  }

  /** The node whose docs and type are written: an inlined definition adds its own description. */
  inPlace(node: SchemaNode, depth: number): SchemaNode {
    let current = node;
    for (let steps = 0; current.shape.kind === 'reference' && steps < 16; steps += 1) {
      const group = this.#options.groupOf(current.shape.definition);
      if (group === undefined || this.#isByName(group, depth)) break;
      current = { shape: group.definition.node.shape, notes: mergeNotes(current.notes, group.definition.node.notes) };
    }
    return current;
  }

  #isByName(group: AliasGroup, depth: number): boolean {
    return group.isNamed || depth > MAX_INLINE_DEPTH;
  }

  #reference(definition: Definition, indent: string, depth: number): string {
    const group = this.#options.groupOf(definition);
    if (group === undefined) return 'unknown';
    if (!this.#isByName(group, depth)) return this.type(group.definition.node, indent, depth);
    if (depth >= this.#options.maximumDepth) return this.#cut();
    return this.#count(this.#options.nameOf(group, depth));
  }

  #cut(): string {
    this.#isCut = true;
    return 'unknown';
  }

  #object(shape: ObjectShape, indent: string, depth: number): string {
    const { properties, patterns, additional } = shape;
    if (properties.size === 0 && patterns.length === 0) {
      if (additional === 'closed') return 'Record<string, never>';
      if (additional === 'unstated' || additional.shape.kind === 'unknown') return 'Record<string, unknown>';
    }
    if (depth >= this.#options.maximumDepth) return this.#cut();
    const inner = `${indent}  `;
    const types = new Set<string>();
    const members: string[] = [];
    let hasDocs = false;
    for (const [name, property] of properties) {
      const node = this.inPlace(property.node, depth + 1);
      const docs = docComment(propertyDocs(node, this.#options.detail), inner);
      const type = this.type(node, inner, depth + 1);
      types.add(type);
      if (!property.isRequired) types.add('undefined');
      hasDocs ||= docs !== '';
      const head = this.#count(`${docs}${inner}${propertyName(name)}${property.isRequired ? '' : '?'}:`);
      members.push(`${head}${type.startsWith('\n') ? '' : ' '}${type};`);
      if (this.isTooLong) return 'unknown';
    }
    const index = this.#indexSignature(shape, types, inner, depth);
    if (index !== undefined) {
      hasDocs ||= index.includes('/**');
      members.push(index);
    }
    if (!hasDocs && members.length <= MAX_ONE_LINE_MEMBERS) {
      const oneLine = `{ ${members
        .map((member) => member.trim())
        .join(' ')
        .slice(0, -1)} }`;
      if (indent.length + oneLine.length <= MAX_ONE_LINE && !oneLine.includes('\n')) return oneLine;
    }
    return `{\n${members.join('\n')}\n${indent}}`;
  }

  /**
   * The type of other keys. TypeScript requires every declared property to match the index signature, so a signature beside
   * properties is the union of all their types. A comment then states the real type of the other keys.
   */
  #indexSignature(
    shape: ObjectShape,
    declared: ReadonlySet<string>,
    indent: string,
    depth: number,
  ): string | undefined {
    const { patterns, additional } = shape;
    const isOpen = additional !== 'closed' && additional !== 'unstated';
    if (!isOpen && patterns.length === 0) return undefined;
    const others = new Set<string>();
    if (isOpen) others.add(this.type(this.inPlace(additional, depth + 1), indent, depth + 1));
    for (const { node } of patterns) others.add(this.type(this.inPlace(node, depth + 1), indent, depth + 1));
    const [pattern] = patterns;
    const prefix =
      !isOpen && patterns.length === 1 && pattern !== undefined ? literalPrefix(pattern.pattern) : undefined;
    if (prefix !== undefined && ![...shape.properties.keys()].some((name) => name.startsWith(prefix))) {
      return `${indent}[key: \`${prefix}\${string}\`]: ${unionOf(others)};`;
    }
    const lines: string[] = [];
    const all = new Set([...others, ...declared]);
    const isWide = all.has('unknown') || all.size > MAX_INDEX_TYPES || [...all].some((type) => type.includes('\n'));
    if (patterns.length > 0) lines.push(`other keys match ${patterns.map((item) => `/${item.pattern}/`).join(' or ')}`);
    const isBlurred = declared.size > 0 && !others.has('unknown') && ![...declared].every((type) => others.has(type));
    if (isBlurred && ![...others].some((type) => type.includes('\n'))) lines.push(`other keys hold ${unionOf(others)}`);
    return `${this.#remark(lines, indent)}${indent}[key: string]: ${isWide && declared.size > 0 ? 'unknown' : unionOf(all)};`;
  }

  #remark(lines: readonly string[], indent: string): string {
    if (this.#options.detail === 'signatures') return '';
    return docComment(
      propertyDocs({ shape: { kind: 'unknown' }, notes: { description: lines.join('; ') } }, 'full'),
      indent,
    );
  }

  #tuple(shape: TupleShape, indent: string, depth: number): string {
    const elements = shape.elements.map((element, index) => {
      const type = this.type(element, indent, depth);
      return index < shape.requiredCount ? type : `${parenthesised(type)}?`;
    });
    if (shape.rest !== undefined) elements.push(`...${arrayOf(this.type(shape.rest, indent, depth), indent)}`);
    else if (shape.isUnstated === true) elements.push('...unknown[]');
    return `[${elements.join(', ')}]`;
  }

  #union(options: readonly SchemaNode[], parent: SchemaNode, indent: string, depth: number): string {
    const inner = `${indent}  `;
    const described = new Map<string, string>();
    const add = (option: SchemaNode): void => {
      const node = this.inPlace(option, depth);
      const docs = docComment(optionDocs(node, parent, this.#options.detail), inner);
      // A union that was a definition of its own becomes part of this one.
      if (node.shape.kind === 'union' && docs === '') {
        for (const nested of node.shape.options) add(nested);
        return;
      }
      const type = this.type(node, inner, depth);
      if (!described.has(type)) described.set(type, this.#count(docs));
    };
    for (const option of options) add(option);
    if (described.has('unknown')) return 'unknown';
    const types = [...described.keys()];
    const oneLine = types.join(' | ');
    const hasDocs = [...described.values()].some((docs) => docs !== '');
    const isShort = oneLine.length <= MAX_ONE_LINE && !oneLine.includes('\n');
    if (!hasDocs && (isShort || types.length === 1)) return oneLine;
    return [...described].map(([type, docs]) => `\n${docs}${inner}| ${alternative(type, inner)}`).join('');
  }

  #intersection(parts: readonly SchemaNode[], indent: string, depth: number): string {
    const types = new Set(parts.map((part) => this.type(this.inPlace(part, depth), indent, depth)));
    types.delete('unknown');
    const list = [...types];
    if (list.length === 0) return 'unknown';
    return list.length === 1 ? (list[0] as string) : list.map(parenthesised).join(' & ');
  }
}

/** A property name for TypeScript: bare if it is a plain identifier, else quoted. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : fenceless(quoteVisibly(name));
}

export function literalUnion(values: readonly JsonValue[]): string {
  const texts = new Set(values.map(literalType));
  if (texts.has('true') && texts.has('false')) {
    texts.delete('true');
    texts.delete('false');
    texts.add('boolean');
  }
  if (texts.delete('null')) texts.add('null');
  return [...texts].join(' | ');
}

export function literalType(value: JsonValue): string {
  if (typeof value === 'string') return fenceless(quoteVisibly(value));
  if (Array.isArray(value)) return `[${value.map(literalType).join(', ')}]`;
  if (!isJsonObject(value)) return String(value);
  const members = Object.entries(value).map(([name, member]) => `${propertyName(name)}: ${literalType(member)}`);
  return members.length === 0 ? 'Record<string, never>' : `{ ${members.join('; ')} }`;
}

/** Declarations are shown in fenced blocks: no literal may close one, or open a tag of the surrounding text. */
function fenceless(literal: string): string {
  return withoutMarkup(literal, '\\u003c').replace(/`{3,}|~{3,}/g, (run) =>
    [...run].map((mark) => (mark === '`' ? '\\u0060' : '\\u007e')).join(''),
  );
}

function arrayOf(type: string, indent: string): string {
  if (type.startsWith('\n')) return `Array<${type}\n${indent}>`;
  return /^[\w$]+$|^Record<string, \w+>$/.test(type) ? `${type}[]` : `Array<${type}>`;
}

/** A union over several lines begins with its own `|`, which must not follow another one. */
function alternative(type: string, indent: string): string {
  return type.startsWith('\n') ? `(${type}\n${indent})` : type;
}

function parenthesised(type: string): string {
  return /^[\w$<>, ]+$|^\{[^{}]*\}$/.test(type) ? type : `(${type})`;
}

function unionOf(types: ReadonlySet<string>): string {
  if (types.has('unknown')) return 'unknown';
  return types.size === 1 ? [...types].join() : [...types].map((type) => alternative(type, '')).join(' | ');
}

/** `x-` of `^x-`: the patterns that a template literal can express. The pattern is untrusted and never run. */
function literalPrefix(pattern: string): string | undefined {
  return /^\^([\w-]+)(?:\.\*\$?|\.\*)?$/.exec(pattern)?.[1];
}
