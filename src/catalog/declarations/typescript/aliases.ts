import { lastToken } from '../../../domain/json-schema/references.js';
import { escapeHidden } from '../../../lib/text/visible-text.js';
import { type Definition, type ObjectShape, type SchemaNode, withoutReference } from '../schema/schema-model.js';

/** A definition under all the names it has in one module: `#/$defs/def0` here may be `#/$defs/def7` there. */
export interface AliasGroup {
  readonly definition: Definition;
  /** The schema's name for it, or else the property that first uses it. */
  readonly suggestedName: string;
  /** Whether it needs its own name: it contains itself, or is used more than once and is not small. */
  readonly isNamed: boolean;
  /** Whether it contains itself. At least one definition of every cycle is marked. */
  readonly isRecursive: boolean;
}

/** Which definitions of several schemas are the same type, and which of those get a name: with `namesAll`, each. */
export function groupDefinitions(roots: readonly SchemaNode[], namesAll = false): Map<Definition, AliasGroup> {
  const definitions = reachableDefinitions(roots);
  const classOf = equivalenceClasses(definitions);
  const representatives = new Map<number, Definition>();
  for (const [definition, id] of classOf) if (!representatives.has(id)) representatives.set(id, definition);
  const recursive = new Set([...recursiveDefinitions(definitions)].map((definition) => classOf.get(definition)));

  // Only one body of a class is ever written, so only its references count.
  const uses = new Map<number | undefined, { count: number; readonly property: string }>();
  for (const node of [...roots, ...[...representatives.values()].map((definition) => definition.node)]) {
    for (const [definition, property] of referencesIn(node, '')) {
      const use = uses.get(classOf.get(definition));
      if (use === undefined) uses.set(classOf.get(definition), { count: 1, property });
      else use.count += 1;
    }
  }
  const groups = new Map<number, AliasGroup>();
  for (const [id, definition] of representatives) {
    const { count, property } = uses.get(id) ?? { count: 0, property: '' };
    const isRecursive = recursive.has(id);
    const isNamed = namesAll || isRecursive || (count > 1 && !isSmall(definition.node));
    groups.set(id, { definition, suggestedName: suggestName(definition, property), isNamed, isRecursive });
  }
  return new Map([...classOf].map(([definition, id]) => [definition, groups.get(id) as AliasGroup]));
}

/** The references directly in a node, with the property that holds them. Definitions are not followed. */
function referencesIn(node: SchemaNode, property: string, found: [Definition, string][] = []): [Definition, string][] {
  const { shape } = node;
  switch (shape.kind) {
    case 'reference':
      found.push([shape.definition, property]);
      break;
    case 'array':
      referencesIn(shape.item, property, found);
      break;
    case 'tuple':
      for (const element of shape.elements) referencesIn(element, property, found);
      if (shape.rest !== undefined) referencesIn(shape.rest, property, found);
      break;
    case 'object':
      for (const [name, member] of shape.properties) referencesIn(member.node, name, found);
      for (const pattern of shape.patterns) referencesIn(pattern.node, property, found);
      if (typeof shape.additional !== 'string') referencesIn(shape.additional, property, found);
      break;
    case 'union':
      for (const option of shape.options) referencesIn(option, property, found);
      break;
    case 'intersection':
      for (const part of shape.parts) referencesIn(part, property, found);
      break;
    default:
      break;
  }
  return found;
}

function reachableDefinitions(roots: readonly SchemaNode[]): readonly Definition[] {
  const reached = new Set<Definition>();
  const waiting = [...roots];
  for (const node of waiting) {
    for (const [definition] of referencesIn(node, '')) {
      if (reached.has(definition)) continue;
      reached.add(definition);
      waiting.push(definition.node);
    }
  }
  return [...reached];
}

/**
 * Definitions are equal if their texts and the targets of their references are equal. Classes are split until no class can be split
 * further, which also works for definitions that refer to each other in a cycle.
 */
