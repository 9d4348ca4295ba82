import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.js';
import type { Constraints } from '../domain/json-schema/constraints.js';
import { conforms } from './declarations/schema/conforms.js';
import { readSchema } from './declarations/schema/schema.js';
import type { Notes, ObjectShape, SchemaNode, Shape, TupleShape } from './declarations/schema/schema-model.js';
import { examplePatternMatch } from './pattern-example.js';

/**
 * A minimal payload that the schema accepts, to show in an error message: the schema's own `examples` if they are valid, else its
 * defaults and enumerated values, else generated ones. It has only the required properties and those named in `including`.
 */
export function exampleInput(schema: JsonValue | undefined, including: readonly string[] = []): JsonValue {
  const { root } = readSchema(schema);
  if (schema === undefined || root.shape.kind === 'unknown') return root.notes.examples?.[0] ?? {};
  let example: JsonValue = null;
  // A recursive schema gets the smallest depth that satisfies it.
  for (const maximumDepth of DEPTHS) {
    const maker = new ExampleMaker(including, maximumDepth);
    example = maker.make(root, 0);
    if (maker.isComplete) break;
  }
  return example;
}

const DEPTHS = [3, 6, 12, 24];
/** Maximum number of values in one example. Further values are `null`. */
const MAX_VALUES = 400;
/** A schema may require a million items or characters. An error message has no room for them. */
const MAX_ITEMS = 16;
const MAX_TEXT = 256;

class ExampleMaker {
  readonly #including: readonly string[];
  readonly #maximumDepth: number;
  /** Whether this is inside a property to be shown: an empty list would show nothing. */
  #isShowing = false;
  #values = 0;
  #isComplete = true;

  constructor(including: readonly string[], maximumDepth: number) {
    this.#including = including;
    this.#maximumDepth = maximumDepth;
  }

  /** Whether nothing was left out because of the depth limit. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  make(node: SchemaNode, depth: number): JsonValue {
    this.#values += 1;
    if (depth > this.#maximumDepth || this.#values > MAX_VALUES) {
      this.#isComplete = false;
      return null;
    }
    return givenValue(node, depth === 0 ? this.#including : []) ?? this.#synthesise(node, depth);
  }

  #synthesise(node: SchemaNode, depth: number): JsonValue {
    const { shape, notes } = node;
    switch (shape.kind) {
      case 'string':
        return exampleText(notes);
      case 'number':
      case 'integer':
        return exampleNumber(node);
      case 'boolean':
        return true;
      case 'null':
      case 'never':
        return null;
      case 'unknown':
        return 'value';
      case 'literals':
        return shape.values[0] ?? null;
      case 'array':
        return this.#items(shape.item, notes.constraints ?? {}, depth);
      case 'tuple':
        return this.#tuple(shape, notes.constraints ?? {}, depth);
      case 'object':
        return this.#object(shape, notes.constraints ?? {}, depth);
      case 'union':
        return this.#option(shape.options, depth);
      case 'intersection':
        return this.#parts(shape.parts, depth);
      case 'reference':
        return this.make(mergedDefinition(shape, notes), depth);
    }
  }

  #object(shape: ObjectShape, constraints: Constraints, depth: number): JsonObject {
    const example: JsonObject = {};
    const missing = () => (constraints.minProperties ?? 0) - Object.keys(example).length;
    for (const [name, property] of shape.properties) {
      const isShown = depth === 0 && this.#including.includes(name);
      if (!isShown && !property.isRequired) continue;
      if (depth === 0) this.#isShowing = isShown;
      setOwn(example, name, this.make(property.node, depth + 1));
      if (depth === 0) this.#isShowing = false;
    }
    for (const [name, property] of shape.properties) {
      if (missing() > 0 && !Object.hasOwn(example, name)) setOwn(example, name, this.make(property.node, depth + 1));
    }
    for (let index = 1; missing() > 0 && index <= MAX_ITEMS; index += 1) {
      const [pattern] = shape.patterns;
      const name =
        pattern === undefined ? `key${index}` : (examplePatternMatch(pattern.pattern, index) ?? `key${index}`);
      const node = pattern?.node ?? (typeof shape.additional === 'string' ? undefined : shape.additional);
      setOwn(example, name, node === undefined ? 'value' : this.make(node, depth + 1));
    }
    return example;
  }

  #items(item: SchemaNode, constraints: Constraints, depth: number): JsonValue[] {
    const least = this.#isShowing && constraints.maxItems !== 0 ? 1 : 0;
    const count = Math.min(Math.max(constraints.minItems ?? 0, least), MAX_ITEMS);
    return Array.from({ length: count }, (_, index) => distinct(item, this.make(item, depth + 1), index));
  }

  #tuple(shape: TupleShape, constraints: Constraints, depth: number): JsonValue[] {
    const count = Math.min(Math.max(shape.requiredCount, constraints.minItems ?? 0), MAX_ITEMS);
    return Array.from({ length: count }, (_, index) => {
      const node = shape.elements[index] ?? shape.rest;
      return node === undefined ? 'value' : this.make(node, depth + 1);
    });
  }

  /** The first option that is not null and that can be completed. */
  #option(options: readonly SchemaNode[], depth: number): JsonValue {
    const wasComplete = this.#isComplete;
    let fallback: JsonValue = null;
    for (const option of nullLast(options)) {
      this.#isComplete = true;
      const example = this.make(option, depth);
      if (this.#isComplete) {
        this.#isComplete = wasComplete;
        return example;
      }
      fallback = example;
    }
    return fallback;
  }

  #parts(parts: readonly SchemaNode[], depth: number): JsonValue {
    const examples = parts.map((part) => this.make(part, depth));
    if (!examples.every(isJsonObject)) return examples[0] ?? null;
    const merged: JsonObject = {};
    for (const example of examples) for (const [name, value] of Object.entries(example)) setOwn(merged, name, value);
    return merged;
  }
}

