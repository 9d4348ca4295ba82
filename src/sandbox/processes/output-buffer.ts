import { StringDecoder } from 'node:string_decoder';
import type { KeptOutput } from '../../domain/process-program.js';

/**
 * More than the limit is counted and discarded, up to here beyond it: reading costs the host time, and a program that
 * prints this much is not printing for anybody.
 */
export const FLOOD_BYTES = 64 * 1024 * 1024;

/** The beginning of what a program prints, and how much it was. */
export class OutputBuffer {
  readonly #decoder = new StringDecoder('utf8');
  readonly #maxBytes: number;
  #text = '';
  #keptBytes = 0;
  #totalBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Half a character waits for its other half. */
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

  /** All that is kept. A character that the limit cuts through is left out. */
  get output(): KeptOutput {
    return { text: this.#text, isCut: this.#totalBytes > this.#keptBytes, totalBytes: this.#totalBytes };
  }
}