function equivalenceClasses(definitions: readonly Definition[]): Map<Definition, number> {
  const targets = new Map(
    definitions.map((definition) => [definition, referencesIn(definition.node, '').map(([target]) => target)]),
  );
  let classes = classify(definitions, (definition) => JSON.stringify(definition.source).replace(REFERENCE, ''));
  for (let count = 0, round = 0; count !== classes.count; round += 1) {
    // Stopping early would merge definitions that differ further down. So nothing is merged.
    if (round === MAX_ROUNDS) return new Map(definitions.map((definition, index) => [definition, index]));
    count = classes.count;
    const previous = classes.ids;
    classes = classify(definitions, (definition) =>
      [definition, ...(targets.get(definition) ?? [])].map((target) => previous.get(target)).join(),
    );
  }
  return classes.ids;
}

/** Real schemas settle in 3 to 7 rounds. One round per link of a hostile chain would be quadratic. */
const MAX_ROUNDS = 24;

const REFERENCE = /"\$ref":"(?:[^"\\]|\\.)*"/g;

function classify(
  definitions: readonly Definition[],
  keyOf: (definition: Definition) => string,
): { readonly ids: Map<Definition, number>; readonly count: number } {
  const known = new Map<string, number>();
  const ids = new Map<Definition, number>();
  for (const definition of definitions) {
    const key = keyOf(definition);
    const id = known.get(key) ?? known.size;
    known.set(key, id);
    ids.set(definition, id);
  }
  return { ids, count: known.size };
}

/** At least one definition of every cycle. Not a recursive function: a hostile chain is a thousand links long. */
function recursiveDefinitions(definitions: readonly Definition[]): Set<Definition> {
  const recursive = new Set<Definition>();
  const states = new Map<Definition, 'open' | 'done'>();
  for (const start of definitions) {
    const path: { readonly definition: Definition; readonly next: Definition[] }[] = [];
    const enter = (definition: Definition) => {
      states.set(definition, 'open');
      path.push({ definition, next: referencesIn(definition.node, '').map(([target]) => target) });
    };
    if (!states.has(start)) enter(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const target = top.next.pop();
      if (target === undefined) {
        states.set(top.definition, 'done');
        path.pop();
      } else if (!states.has(target)) enter(target);
      else if (states.get(target) === 'open') recursive.add(target);
    }
  }
  return recursive;
}

const SMALL_LITERALS_LENGTH = 40;

function isSmall(node: SchemaNode): boolean {
  const { shape } = withoutReference(node);
  switch (shape.kind) {
    case 'literals':
      return JSON.stringify(shape.values).length <= SMALL_LITERALS_LENGTH;
    case 'array':
      return isSmall(shape.item);
    case 'object':
      return shape.properties.size === 0 && shape.patterns.length === 0 && isFree(shape);
    case 'union':
      return (
        shape.options.length <= 3 && shape.options.every((option) => option.shape.kind !== 'union' && isSmall(option))
      );
    case 'intersection':
    case 'tuple':
    case 'reference':
      return false;
    default:
      return true;
  }
}

function isFree(shape: ObjectShape): boolean {
  return typeof shape.additional === 'string' || shape.additional.shape.kind === 'unknown';
}

/** Keywords, numbers and serial names of converters do not describe a type. */
const MEANINGLESS =
  /^(?:|#|(?:def|definition|schema|type|ref|model|items?)_*\d*|__schema\d+|\d+|additionalProperties)$/i;

function suggestName(definition: Definition, property: string): string {
  const token = lastToken(definition.pointer);
  const title = definition.node.notes.title;
  const words = !MEANINGLESS.test(token) ? token : title !== undefined && title.length <= 40 ? title : property;
  return pascalCase(words);
}

/** ASCII letters and digits only, at most 40: names are untrusted. */
export function pascalCase(text: string): string {
  const words = escapeHidden(text, () => '')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  const name = words
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
    .slice(0, 40);
  return /^[A-Za-z]/.test(name) ? name : name === '' ? '' : `T${name}`;
}
