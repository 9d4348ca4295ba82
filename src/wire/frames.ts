/**
 * The frame format between host and worker, in both directions:
 *
 *     u32 length of the rest | u32 length of the head | head: JSON | body: bytes
 *
 * All numbers are little-endian. The head is small and names the message. The body carries large data (source, arguments,
 * results, images) unchanged, so that a 10 MB result is never parsed in transit.
 */

/** A head contains names and counts, never a program's data. */
export const MAX_HEAD_BYTES = 256 * 1024;

/** The largest frame in either direction. Results and images stay below it, or are refused with an error. */
export const MAX_FRAME_BYTES = 512 * 1024 * 1024;

const PREFIX_BYTES = 8;

/** A body up to this size is copied behind its head: one buffer is cheaper to write than two. */
const MAX_JOINED_BODY_BYTES = 16 * 1024;

export interface Frame {
  readonly head: Buffer;
  readonly body: Buffer;
}

/** Thrown if the peer does not send this format. The next frame cannot be found, so the channel is closed. */
export class FrameError extends Error {}

/** A frame in one buffer, or in two if the body is large: then the body is not copied. */
export function encodeFrame(head: object, body?: Uint8Array): Buffer[] {
  const headText = JSON.stringify(head);
  const headBytes = Buffer.byteLength(headText);
  const bodyBytes = body?.byteLength ?? 0;
  if (headBytes > MAX_HEAD_BYTES) throw new FrameError(`a head of ${headBytes} bytes is too long to send`);
  if (4 + headBytes + bodyBytes > MAX_FRAME_BYTES)
    throw new FrameError(`a body of ${bodyBytes} bytes is too long to send`);
  const isJoined = bodyBytes <= MAX_JOINED_BODY_BYTES;
  const start = Buffer.allocUnsafe(PREFIX_BYTES + headBytes + (isJoined ? bodyBytes : 0));
  start.writeUInt32LE(4 + headBytes + bodyBytes, 0);
  start.writeUInt32LE(headBytes, 4);
  start.write(headText, PREFIX_BYTES, 'utf8');
  if (!isJoined) return [start, Buffer.from(body!.buffer, body!.byteOffset, bodyBytes)];
  if (bodyBytes > 0) start.set(body!, PREFIX_BYTES + headBytes);
  return [start];
}

/**
 * Splits a stream of chunks into frames. Sizes are checked before anything is buffered, so that a peer that announces four
 * gigabytes is refused at its first eight bytes.
 *
 * A frame that lies completely in one chunk is sliced without a copy. A frame that spans chunks is collected in its own buffer,
 * which grows with the bytes that have arrived. So a peer that sends single bytes, or announces much and sends little, makes us
 * hold at most about twice what it sent.
 */
export class FrameDecoder {
  readonly #maxFrameBytes: number;
  #held: Buffer = NOTHING;
  #heldBytes = 0;

  constructor(maxFrameBytes: number = MAX_FRAME_BYTES) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#heldBytes === 0) {
        const whole = this.#wholeBytes(rest, rest.length);
        if (whole !== undefined && rest.length >= whole) {
          frames.push(cut(rest.subarray(0, whole)));
          rest = rest.subarray(whole);
          continue;
        }
      }
      const { frame, taken } = this.#collect(rest);
      if (frame !== undefined) frames.push(frame);
      rest = rest.subarray(taken);
    }
    return frames;
  }

  /** Adds bytes to the frame that is being collected, up to its end: first the prefix, then the rest. */
  #collect(bytes: Buffer): { readonly frame: Frame | undefined; readonly taken: number } {
    let taken = 0;
    for (;;) {
      const whole = this.#wholeBytes(this.#held, this.#heldBytes);
      const wanted = whole ?? PREFIX_BYTES;
      const count = Math.min(wanted - this.#heldBytes, bytes.length - taken);
      this.#hold(bytes.subarray(taken, taken + count), wanted);
      taken += count;
      if (this.#heldBytes < wanted) return { frame: undefined, taken };
      if (whole === undefined) continue;
      const frame = cut(this.#held.subarray(0, whole));
      // The frame keeps the buffer; the next one gets its own.
      this.#held = NOTHING;
      this.#heldBytes = 0;
      return { frame, taken };
    }
  }

  #hold(bytes: Buffer, wanted: number): void {
    const needed = this.#heldBytes + bytes.length;
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(wanted, Math.max(needed, 2 * this.#held.length)));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    bytes.copy(this.#held, this.#heldBytes);
    this.#heldBytes = needed;
  }

  /** Length of the frame that begins here, including the prefix; undefined while too few bytes have arrived. */
  #wholeBytes(bytes: Buffer, available: number): number | undefined {
    return available < PREFIX_BYTES ? undefined : 4 + readPrefix(bytes, this.#maxFrameBytes).frameBytes;
  }
}

const NOTHING = Buffer.alloc(0);

function cut(whole: Buffer): Frame {
  const bodyAt = PREFIX_BYTES + whole.readUInt32LE(4);
  return { head: whole.subarray(PREFIX_BYTES, bodyAt), body: whole.subarray(bodyAt) };
}

/** Reads the eight bytes in front of a frame. Throws if they cannot be a valid prefix. */
export function readPrefix(
  bytes: Buffer,
  maxFrameBytes: number = MAX_FRAME_BYTES,
): { frameBytes: number; headBytes: number } {
  const frameBytes = bytes.readUInt32LE(0);
  const headBytes = bytes.readUInt32LE(4);
  if (frameBytes > maxFrameBytes)
    throw new FrameError(`a frame of ${frameBytes} bytes was announced; the most is ${maxFrameBytes}`);
  if (headBytes > MAX_HEAD_BYTES || headBytes + 4 > frameBytes)
    throw new FrameError(`a head of ${headBytes} bytes was announced in a frame of ${frameBytes}`);
  return { frameBytes, headBytes };
}
