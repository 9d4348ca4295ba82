import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { readKeywords } from '../../domain/json-schema/keywords.js';
import type { Pointers } from './pointer.js';

/** Limits of one definition. */
const MAX_NODES = 4_000;
const MAX_DEPTH = 40;
const MAX_TEXT_CHARACTERS = 2_000;

/** An input leaves out read-only properties, an output leaves out write-only ones. */
export type Direction = 'input' | 'output';

interface Definition {
  readonly name: string;
  readonly schema: JsonValue;
  readonly references: ReadonlySet<string>;
  readonly characters: number;
}

/**
 * Schemas of a document as standalone JSON Schemas. References within the document become `$defs`, each read once and shared by all
 * tools. Keywords that JSON Schema does not have are left out, and those of OpenAPI 3.0 are converted to 2020-12.
 */
export class SchemaRegistry {
  readonly #pointers: Pointers;
  readonly #definitions = { input: new Map<string, Definition>(), output: new Map<string, Definition>() };
  readonly #names = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #maxCharacters: number;
  readonly #warn: (warning: string) => void;

  /** @param maxCharacters of one schema with everything it refers to; whatever exceeds it is declared as anything */
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
    // The nearest first: a program meets them first.
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
    return new SchemaWriter(direction, (reference) => {
      if (this.#pointers.at(reference) === undefined) {
        this.#warn(`a schema refers to ${JSON.stringify(reference.slice(0, 100))}, which is not in the document`);
        return undefined;
      }
      references.add(reference);
      return `#/$defs/${this.#nameOf(reference)}`;
    }).write(schema, 0);
  }
}

export interface SchemaScope {
  read(schema: JsonValue | undefined): JsonValue;
  /** Adds the definitions of everything that was read in this scope. */
  complete(schema: JsonObject): JsonObject;
}

const CHILDREN = [
  ...(['items', 'additionalProperties', 'not', 'contains', 'propertyNames', 'if', 'then', 'else'] as const),
  ...(['unevaluatedProperties', 'unevaluatedItems'] as const),
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/** Writes one schema as JSON Schema 2020-12. Invalid parts, and parts beyond the limits, become schemas that accept anything. */
class SchemaWriter {
  readonly #skipped: 'readOnly' | 'writeOnly';
  readonly #nameOf: (reference: string) => string | undefined;
  #nodes = 0;

  constructor(direction: Direction, nameOf: (reference: string) => string | undefined) {
    this.#skipped = direction === 'input' ? 'readOnly' : 'writeOnly';
    this.#nameOf = nameOf;
  }

  write(schema: JsonValue | undefined, depth: number): JsonValue {
    if (typeof schema === 'boolean') return schema;
    if (!isJsonObject(schema) || depth > MAX_DEPTH || ++this.#nodes > MAX_NODES) return {};
    const keywords = readKeywords(schema);
    const written = new Map<string, JsonValue>();
    const put = (key: string, value: JsonValue | undefined) => value === undefined || written.set(key, value);
    const child = (value: JsonValue) => this.write(value, depth + 1);

    const [reference] = keywords.references ?? [];
    if (reference !== undefined) put('$ref', this.#nameOf(reference));
    put('type', knownTypes(keywords.types));
    for (const key of ['title', 'description', 'format'] as const) put(key, shortened(keywords[key]));
    put('enum', this.#value(keywords.enumeration as JsonValue[] | undefined, depth + 1));
    for (const [key, value] of [
      ['const', keywords.constant],
      ['default', keywords.default],
    ] as const)
      put(key, this.#value(value, depth + 1));
    for (const [key, value] of Object.entries(keywords.constraints ?? {})) put(key, shortened(value));
    if (keywords.isDeprecated) put('deprecated', true);
    for (const key of ['minContains', 'maxContains'] as const) put(key, keywords[key]);
    for (const key of CHILDREN) if (keywords[key] !== undefined) put(key, child(keywords[key]));
    for (const key of LISTS) put(key, keywords[key]?.map(child));
    put('patternProperties', this.#map(keywords.patternProperties, child));
    if (keywords.dependentSchemas !== undefined)
      put('dependentSchemas', this.#map(Object.fromEntries(keywords.dependentSchemas), child));
    if (keywords.dependentRequired !== undefined)
      put('dependentRequired', Object.fromEntries(keywords.dependentRequired.map(([key, names]) => [key, [...names]])));
    const properties = this.#map(keywords.properties, child);
    put('properties', properties);
    // Properties that are left out are not required either.
    const isKept = (name: string) =>
      Object.hasOwn(properties ?? {}, name) || !Object.hasOwn(keywords.properties ?? {}, name);
    const required = keywords.required?.filter(isKept) ?? [];
    if (required.length > 0) put('required', required);
    return keywords.isNullable ? nullable(written) : Object.fromEntries(written);
  }

  #map(map: JsonObject | undefined, child: (schema: JsonValue) => JsonValue): JsonObject | undefined {
    if (map === undefined) return undefined;
    const entries = Object.entries(map).filter(
      ([key, value]) => key !== '__proto__' && !(isJsonObject(value) && value[this.#skipped] === true),
    );
    return Object.fromEntries(entries.map(([key, value]) => [key, child(value)]));
  }

  /** Plain data, within the limits. */
  #value(value: JsonValue | undefined, depth: number): JsonValue | undefined {
    if (value === undefined || depth > MAX_DEPTH || ++this.#nodes > MAX_NODES) return undefined;
    if (typeof value === 'string') return shortened(value);
    if (Array.isArray(value)) return value.flatMap((each) => this.#value(each, depth + 1) ?? []);
    if (!isJsonObject(value)) return value;
    const entries = Object.entries(value).flatMap(([key, each]) => {
      const copied = key === '__proto__' ? undefined : this.#value(each, depth + 1);
      return copied === undefined ? [] : [[key, copied] as const];
    });
    return Object.fromEntries(entries);
  }
}

function knownTypes(types: readonly string[] = []): JsonValue | undefined {
  const known = types.filter((type) => TYPES.has(type));
  return known.length > 1 ? known : known[0];
}

function shortened<T extends JsonValue | undefined>(value: T): T | string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARACTERS) : value;
}

function nullable(schema: Map<string, JsonValue>): JsonObject {
  const type = schema.get('type');
  if (typeof type !== 'string') return { anyOf: [Object.fromEntries(schema), { type: 'null' }] };
  schema.set('type', [type, 'null']);
  const choices = schema.get('enum');
  if (Array.isArray(choices) && !choices.includes(null)) schema.set('enum', [...choices, null]);
  return Object.fromEntries(schema);
}
