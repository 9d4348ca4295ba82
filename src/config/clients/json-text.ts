import type { JsonValue } from '../../domain/json.js';

/** A value in a JSON text, and its position. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly value: JsonValue;
  /** Only for an object. */
  readonly members?: readonly JsonMember[];
}

export interface JsonMember {
  readonly name: string;
  /** From the quote of the name to the end of the value. */
  readonly start: number;
  readonly end: number;
  readonly node: JsonNode;
  /** The position of the comma after it, if there is one. */
  readonly comma?: number;
}

/** The text is not JSON, and why. */
export class JsonTextError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(text: string, offset: number, problem: string) {
    super(problem);
    const before = text.slice(0, offset).split('\n');
    this.line = before.length;
    this.column = (before.at(-1)?.length ?? 0) + 1;
  }
}

/** No client nests its settings deeper. A deeper file is an attack on our stack. */
const MAX_DEPTH = 200;

/** Reads JSON as editors write it: with comments and trailing commas. Throws `JsonTextError` for anything else. */
export function parseJsonText(text: string): JsonNode {
  const reader = new Reader(text);
  const node = reader.value(0);
  reader.skip();
  if (!reader.isAtEnd) reader.fail('expected the end of the file');
  return node;
}

const SPACE = /(?:[\s\ufeff]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const LITERAL = /(?:true|false|null)\b/y;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  skip(): void {
    this.#match(SPACE);
  }

  fail(problem: string): never {
    throw new JsonTextError(this.#text, this.#at, problem);
  }

  value(depth: number): JsonNode {
    if (depth > MAX_DEPTH) this.fail(`nested more than ${MAX_DEPTH} levels deep`);
    this.skip();
    if (this.#is('{')) return this.#object(depth);
    if (this.#is('[')) return this.#array(depth);
    const start = this.#at;
    const scalar = this.#string() ?? this.#match(NUMBER) ?? this.#match(LITERAL);
    if (scalar === undefined || scalar === '') this.fail('expected a value');
    return { start, end: this.#at, value: JSON.parse(scalar) as JsonValue };
  }

  #object(depth: number): JsonNode {
    const start = this.#at++;
    const members: JsonMember[] = [];
    for (;;) {
      this.skip();
      if (this.#is('}')) break;
      if (members.length > 0 && members.at(-1)?.comma === undefined) this.fail('expected a comma or }');
      members.push(this.#member(depth));
    }
    this.#at++;
    const value = Object.fromEntries(members.map(({ name, node }) => [name, node.value]));
    return { start, end: this.#at, value, members };
  }

  #member(depth: number): JsonMember {
    const start = this.#at;
    const name = this.#string();
    if (name === undefined) this.fail('expected a name in double quotes or }');
    this.skip();
    if (!this.#is(':')) this.fail('expected a colon');
    this.#at++;
    const node = this.value(depth + 1);
    this.skip();
    const found = { name: JSON.parse(name) as string, start, end: node.end, node };
    return this.#is(',') ? { ...found, comma: this.#at++ } : found;
  }

  #array(depth: number): JsonNode {
    const start = this.#at++;
    const items: JsonValue[] = [];
    let needsComma = false;
    for (;;) {
      this.skip();
      if (this.#is(']')) break;
      if (needsComma) this.fail('expected a comma or ]');
      items.push(this.value(depth + 1).value);
      this.skip();
      needsComma = !this.#is(',');
      if (!needsComma) this.#at++;
    }
    this.#at++;
    return { start, end: this.#at, value: items };
  }

  /** A loop and not a pattern: clients keep whole conversations in strings, too long for a pattern with alternatives. */
  #string(): string | undefined {
    if (!this.#is('"')) return undefined;
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === '\\' ? 2 : 1;
    const source = this.#text.slice(this.#at, end + 1);
    try {
      JSON.parse(source);
    } catch {
      this.fail('this string does not end on its line, or has a character that must be escaped');
    }
    this.#at = end + 1;
    return source;
  }

  #is(character: string): boolean {
    return this.#text[this.#at] === character;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}
