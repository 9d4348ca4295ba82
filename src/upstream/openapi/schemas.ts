import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Pointers } from './pointer.js';

/** Of one definition. */
const MAX_NODES = 4_000;
const MAX_DEPTH = 40;
const MAX_TEXT_CHARACTERS = 2_000;

/** What is sent has no properties that are only read, and the other way round. */
export type Direction = 'input' | 'output';

interface Definition {
  readonly name: string;
  readonly schema: JsonValue;
  readonly references: ReadonlySet<string>;
  readonly characters: number;
}

/**
 * Schemas of a document as JSON Schemas that stand alone: references within the document become `$defs`, each read once
 * and shared by all tools. Words that are not JSON Schema's are left out, those of 3.0 are brought to their form of today.
 */
export class SchemaRegistry {
  readonly #pointers: Pointers;
  readonly #definitions = { input: new Map<string, Definition>(), output: new Map<string, Definition>() };
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #maxCharacters: number;
  readonly #warn: (warning: string) => void;

  /** @param maxCharacters of one schema with everything it refers to; what does not fit is declared as anything */
  constructor(pointers: Pointers, maxCharacters: number, warn: (warning: string) => void) {
    this.#pointers = pointers;
    this.#maxCharacters = maxCharacters;
    this.#warn = warn;
  }

  /** Reads the schemas of one tool. */
  open(direction: Direction): SchemaScope {
    const references = new Set<string>();
    return {
      read: (schema) => this.#read(schema, direction, references),
      complete: (schema) => this.#complete(schema, direction, references),
    };
  }

  #complete(schema: JsonObject, direction: Direction, references: ReadonlySet<string>): JsonObject {
    if (references.size === 0) return schema;
    let characters = JSON.stringify(schema).length;
    const included = new Map<string, JsonValue>();
    const waiting = [...references];
    // The nearest first: they are what a program meets.
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const name = this.#nameOf(next);
      if (included.has(name)) continue;
      const definition = this.#definition(next, direction);
      if (characters + definition.characters > this.#maxCharacters) {
        included.set(name, {});
        continue;
      }
      characters += definition.characters;
      included.set(name, definition.schema);
      waiting.push(...definition.references);
    }
    return { ...schema, $defs: Object.fromEntries(included) };
  }

  #definition(reference: string, direction: Direction): Definition {
    const known = this.#definitions[direction].get(reference);
    if (known !== undefined) return known;
    const references = new Set<string>();
    const schema = this.#read(this.#pointers.at(reference), direction, references);
    const definition = { name: this.#nameOf(reference), schema, references, characters: JSON.stringify(schema).length };
    this.#definitions[direction].set(reference, definition);
    return definition;
  }

  /** `#/components/schemas/Pet` is `Pet`; names that are taken are numbered. */
  #nameOf(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const wanted = (reference.split('/').at(-1) ?? '').replace(/[^\w.-]+/g, '_').replace(/^_+$/, '') || 'schema';
    let name = wanted;
    for (let number = 2; this.#taken.has(name); number += 1) name = `${wanted}_${number}`;
    this.#taken.add(name);
    this.#names.set(reference, name);
    return name;
  }

  #read(schema: JsonValue | undefined, direction: Direction, references: Set<string>): JsonValue {
    return new Reader(direction, (reference) => {
      if (this.#pointers.at(reference) === undefined) {
        this.#warn(`a schema refers to ${JSON.stringify(reference.slice(0, 100))}, which is not in the document`);
        return undefined;
      }
      references.add(reference);
      return `#/$defs/${this.#nameOf(reference)}`;
    }).read(schema, 0);
  }
}

export interface SchemaScope {
  read(schema: JsonValue | undefined): JsonValue;
  /** Adds the definitions of everything that was read here. */
  complete(schema: JsonObject): JsonObject;
}

