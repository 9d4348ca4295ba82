/**
 * The shape of the bytes between host and worker, in both directions:
 *
 *     u32 length of what follows | u32 length of the head | head: JSON | body: bytes
 *
 * all numbers little-endian. The head is small and says what this is; the body carries what may be large (source,
 * arguments, results, images) untouched, so that a 10 MB result is never parsed on its way.
 */

/** A head names things and counts them; it never carries a program's data. */
export const MAX_HEAD_BYTES = 256 * 1024;

/** Nothing larger crosses, in either direction. Results and images stay below it or are refused by name. */
export const MAX_FRAME_BYTES = 512 * 1024 * 1024;

const PREFIX_BYTES = 8;

/** A body up to here is copied behind its head: one piece is cheaper to write than two. */
const MAX_JOINED_BODY_BYTES = 16 * 1024;

export interface Frame {
  readonly head: Buffer;
  readonly body: Buffer;
}

/** Thrown when the peer does not speak this format. There is no way to find the next frame: the channel is over. */
export class FrameError extends Error {}

/** A frame in one piece, or in two where the body is large: then it is not copied. */
export function encodeFrame(head: object, body?: Uint8Array): Buffer[] {
  const headText = JSON.stringify(head);
  const headBytes = Buffer.byteLength(headText);
  const bodyBytes = body?.byteLength ?? 0;
  if (headBytes > MAX_HEAD_BYTES) throw new FrameError(`a head of ${headBytes} bytes is too long to send`);
  if (headBytes + bodyBytes > MAX_FRAME_BYTES)
    throw new FrameError(`a frame of ${bodyBytes} bytes is too long to send`);
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
 * Cuts a stream of chunks into frames. Sizes are checked before anything is collected, so that a peer that announces
 * four gigabytes is refused at its first eight bytes.
 */
export class FrameDecoder {
  readonly #maxFrameBytes: number;
  #chunks: Buffer[] = [];
  #buffered = 0;

  constructor(maxFrameBytes: number = MAX_FRAME_BYTES) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunk: Buffer): Frame[] {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    const frames: Frame[] = [];
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): Frame | undefined {
    if (this.#buffered < PREFIX_BYTES) return undefined;
    const prefix = this.#gather(PREFIX_BYTES);
    const { frameBytes, headBytes } = readPrefix(prefix, this.#maxFrameBytes);
    if (this.#buffered < 4 + frameBytes) return undefined;
    const whole = this.#gather(4 + frameBytes);
    this.#drop(4 + frameBytes);
    return {
      head: whole.subarray(PREFIX_BYTES, PREFIX_BYTES + headBytes),
      body: whole.subarray(PREFIX_BYTES + headBytes, 4 + frameBytes),
    };
  }

  /** The first `count` buffered bytes in one piece. Chunks are joined only here, and only when a frame spans them. */
  #gather(count: number): Buffer {
    const first = this.#chunks[0]!;
    if (first.length >= count) return first;
    if (count === PREFIX_BYTES) {
      const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
      let filled = 0;
      for (const chunk of this.#chunks) {
        filled += chunk.copy(prefix, filled, 0, Math.min(chunk.length, PREFIX_BYTES - filled));
        if (filled === PREFIX_BYTES) break;
      }
      return prefix;
    }
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }

  #drop(count: number): void {
    const rest = this.#chunks[0]!.subarray(count);
    if (rest.length === 0) this.#chunks.shift();
    else this.#chunks[0] = rest;
    this.#buffered -= count;
  }
}

/** Reads the eight bytes in front of a frame and refuses what cannot be one. */
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
