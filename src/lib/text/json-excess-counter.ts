import { TOO_MANY_KEYS, TOO_MANY_VALUES } from './json-excess.js';
import { MAX_DIFFERENT_KEYS } from './json-keys.js';
import { MAX_VALUES } from './json-values.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const SPACE = 0x20;
/** Longer strings count as the same key if they begin alike: a message of the longest size has too few of them to matter. */
const MAX_KEPT = 256;

/** Counts values and different keys of a JSON text that arrives in pieces, before its end is there: see `excessOf`. */
export class JsonExcessCounter {
  readonly #mostKeys: number;
  readonly #mostValues: number;
  #values = 0;
  readonly #keys = new Set<string>();
  /** What the pieces before this one held of the string that is being read. `undefined` outside of strings. */
  #begun: string | undefined;
  /** The string that ended last, while only spaces have followed it. */
  #ended: string | undefined;
  #isEscaped = false;

  constructor(mostKeys: number = MAX_DIFFERENT_KEYS, mostValues: number = MAX_VALUES) {
    this.#mostKeys = mostKeys;
    this.#mostValues = mostValues;
  }

  /** What the text has too much of, so far. */
  get excess(): string | undefined {
    if (this.#values > this.#mostValues) return TOO_MANY_VALUES;
    return this.#keys.size > this.#mostKeys ? TOO_MANY_KEYS : undefined;
  }

  add(piece: Uint8Array): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let at = 0;
    while (at < bytes.length && this.excess === undefined) {
      at = this.#begun === undefined ? this.#betweenStrings(bytes, at) : this.#inString(bytes, at, this.#begun);
    }
  }

  /** The next byte belongs to another text. */
  restart(): void {
    this.#keys.clear();
    this.#values = 0;
    this.#begun = undefined;
    this.#ended = undefined;
    this.#isEscaped = false;
  }

  #betweenStrings(bytes: Buffer, from: number): number {
    let at = from;
    if (this.#ended !== undefined) {
      while (at < bytes.length && (bytes[at] as number) <= SPACE) at++;
      if (at === bytes.length) return at;
      if (bytes[at] === COLON) this.#keys.add(this.#ended);
      this.#ended = undefined;
    }
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === COMMA || byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#values++;
      else if (byte === QUOTE) {
        this.#begun = '';
        return at + 1;
      }
    }
    return at;
  }

  #inString(bytes: Buffer, from: number, begun: string): number {
    let at = from;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) break;
    }
    const read = begun + bytes.toString('latin1', from, Math.min(at, from + MAX_KEPT - begun.length));
    if (at === bytes.length) {
      this.#begun = read;
      return at;
    }
    this.#begun = undefined;
    this.#ended = read;
    return at + 1;
  }
}
