import { unreadable } from './failure.js';
import { pythonCall } from './python-values.js';
import { readQuoted } from './quoted.js';

/**
 * Reads values in the notation of JSON and of Python, character by character: strings in either quotes, tuples, sets, None,
 * trailing commas, dates and decimals. Never evaluates anything. Time is linear in the length of the text, and depth is bounded.
 */
export class LiteralReader {
  readonly #text: string;
  #at: number;
  readonly #end: number;
  #depth = 0;

  constructor(text: string, from: number, to: number) {
    this.#text = text;
    this.#at = from;
    this.#end = to;
  }

  /** The one value, or the list of values if each starts on its own line. */
  readAll(): unknown {
    const first = this.#value();
    if (this.#skip()) return first;
    const values = [first];
    do {
      if (!this.#isAtLineStart()) throw this.#fail('something follows after the end of the value');
      values.push(this.#value());
    } while (!this.#skip());
    return values;
  }

  #value(): unknown {
    if (this.#skip()) throw this.#cut();
    const character = this.#text[this.#at] as string;
    switch (character) {
      case '{':
        return this.#inside(() => this.#braces());
      case '[':
        return this.#inside(() => this.#items(']'));
      case '(':
        return this.#inside(() => this.#parentheses());
      case '"':
      case "'":
        return this.#string();
      default:
        if (NUMBER_START.includes(character)) return this.#number();
        return this.#word();
    }
  }

  #inside<Value>(read: () => Value): Value {
    if (++this.#depth > MAX_DEPTH) throw this.#fail(`more than ${MAX_DEPTH} levels of nesting`);
    this.#at += 1;
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #items(close: string): unknown[] {
    const items: unknown[] = [];
    while (!this.#takes(close)) {
      items.push(this.#value());
      if (!this.#takes(',')) {
        this.#expect(close, `"," or "${close}" was expected`);
        break;
      }
    }
    return items;
  }

  /** In Python `(1)` is a number, and `(1,)` a tuple. */
  #parentheses(): unknown {
    const items: unknown[] = [];
    while (!this.#takes(')')) {
      items.push(this.#value());
      if (this.#takes(',')) continue;
      this.#expect(')', '"," or ")" was expected');
      return items.length === 1 ? items[0] : items;
    }
    return items;
  }

  /** A dictionary, or a set if its first item has no colon. */
  #braces(): unknown {
    const object: Record<string, unknown> = {};
    if (this.#takes('}')) return object;
    const start = this.#at;
    const first = this.#value();
    if (this.#takes(':')) setOwn(object, this.#keyOf(first, start), this.#value());
    else {
      if (this.#takes('}')) return [first];
      this.#expect(',', '":" was expected');
      return [first, ...this.#items('}')];
    }
    while (!this.#takes('}')) {
      this.#expect(',', '"," or "}" was expected');
      if (this.#takes('}')) break;
      const place = this.#at;
      const key = this.#keyOf(this.#value(), place);
      this.#expect(':', '":" was expected');
      setOwn(object, key, this.#value());
    }
    return object;
  }

  #keyOf(value: unknown, at: number): string {
    if (value !== null && typeof value === 'object') {
      this.#at = at;
      throw this.#fail('a key must be a string or a number');
    }
    return String(value);
  }

  #string(isRaw = false): string {
    const { value, end } = readQuoted(this.#text, this.#at, this.#end, isRaw);
    if (value === undefined) {
      this.#at = end;
      throw end >= this.#end ? this.#cut() : this.#fail('a line break inside a string');
    }
    this.#at = end;
    return value;
  }

  #number(): number {
    const start = this.#at;
    if ('+-'.includes(this.#text[start] as string) && /[a-z]/i.test(this.#text[start + 1] ?? '')) {
      this.#at += 1;
      const value = this.#word();
      if (typeof value === 'number') return this.#text[start] === '-' ? -value : value;
      this.#at = start;
      throw this.#fail('a value was expected');
    }
    const longest = Math.min(this.#end, start + MAX_NUMBER_CHARACTERS);
    while (this.#at < longest && NUMBER_PART.includes(this.#text[this.#at] as string)) this.#at += 1;
    const digits = this.#text.slice(start, this.#at);
    const value = Number(digits);
    if (digits.length < MAX_NUMBER_CHARACTERS && Number.isFinite(value)) return value;
    this.#at = start;
    throw this.#fail('this is not a number');
  }

  /** `true`, `None`, `b'...'`, `datetime.date(2026, 1, 5)`. */
  #word(): unknown {
    const start = this.#at;
    const longest = Math.min(this.#end, start + MAX_WORD_CHARACTERS);
    while (this.#at < longest && WORD_PART.test(this.#text[this.#at] as string)) this.#at += 1;
    const word = this.#text.slice(start, this.#at);
    if (CONSTANTS.has(word)) return CONSTANTS.get(word);
    const next = this.#text[this.#at];
    if ((next === "'" || next === '"') && STRING_PREFIX.test(word)) return this.#string(/r/i.test(word));
    if (next === '(' && word !== '') {
      const given = this.#inside(() => this.#given());
      const value = pythonCall(word, given.values, given.named);
      if (value !== undefined) return value;
    }
    this.#at = start;
    throw this.#fail(word === '' ? 'a value was expected' : `${word} is not a value`);
  }

  /** The arguments of a call. */
  #given(): { values: unknown[]; named: Map<string, unknown> } {
    const values: unknown[] = [];
    const named = new Map<string, unknown>();
    while (!this.#takes(')')) {
      const name = ARGUMENT_NAME.exec(this.#text.slice(this.#at, this.#at + MAX_WORD_CHARACTERS));
      if (name !== null) this.#at += name[0].length;
      const value = this.#value();
      if (name === null) values.push(value);
      else named.set(name[1] as string, value);
      if (!this.#takes(',')) {
        this.#expect(')', '"," or ")" was expected');
        break;
      }
    }
    return { values, named };
  }

  /** Skips spaces; returns true at the end. */
  #skip(): boolean {
    while (this.#at < this.#end && SPACES.includes(this.#text[this.#at] as string)) this.#at += 1;
    return this.#at >= this.#end;
  }

  #takes(character: string): boolean {
    this.#skip();
    if (this.#at >= this.#end || this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #expect(character: string, what: string): void {
    if (this.#takes(character)) return;
    throw this.#at >= this.#end ? this.#cut() : this.#fail(what);
  }

  #isAtLineStart(): boolean {
    let before = this.#at - 1;
    while (before >= 0 && SPACES.includes(this.#text[before] as string)) {
      if (this.#text[before] === '\n') return true;
      before -= 1;
    }
    return false;
  }

  #fail(what: string): Error {
    return unreadable(
      this.#text,
      this.#at,
      what,
      'Read it with string methods, or correct the text before you parse it.',
    );
  }

  #cut(): Error {
    const hint = 'The server has probably cut its answer: ask it for less at once, or for the next part.';
    return unreadable(this.#text, this.#end, 'the text ends inside a value', hint);
  }
}

/** Far below the limit of the engine's stack. */
const MAX_DEPTH = 200;
const MAX_WORD_CHARACTERS = 60;
const MAX_NUMBER_CHARACTERS = 400;
const SPACES = ' \t\r\n\ufeff';
const NUMBER_START = '0123456789+-.';
const NUMBER_PART = '0123456789+-.eE';
const WORD_PART = /[\w.]/;
const STRING_PREFIX = /^(?:[bru]|br|rb)$/i;
const ARGUMENT_NAME = /^\s{0,8}([a-z_]{1,30})=/;

const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...([
    ['true', true],
    ['True', true],
    ['false', false],
    ['False', false],
    ['null', null],
    ['None', null],
    ['undefined', null],
  ] as const),
  ...['NaN', 'nan'].map((name) => [name, Number.NaN] as const),
  ...['Infinity', 'inf'].map((name) => [name, Number.POSITIVE_INFINITY] as const),
  ['datetime.timezone.utc', 'UTC'],
]);

/** Works for the key `__proto__` too. */
function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
  else object[key] = value;
}
