import type { JsonObject, JsonValue } from '../../src/domain/json.js';

/**
 * Random values for a schema, the same for the same seed. It works from the schema as it stands, not from our reading
 * of it, so that a mistake of the reader is not repeated here. Not every value is valid: validate before use.
 */
export function* schemaValues(schema: JsonObject, seed: number, count: number): Generator<JsonValue> {
  const maker = new ValueMaker(schema, seed);
  for (let index = 0; index < count; index += 1) yield maker.make(schema, 0);
}

/** Copies of a value with one thing in it made wrong: another type, a missing key, a key or value nobody knows. */
export function* spoiledValues(value: JsonValue, seed: number, count: number): Generator<JsonValue> {
  const random = randomNumbers(seed);
  const places = [...placesOf(value)];
  for (let index = 0; index < count && places.length > 0; index += 1) {
    const place = places[Math.floor(random() * places.length)] ?? [];
    yield spoil(value, place, random);
  }
}

class ValueMaker {
  readonly #root: JsonObject;
  readonly #random: () => number;

  constructor(root: JsonObject, seed: number) {
    this.#root = root;
    this.#random = randomNumbers(seed);
  }

  make(schema: JsonValue | undefined, depth: number): JsonValue {
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return this.#anything();
    if (typeof schema.$ref === 'string') return this.make(this.#resolve(schema.$ref), depth + 1);
    if (schema.const !== undefined) return schema.const;
    if (Array.isArray(schema.enum)) return this.#pick(schema.enum) ?? null;
    const options = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(options)) {
      const option = this.make(this.#pick(options), depth + 1);
      return isObject(option) && schema.properties !== undefined
        ? { ...this.#object(schema, depth), ...option }
        : option;
    }
    if (Array.isArray(schema.allOf)) {
      const parts = schema.allOf.map((part) => this.make(part, depth + 1));
      return parts.every(isObject) ? Object.assign({}, ...parts) : (parts[0] ?? null);
    }
    const type = Array.isArray(schema.type)
      ? this.#pick(schema.type)
      : (schema.type ?? (schema.properties || schema.required ? 'object' : undefined));
    switch (type) {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      case 'string':
        return this.#text(schema);
      case 'integer':
      case 'number':
        return this.#number(schema, type);
      case 'boolean':
        return this.#random() < 0.5;
      case 'null':
        return null;
      default:
        return this.#anything();
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const required = new Set(Array.isArray(schema.required) ? schema.required : []);
    const value: JsonObject = {};
    const chance = depth > 5 ? 0 : 0.5 / (depth + 1);
    for (const [name, property] of Object.entries((schema.properties ?? {}) as JsonObject)) {
      if (required.has(name) || this.#random() < chance) value[name] = this.make(property, depth + 1);
    }
    const other = schema.additionalProperties;
    if (other !== undefined && other !== false && this.#random() < 0.3)
      value[`other${depth}`] = this.make(other, depth + 1);
    return value;
  }

  #array(schema: JsonObject, depth: number): JsonValue[] {
    const tuple = schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : undefined);
    if (Array.isArray(tuple)) {
      const rest = tuple === schema.prefixItems ? schema.items : schema.additionalItems;
      const isLonger = typeof rest === 'object' && this.#random() < 0.5;
      return [...tuple, ...(isLonger ? [rest] : [])].map((item) => this.make(item, depth + 1));
    }
    const least = typeof schema.minItems === 'number' ? schema.minItems : 0;
    const count = least + (depth > 5 ? 0 : Math.floor(this.#random() * 3));
    return Array.from({ length: count }, () => this.make(schema.items, depth + 1));
  }

  #text(schema: JsonObject): string {
    const formats: Record<string, string> = {
      'date-time': '2024-05-06T07:08:09Z',
      date: '2024-05-06',
      uuid: '0b7d9a8e-3f0c-4f63-9a31-3d5b0d7cbb11',
      uri: 'https://example.org/a',
      email: 'someone@example.org',
    };
    if (typeof schema.format === 'string' && formats[schema.format] !== undefined)
      return formats[schema.format] as string;
    const length = Math.max(
      typeof schema.minLength === 'number' ? schema.minLength : 0,
      Math.floor(this.#random() * 6),
    );
    return 'abcdef'.repeat(1 + Math.floor(length / 6)).slice(0, length);
  }

  #number(schema: JsonObject, type: string): number {
    const low = typeof schema.minimum === 'number' ? schema.minimum : 1;
    const high = typeof schema.maximum === 'number' ? schema.maximum : low + 50;
    const value = low + this.#random() * (high - low);
    return type === 'integer' ? Math.ceil(value) : value;
  }

  #anything(): JsonValue {
    return this.#pick(['text', 1, true, null, ['a'], { key: 'value' }]) ?? null;
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)];
  }

  #resolve(reference: string): JsonValue | undefined {
    const tokens = decodeURIComponent(reference.slice(1)).split('/').slice(1);
    return tokens.reduce<JsonValue | undefined>((at, token) => {
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
      return typeof at === 'object' && at !== null ? (at as JsonObject)[name] : undefined;
    }, this.#root);
  }
}

function* placesOf(value: JsonValue, path: readonly string[] = []): Generator<readonly string[]> {
  if (path.length > 0) yield path;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) yield* placesOf(child, [...path, key]);
}

function spoil(value: JsonValue, path: readonly string[], random: () => number): JsonValue {
  const copy = structuredClone(value);
  let holder: JsonValue = copy;
  for (const key of path.slice(0, -1)) holder = (holder as JsonObject)[key] as JsonValue;
  const key = path.at(-1) as string;
  const target = holder as JsonObject;
  const current = target[key];
  if (!Array.isArray(holder) && random() < 0.25) delete target[key];
  else if (typeof current === 'string') target[key] = random() < 0.5 ? 12 : `${current}~`;
  // Not a number where null stood: types can't tell 0.5 from an integer.
  else target[key] = typeof current === 'number' ? 'twelve' : current === null ? [false] : 0.5;
  return copy;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Mulberry32: small, seeded, good enough. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
