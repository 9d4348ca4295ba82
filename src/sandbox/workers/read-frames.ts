import type { Duplex } from 'node:stream';
import { FrameDecoder } from '../../wire/frames.js';

/** Frames handled in one turn of the event loop, or a few more: those of one chunk are handled together. */
const FRAMES_PER_TURN = 100;

/**
 * Reads frames from a worker. A worker that sends thousands of small frames is read one chunk at a time, with a turn of the event
 * loop between two chunks. Its remaining frames wait in its own pipe.
 */
export function readFrames(
  channel: Duplex,
  maxFrameBytes: number,
  handle: (head: Buffer, body: Buffer) => void,
  onBroken: (error: unknown) => void,
): void {
  const decoder = new FrameDecoder(maxFrameBytes);
  channel.on('data', (chunk: Buffer) => {
    try {
      const frames = decoder.push(chunk);
      for (const { head, body } of frames) handle(head, body);
      if (frames.length < FRAMES_PER_TURN) return;
    } catch (error) {
      return onBroken(error);
    }
    channel.pause();
    setImmediate(() => channel.resume());
  });
}
