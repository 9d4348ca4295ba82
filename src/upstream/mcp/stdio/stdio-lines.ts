const NEWLINE = 0x0a;

export interface LineLimits {
  /** A longer line ends the stream, which cannot be read further. */
  readonly maxBytes: number;
  /** A line that is longer than this, as it is now, is left out. */
  readonly maxBytesNow: () => number;
}

/**
 * Cuts a stream of bytes into lines. A line of any length is scanned and copied once: the client library's own
 * buffer copies and rescans everything on each chunk, which makes a message of 30 MB take 9 s in place of 0.1 s.
 */
export class LineSplitter {
  readonly #limits: LineLimits;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The rest of this line is passed over. */
  #isLeftOut = false;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  /** The lines that this chunk completes; undefined for one that was too long for now. Throws beyond the limit. */
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
