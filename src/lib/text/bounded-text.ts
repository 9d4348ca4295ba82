import { safeSlice } from './safe-slice.js';
import { quoteVisibly, visibleSentence } from './visible-text.js';

/** Keeps the last `maxBytes` written to it: enough of a child's stderr to say why it died. */
export class TextTail {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  write(chunk: Buffer): void {
    const kept = chunk.length > this.#maxBytes ? chunk.subarray(chunk.length - this.#maxBytes) : chunk;
    // A copy: a subarray would keep the stream's whole buffer alive.
    this.#chunks.push(Buffer.from(kept));
    this.#bytes += kept.length;
    while (this.#bytes > this.#maxBytes) {
      const first = this.#chunks[0];
      if (first === undefined) return;
      const excess = this.#bytes - this.#maxBytes;
      if (first.length <= excess) {
        this.#chunks.shift();
        this.#bytes -= first.length;
      } else {
        this.#chunks[0] = first.subarray(excess);
        this.#bytes -= excess;
      }
    }
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8').trim();
  }
}

/** A list of distinct lines that stops growing and counts the lines it left out. */
export class BoundedLines {
  readonly #maxLines: number;
  readonly #lines = new Set<string>();
  #leftOut = 0;

  constructor(maxLines: number) {
    this.#maxLines = maxLines;
  }

  add(line: string): void {
    if (this.#lines.has(line)) return;
    if (this.#lines.size < this.#maxLines) this.#lines.add(line);
    else this.#leftOut += 1;
  }

  list(): string[] {
    const lines = [...this.#lines];
    return this.#leftOut === 0 ? lines : [...lines, `and ${this.#leftOut} more`];
  }
}

/** At most `maxCharacters` of an external text, on one line, with every character visible. */
export function oneLine(text: string, maxCharacters = 300): string {
  const line = visibleSentence(text.slice(0, maxCharacters * 4))
    .replace(/ {2,}/g, ' ')
    .trim();
  return line.length <= maxCharacters ? line : `${safeSlice(line, maxCharacters - 1)}…`;
}

/** The same for a name, in quotes. */
export function quotedLine(name: string, maxCharacters = 80): string {
  return quoteVisibly(name.length <= maxCharacters ? name : `${safeSlice(name, maxCharacters - 1)}…`);
}

/**
 * The same for a text whose first line says what happened and whose last lines say why, such as a crash with its log. The middle is
 * left out if the text is too long, in whole lines if possible.
 */
export function oneLineWithEnd(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return oneLine(text, maxCharacters);
  const [first = '', ...rest] = text.split('\n');
  const start = oneLine(first, Math.floor(maxCharacters / 2));
  const end = rest.length === 0 ? first : rest.join('\n');
  const tail = end.slice(-(maxCharacters - start.length - 3));
  const isCutInLine = tail.length < end.length && end[end.length - tail.length - 1] !== '\n';
  const wholeLines = isCutInLine && tail.includes('\n') ? tail.slice(tail.indexOf('\n') + 1) : tail;
  return `${start} … ${oneLine(wholeLines, maxCharacters)}`;
}