const SCHEMAS = [
  'items',
  'additionalProperties',
  'not',
  'contains',
  'propertyNames',
  'if',
  'then',
  'else',
  'unevaluatedProperties',
  'unevaluatedItems',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['patternProperties', 'dependentSchemas'];
const TEXTS = ['title', 'description', 'format', 'pattern', 'contentEncoding', 'contentMediaType'];
const VALUES = [
  ...['enum', 'const', 'default', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxLength', 'minLength', 'maxItems', 'minItems', 'uniqueItems', 'maxProperties', 'minProperties'],
  ...['deprecated', 'dependentRequired', 'minContains', 'maxContains'],
];
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/** Copies one schema, as far as it is one and as far as it goes. */
class Reader {
  readonly #skipped: 'readOnly' | 'writeOnly';
  readonly #nameOf: (reference: string) => string | undefined;
  #nodes = 0;

  constructor(direction: Direction, nameOf: (reference: string) => string | undefined) {
    this.#skipped = direction === 'input' ? 'readOnly' : 'writeOnly';
    this.#nameOf = nameOf;
  }

  read(schema: JsonValue | undefined, depth: number): JsonValue {
    if (typeof schema === 'boolean') return schema;
    if (!isJsonObject(schema) || depth > MAX_DEPTH || ++this.#nodes > MAX_NODES) return {};
    const from = (key: string): JsonValue | undefined => (Object.hasOwn(schema, key) ? schema[key] : undefined);
    const read = new Map<string, JsonValue>();
    const put = (key: string, value: JsonValue | undefined) => value === undefined || read.set(key, value);

    const reference = from('$ref');
    if (typeof reference === 'string') put('$ref', this.#nameOf(reference));
    put('type', typeOf(from('type')));
    for (const key of TEXTS) put(key, textOf(from(key)));
    for (const key of VALUES) put(key, this.#value(from(key), depth + 1));
    for (const key of SCHEMAS) if (from(key) !== undefined) put(key, this.read(from(key), depth + 1));
    for (const key of LISTS) {
      const list = from(key);
      if (Array.isArray(list) && list.length > 0)
        put(
          key,
          list.map((each) => this.read(each, depth + 1)),
        );
    }
    for (const key of MAPS) put(key, this.#map(from(key), depth));
    put('properties', this.#map(from('properties'), depth));
    const { required } = schema;
    const kept = isJsonObject(read.get('properties')) ? (read.get('properties') as JsonObject) : {};
    const declared = isJsonObject(schema.properties) ? schema.properties : {};
    if (Array.isArray(required)) {
      // What is left out of the properties here is not asked for either.
      const names = required.filter((name) => typeof name === 'string' && isKept(name, declared, kept));
      if (names.length > 0) put('required', names);
    }
    bringUpToDate(read);
    return from('nullable') === true ? nullable(read) : Object.fromEntries(read);
  }

  #map(map: JsonValue | undefined, depth: number): JsonObject | undefined {
    if (!isJsonObject(map)) return undefined;
    const entries = Object.entries(map).filter(
      ([key, value]) => key !== '__proto__' && !(isJsonObject(value) && value[this.#skipped] === true),
    );
    return Object.fromEntries(entries.map(([key, value]) => [key, this.read(value, depth + 1)]));
  }

  /** Plain data, as it is. */
  #value(value: JsonValue | undefined, depth: number): JsonValue | undefined {
    if (value === undefined || depth > MAX_DEPTH || ++this.#nodes > MAX_NODES) return undefined;
    if (typeof value === 'string') return value.slice(0, MAX_TEXT_CHARACTERS);
    if (Array.isArray(value)) return value.flatMap((each) => this.#value(each, depth + 1) ?? []);
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).flatMap(([key, each]) => {
      const copied = key === '__proto__' ? undefined : this.#value(each, depth + 1);
      return copied === undefined ? [] : [[key, copied] as const];
    });
    return Object.fromEntries(entries);
  }
}

function isKept(name: JsonValue, declared: JsonObject, kept: JsonObject): boolean {
  return Object.hasOwn(kept, name as string) || !Object.hasOwn(declared, name as string);
}

function typeOf(type: JsonValue | undefined): JsonValue | undefined {
  if (typeof type === 'string') return TYPES.has(type) ? type : undefined;
  if (!Array.isArray(type)) return undefined;
  const known = type.filter((each) => typeof each === 'string' && TYPES.has(each));
  return known.length > 0 ? known : undefined;
}

function textOf(text: JsonValue | undefined): string | undefined {
  return typeof text === 'string' ? text.slice(0, MAX_TEXT_CHARACTERS) : undefined;
}

/** `exclusiveMinimum: true` beside `minimum: 3`, unchanged in 3.0. */
function bringUpToDate(schema: Map<string, JsonValue>): void {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const flag = schema.get(exclusive);
    if (typeof flag !== 'boolean') continue;
    schema.delete(exclusive);
    const value = schema.get(bound);
    if (!flag || value === undefined) continue;
    schema.set(exclusive, value);
    schema.delete(bound);
  }
}

function nullable(schema: Map<string, JsonValue>): JsonObject {
  const type = schema.get('type');
  if (typeof type !== 'string') return { anyOf: [Object.fromEntries(schema), { type: 'null' }] };
  schema.set('type', [type, 'null']);
  const choices = schema.get('enum');
  if (Array.isArray(choices) && !choices.includes(null)) schema.set('enum', [...choices, null]);
  return Object.fromEntries(schema);
}
