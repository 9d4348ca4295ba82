import { StringDecoder } from 'node:string_decoder';
import type { KeptOutput } from '../../domain/process-program.js';

/**
 * Output beyond the limit is counted and discarded, up to this much. Reading costs the host time, and nobody reads this much
 * output.
 */
export const FLOOD_BYTES = 64 * 1024 * 1024;

/** The beginning of a program's output, and its total size. */
export class OutputBuffer {
  readonly #decoder = new StringDecoder('utf8');
  readonly #maxBytes: number;
  #text = '';
  #keptBytes = 0;
  #totalBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** An incomplete character waits for its remaining bytes. */
  push(chunk: Buffer): void {
    this.#totalBytes += chunk.length;
    const room = this.#maxBytes - this.#keptBytes;
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    this.#keptBytes += kept.length;
    this.#text += this.#decoder.write(kept);
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  get isFlood(): boolean {
    return this.#totalBytes > this.#maxBytes + FLOOD_BYTES;
  }

  /** All kept output. A character that the limit cuts through is omitted. */
  get output(): KeptOutput {
    return { text: this.#text, isCut: this.#totalBytes > this.#keptBytes, totalBytes: this.#totalBytes };
  }
}