/** An example or a default that has the properties to be shown, as far as the schema knows them: another one would not help. */
function givenValue(node: SchemaNode, including: readonly string[]): JsonValue | undefined {
  const { examples = [], defaultValue } = node.notes;
  const candidates = defaultValue === undefined ? examples : [...examples, defaultValue.value];
  const { shape } = node;
  const shown = shape.kind === 'object' ? including.filter((name) => shape.properties.has(name)) : including;
  return candidates.find((value) => {
    const isOfUse = shown.every((name) => isJsonObject(value) && Object.hasOwn(value, name));
    return isOfUse && conforms(node, value);
  });
}

function mergedDefinition(shape: Extract<Shape, { kind: 'reference' }>, notes: Notes): SchemaNode {
  const { node } = shape.definition;
  return notes.examples === undefined && notes.defaultValue === undefined
    ? node
    : { shape: node.shape, notes: { ...node.notes, ...notes } };
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2025-01-31T12:00:00Z',
  date: '2025-01-31',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'user@example.com',
  'idn-email': 'user@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': '/path',
  'iri-reference': '/path',
  'uri-template': '/path/{id}',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  'json-pointer': '/key',
  'relative-json-pointer': '0/key',
  regex: '^.*$',
  json: '{}',
  byte: 'dGV4dA==',
};

function exampleText(notes: Notes): string {
  const { pattern, minLength = 0, maxLength = MAX_TEXT } = notes.constraints ?? {};
  const known =
    notes.format === undefined || !Object.hasOwn(BY_FORMAT, notes.format) ? undefined : BY_FORMAT[notes.format];
  if (known !== undefined && known.length >= minLength && known.length <= maxLength) return known;
  const matching = pattern === undefined ? undefined : examplePatternMatch(pattern, Math.min(minLength, MAX_TEXT));
  if (matching !== undefined) return matching;
  return 'text'.padEnd(Math.min(minLength, MAX_TEXT), 'x').slice(0, Math.max(maxLength, 0));
}

function exampleNumber(node: SchemaNode): number {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf = 1 } = node.notes.constraints ?? {};
  const low = minimum ?? exclusiveMinimum ?? 0;
  const high = maximum ?? exclusiveMaximum ?? low + 1;
  const steps = Math.ceil(low / multipleOf) * multipleOf;
  const candidates = [
    1,
    0,
    low,
    Math.ceil(low),
    steps,
    steps + multipleOf,
    low + 1,
    high,
    Math.floor(high),
    high - 1,
    (low + high) / 2,
  ];
  return candidates.find((candidate) => conforms(node, candidate)) ?? low;
}

/** Lists often require distinct items: the next enumerated value, or the same text with a number. */
function distinct(item: SchemaNode, value: JsonValue, index: number): JsonValue {
  if (index === 0) return value;
  if (item.shape.kind === 'literals') return item.shape.values[index % item.shape.values.length] ?? value;
  if (item.shape.kind !== 'string' || typeof value !== 'string')
    return typeof value === 'number' ? value + index : value;
  const isFree = item.notes.format === undefined && item.notes.constraints?.pattern === undefined;
  return isFree ? `${value}${index + 1}` : value;
}

function nullLast(options: readonly SchemaNode[]): readonly SchemaNode[] {
  const isNull = (option: SchemaNode) => option.shape.kind === 'null';
  return [...options.filter((option) => !isNull(option)), ...options.filter(isNull)];
}

/** A property called `__proto__` must become an own property. */
function setOwn(target: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
