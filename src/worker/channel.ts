import { readSync, writeSync } from 'node:fs';
import { encodeFrame, MAX_FRAME_BYTES, readPrefix } from '../wire/frames.js';
import type { HostToWorker, WorkerToHost } from '../wire/messages.js';

/** Carries frames to the host. Not stdout: a program's output can never be read as a frame. */
const OUTGOING_DESCRIPTOR = 3;
/**
 * Carries frames from the host. It is a separate descriptor: the kernel also wakes a reader that waits on a socket when the peer
 * reads from it, so this worker would wake up once more for each message that it sends.
 */
const INCOMING_DESCRIPTOR = 0;
const PREFIX_BYTES = 8;
const READ_BYTES = 256 * 1024;
/** Buffered frames are written at this size at the latest, so that a program's output does not pile up in the worker. */
const FLUSH_BYTES = 1024 * 1024;

const NOTHING = Buffer.alloc(0);

export interface Received {
  readonly message: HostToWorker;
  readonly body: Buffer;
}

/**
 * The worker's end of the channel: blocking reads and buffered writes on one thread. A worker has nothing else to do while it
 * waits, and synchronous calls require blocking.
 */
export class Channel {
  #buffer = Buffer.allocUnsafe(READ_BYTES);
  #start = 0;
  #end = 0;
  #outgoing: Buffer[] = [];
  #outgoingBytes = 0;

  /** The next message, or undefined when the host has gone. All buffered frames are written before waiting. */
  receive(): Received | undefined {
    if (!this.hasMore()) this.flush();
    if (!this.#fill(PREFIX_BYTES)) return undefined;
    const { frameBytes, headBytes } = readPrefix(
      this.#buffer.subarray(this.#start, this.#start + PREFIX_BYTES),
      MAX_FRAME_BYTES,
    );
    if (!this.#fill(4 + frameBytes)) return undefined;
    const headAt = this.#start + PREFIX_BYTES;
    const message = JSON.parse(this.#buffer.toString('utf8', headAt, headAt + headBytes)) as HostToWorker;
    const body = Buffer.from(this.#buffer.subarray(headAt + headBytes, this.#start + 4 + frameBytes));
    this.#start += 4 + frameBytes;
    if (this.#start === this.#end) {
      this.#start = 0;
      this.#end = 0;
      // One large result must not keep its buffer forever.
      if (this.#buffer.length > 4 * READ_BYTES) this.#buffer = Buffer.allocUnsafe(READ_BYTES);
    }
    return { message, body };
  }

  /** Whether a message has arrived, at least in part. */
  hasMore(): boolean {
    return this.#end > this.#start;
  }

  /** Whether the host is gone. It neither waits nor reads: the kernel refuses even an empty write to a closed channel. */
  isClosed(): boolean {
    try {
      writeSync(OUTGOING_DESCRIPTOR, NOTHING);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EPIPE';
    }
  }

  send(message: WorkerToHost, body?: Uint8Array): void {
    for (const part of encodeFrame(message, body)) {
      this.#outgoing.push(part);
      this.#outgoingBytes += part.length;
    }
    if (this.#outgoingBytes > FLUSH_BYTES) this.flush();
  }

  flush(): void {
    if (this.#outgoingBytes === 0) return;
    const bytes = this.#outgoing.length === 1 ? (this.#outgoing[0] as Buffer) : Buffer.concat(this.#outgoing);
    this.#outgoing = [];
    this.#outgoingBytes = 0;
    for (let written = 0; written < bytes.length; ) written += writeSync(OUTGOING_DESCRIPTOR, bytes, written);
  }

  #fill(count: number): boolean {
    if (this.#end - this.#start >= count) return true;
    if (this.#buffer.length - this.#start < count) {
      const larger = Buffer.allocUnsafe(Math.max(count, READ_BYTES));
      this.#buffer.copy(larger, 0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
      this.#buffer = larger;
    }
    while (this.#end - this.#start < count) {
      const read = readSync(INCOMING_DESCRIPTOR, this.#buffer, this.#end, this.#buffer.length - this.#end, null);
      if (read === 0) return false;
      this.#end += read;
    }
    return true;
  }
}
