const NEWLINE = 0x0a;

export interface LineLimits {
  /** A longer line ends the stream, which cannot be read any further. */
  readonly maxBytes: number;
  /** A line longer than this limit, which changes over time, is skipped. */
  readonly maxBytesNow: () => number;
}

/**
 * Splits a byte stream into lines. A line of any length is scanned and copied once. The client library's own buffer copies and
 * rescans everything on each chunk, so a message of 30 MB takes 9 s instead of 0.1 s.
 */
export class LineSplitter {
  readonly #limits: LineLimits;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The rest of this line is skipped. */
  #isLeftOut = false;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  /** The lines that this chunk completes. Undefined for a line that exceeds `maxBytesNow`. Throws for a line beyond `maxBytes`. */
  push(chunk: Buffer): (string | undefined)[] {
    const lines: (string | undefined)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return lines;
  }

  #keep(part: Buffer): void {
    const { maxBytes, maxBytesNow } = this.#limits;
    this.#bytes += part.length;
    if (this.#bytes > maxBytes) {
      this.#parts = [];
      throw new RangeError(`a message is longer than ${maxBytes} bytes`);
    }
    if (this.#bytes > maxBytesNow()) this.#isLeftOut = true;
    if (this.#isLeftOut) this.#parts = [];
    else this.#parts.push(part);
  }

  #take(): string | undefined {
    const [only, ...more] = this.#parts;
    const line =
      only === undefined ? '' : (more.length === 0 ? only : Buffer.concat(this.#parts, this.#bytes)).toString('utf8');
    const isLeftOut = this.#isLeftOut;
    this.#parts = [];
    this.#bytes = 0;
    this.#isLeftOut = false;
    if (isLeftOut) return undefined;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
