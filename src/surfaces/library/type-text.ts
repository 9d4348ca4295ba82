import type { JsonObject } from '../../domain/json.js';

/** The longest and deepest type that is read. Any other is `unknown`. */
const MAX_CHARACTERS = 2_000;
const MAX_DEPTH = 20;

/** Names of TypeScript, as JSON Schema. A type whose values JSON cannot hold says nothing about a tool's data. */
const KNOWN: Readonly<Record<string, JsonObject>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
  object: { type: 'object' },
  true: { const: true },
  false: { const: false },
  ...Object.fromEntries(
    ['any', 'unknown', 'void', 'undefined', 'never', 'bigint', 'symbol', 'Function', 'Date', 'RegExp', 'Error'].map(
      (name) => [name, {}],
    ),
  ),
};
const LISTS = ['Array', 'ReadonlyArray'];

/** The JSON Schema of a type that a person wrote, and the names in it that TypeScript does not define. */
export class TypeReader {
  readonly #named: JsonObject = {};

  /** Never throws. A text that is not such a type, or is more than data, means `unknown`: nothing of it is ever written out. */
  read(text: string): JsonObject {
    const named: JsonObject = {};
    try {
      const schema = new Parser(text, named).whole();
      Object.assign(this.#named, named);
      return schema;
    } catch (error) {
      if (error instanceof NoType) return {};
      throw error;
    }
  }

  definitions(): JsonObject {
    return Object.keys(this.#named).length === 0 ? {} : { $defs: this.#named };
  }
}

class NoType extends Error {}

class Parser {
  readonly #tokens: readonly string[];
  readonly #named: JsonObject;
  #at = 0;

  constructor(text: string, named: JsonObject) {
    if (text.length > MAX_CHARACTERS) throw new NoType();
    this.#tokens = text.match(/[A-Za-z_$][\w$]*|'[^'\\]*'|"[^"\\]*"|-?\d+(?:\.\d+)?|\S/g) ?? [];
    this.#named = named;
  }

  whole(): JsonObject {
    const type = this.#union(0);
    if (this.#at < this.#tokens.length) throw new NoType();
    return type;
  }

  #union(depth: number): JsonObject {
    if (depth > MAX_DEPTH) throw new NoType();
    this.#takes('|');
    const options = [this.#list(depth)];
    while (this.#takes('|')) options.push(this.#list(depth));
    // In a union with `undefined` the others are what JSON can hold.
    const said = options.filter((option) => option !== KNOWN['undefined']);
    return said.length > 1 ? { anyOf: said } : (said[0] ?? {});
  }

  #list(depth: number): JsonObject {
    if (this.#tokens[this.#at] === 'readonly') this.#at++;
    let type = this.#single(depth);
    while (this.#takes('[')) {
      this.#expect(']');
      type = { type: 'array', items: type };
    }
    return type;
  }

  #single(depth: number): JsonObject {
    const token = this.#tokens[this.#at++] ?? '';
    if (token === '(') return this.#closed(')', this.#union(depth + 1));
    if (token === '[') return tupleOf(this.#several(']', depth));
    if (token === '{') return this.#members(depth);
    if (/^['"]./.test(token)) return { const: token.slice(1, -1) };
    if (/^-?\d/.test(token)) return { const: Number(token) };
    if (!/^[A-Za-z_$]/.test(token)) throw new NoType();
    return this.#takes('<') ? this.#generic(token, this.#several('>', depth)) : this.#name(token);
  }

  #name(name: string): JsonObject {
    if (Object.hasOwn(KNOWN, name)) return KNOWN[name] as JsonObject;
    if (name.length > 60) throw new NoType();
    this.#named[name] = { type: 'object' };
    return { $ref: `#/$defs/${name}` };
  }

  #generic(name: string, types: readonly JsonObject[]): JsonObject {
    const [first = {}, second = {}] = types;
    if (LISTS.includes(name) && types.length === 1) return { type: 'array', items: first };
    // What a call returns is a promise anyway.
    if (name === 'Promise' && types.length === 1) return first;
    if (name === 'Record' && types.length === 2) return { type: 'object', additionalProperties: second };
    throw new NoType();
  }

  #several(end: string, depth: number): JsonObject[] {
    const types: JsonObject[] = [];
    while (!this.#takes(end)) {
      types.push(this.#union(depth + 1));
      if (this.#tokens[this.#at] !== end) this.#expect(',');
    }
    return types;
  }

  #members(depth: number): JsonObject {
    const properties = new Map<string, JsonObject>();
    const required: string[] = [];
    while (!this.#takes('}')) {
      const token = this.#tokens[this.#at++] ?? '';
      const name = /^['"]./.test(token) ? token.slice(1, -1) : token;
      if (!/^[A-Za-z_$][\w$]*$/.test(name)) throw new NoType();
      if (!this.#takes('?')) required.push(name);
      this.#expect(':');
      properties.set(name, this.#union(depth + 1));
      if (!this.#takes(';') && !this.#takes(',') && this.#tokens[this.#at] !== '}') throw new NoType();
    }
    return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
  }

  #closed(end: string, type: JsonObject): JsonObject {
    this.#expect(end);
    return type;
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#takes(token)) throw new NoType();
  }
}

function tupleOf(types: readonly JsonObject[]): JsonObject {
  return { type: 'array', prefixItems: [...types], items: false, minItems: types.length };
}
