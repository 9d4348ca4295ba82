import { JsonExcessCounter } from '../../../lib/text/json-excess-counter.js';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const DATA_FIELD = Buffer.from('data:');
const LINE_BREAK = Buffer.from('\n');
/** `event`, `id`, `retry` and a comment. */
const USUAL_OTHER_LINES = 4;

/**
 * Counts values and keys of the messages in an event stream. The text of a message is what its `data:` lines have, joined. A quote in
 * a comment or in another field is not part of it, and a key may be in another line than its colon.
 */
export class EventDataCounter {
  readonly #counter: JsonExcessCounter;
  #excess: string | undefined;
  #otherLines = 0;
  #otherLinesOfEvent = 0;
  /** How much of `data:` the line has so far. */
  #matched = 0;
  #line: 'begins' | 'is data' | 'is skipped' = 'begins';
  /** The one space after the colon does not belong to the data. */
  #isAfterColon = false;
  #isAfterReturn = false;

  constructor(counter: JsonExcessCounter = new JsonExcessCounter()) {
    this.#counter = counter;
  }

  /** What a message has too much of, so far. */
  get excess(): string | undefined {
    return this.#excess;
  }

  /** Lines without data, beyond the few that an event has, since the last time this was read. */
  takeOtherLines(): number {
    const lines = this.#otherLines;
    this.#otherLines = 0;
    return lines;
  }

  add(piece: Uint8Array): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let nextReturn = positionOf(bytes, RETURN, 0);
    for (let at = 0; at < bytes.length && this.#excess === undefined; ) {
      const byte = bytes[at];
      if (byte === NEWLINE && this.#isAfterReturn) {
        this.#isAfterReturn = false;
        at++;
      } else if (byte === NEWLINE || byte === RETURN) {
        this.#isAfterReturn = byte === RETURN;
        this.#endLine();
        at++;
      } else if (this.#line === 'begins') {
        this.#isAfterReturn = false;
        this.#matchField(byte);
        at++;
      } else {
        if (nextReturn < at) nextReturn = positionOf(bytes, RETURN, at);
        const end = Math.min(nextReturn, positionOf(bytes, NEWLINE, at));
        if (this.#line === 'is data') this.#count(bytes.subarray(at, end));
        at = end;
      }
    }
  }

  #matchField(byte: number | undefined): void {
    if (byte !== DATA_FIELD[this.#matched]) {
      this.#line = 'is skipped';
      return;
    }
    this.#matched++;
    if (this.#matched < DATA_FIELD.length) return;
    this.#line = 'is data';
    this.#isAfterColon = true;
  }

  #count(data: Buffer): void {
    this.#counter.add(this.#isAfterColon && data[0] === SPACE ? data.subarray(1) : data);
    this.#isAfterColon = false;
    this.#excess = this.#counter.excess;
  }

  #endLine(): void {
    const isBlank = this.#line === 'begins' && this.#matched === 0;
    if (isBlank) {
      this.#counter.restart();
      this.#otherLinesOfEvent = 0;
    } else if (this.#line === 'is data') this.#counter.add(LINE_BREAK);
    else if (++this.#otherLinesOfEvent > USUAL_OTHER_LINES) this.#otherLines++;
    this.#line = 'begins';
    this.#matched = 0;
    this.#isAfterColon = false;
  }
}

/** The end if it is not there. */
function positionOf(bytes: Buffer, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at === -1 ? bytes.length : at;
}
