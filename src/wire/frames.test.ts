import { describe, expect, test } from 'vitest';
import { encodeFrame, FrameDecoder, FrameError, MAX_FRAME_BYTES, MAX_HEAD_BYTES, readPrefix } from './frames.js';

const encode = (head: object, body?: Uint8Array): Buffer => Buffer.concat(encodeFrame(head, body));

/** Eight bytes as a peer could write them, true or not. */
function prefix(frameBytes: number, headBytes: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(frameBytes, 0);
  bytes.writeUInt32LE(headBytes, 4);
  return bytes;
}

/** What a decoder gives, as text: heads and bodies in order. */
function decodeAll(chunks: readonly Buffer[], decoder = new FrameDecoder()): [string, string][] {
  return chunks.flatMap((chunk) => decoder.push(chunk)).map(({ head, body }) => [String(head), String(body)]);
}

const EMPTY = prefix(4, 0);
const STREAM = Buffer.concat([
  encode({ type: 'first' }, Buffer.from('body of the first')),
  EMPTY,
  encode({ type: 'zweitens ü' }),
  encode({}, Buffer.from('🎉')),
]);
const FRAMES = [
  ['{"type":"first"}', 'body of the first'],
  ['', ''],
  ['{"type":"zweitens ü"}', ''],
  ['{}', '🎉'],
];

describe('a stream', () => {
  test('is the same frames wherever it is cut in two', () => {
    for (let at = 0; at <= STREAM.length; at++)
      expect(decodeAll([STREAM.subarray(0, at), STREAM.subarray(at)]), `cut at ${at}`).toEqual(FRAMES);
  });

  test.each([1, 2, 3, 5, 7, 8, 9, 16])('is the same frames in pieces of %i bytes', (size) => {
    const pieces: Buffer[] = [];
    for (let at = 0; at < STREAM.length; at += size) pieces.push(STREAM.subarray(at, at + size));
    expect(decodeAll(pieces)).toEqual(FRAMES);
  });

  test('gives all frames of one chunk at once, in order', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => encode({ index }, Buffer.alloc(index % 5, 97)));
    const decoded = decodeAll([Buffer.concat(many)]);
    expect(decoded).toEqual(many.map((_, index) => [`{"index":${index}}`, 'a'.repeat(index % 5)]));
  });

  test('gives a frame as soon as its last byte is there, and not before', () => {
    const decoder = new FrameDecoder();
    const whole = encode({ type: 'x' }, Buffer.from('yz'));
    expect(decoder.push(whole.subarray(0, -1))).toEqual([]);
    expect(decoder.push(Buffer.alloc(0))).toEqual([]);
    expect(decodeAll([whole.subarray(-1)], decoder)).toEqual([['{"type":"x"}', 'yz']]);
  });

  test('leaves the bytes of earlier frames alone when later ones arrive', () => {
    const decoder = new FrameDecoder();
    const whole = encode({ type: 'kept' }, Buffer.alloc(50_000, 1));
    const [kept] = [...decoder.push(whole.subarray(0, 100)), ...decoder.push(whole.subarray(100))];
    const later = encode({ type: 'later' }, Buffer.alloc(50_000, 2));
    decoder.push(later.subarray(0, 100));
    decoder.push(later.subarray(100));
    expect(kept?.body.equals(Buffer.alloc(50_000, 1))).toBe(true);
  });

  test('of single bytes costs no more than it holds', () => {
    const decoder = new FrameDecoder();
    const body = Buffer.alloc(200_000, 'abc');
    const whole = encode({ type: 'drip' }, body);
    const frames = Array.from(whole, (byte) => decoder.push(Buffer.from([byte]))).flat();
    expect(frames).toHaveLength(1);
    expect(frames[0]?.body.equals(body)).toBe(true);
    expect(frames[0]?.body.buffer.byteLength).toBeLessThan(4 * whole.length);
  });
});

describe('a frame is refused by its first eight bytes', () => {
  test.each([
    ['that announces more than the decoder takes', prefix(1_001, 10), /1001 bytes was announced; the most is 1000/],
    ['that announces four gigabytes', prefix(0xffff_ffff, 2), /4294967295 bytes/],
    ['whose head is longer than itself', prefix(20, 17), /head of 17 bytes was announced in a frame of 20/],
    ['whose head would wrap around', prefix(20, 0xffff_ffff), /head of 4294967295 bytes/],
    ['of length zero, without room for its own head length', prefix(0, 0), /head of 0 bytes .* frame of 0/],
    ['of length three', prefix(3, 0), /frame of 3/],
  ])('%s', (_, bytes, message) => {
    expect(() => new FrameDecoder(1_000).push(bytes)).toThrow(FrameError);
    expect(() => new FrameDecoder(1_000).push(bytes)).toThrow(message);
  });

  test('in whatever pieces they come', () => {
    const decoder = new FrameDecoder(1_000);
    decoder.push(prefix(1_001, 10).subarray(0, 7));
    expect(() => decoder.push(prefix(1_001, 10).subarray(7))).toThrow(FrameError);
  });

  test('when its head is longer than any of ours, though it fits into the frame', () => {
    expect(() => readPrefix(prefix(MAX_HEAD_BYTES + 100, MAX_HEAD_BYTES + 1))).toThrow(FrameError);
    expect(readPrefix(prefix(MAX_HEAD_BYTES + 100, MAX_HEAD_BYTES))).toEqual({
      frameBytes: MAX_HEAD_BYTES + 100,
      headBytes: MAX_HEAD_BYTES,
    });
  });

  test('but not when it is exactly as large as may be', () => {
    expect(readPrefix(prefix(1_000, 996), 1_000)).toEqual({ frameBytes: 1_000, headBytes: 996 });
    expect(new FrameDecoder(1_000).push(prefix(1_000, 996))).toEqual([]);
  });
});

describe('what is too long to send', () => {
  test('is refused before it is written: a head', () => {
    expect(() => encodeFrame({ text: 'x'.repeat(MAX_HEAD_BYTES) })).toThrow(FrameError);
  });

  test('is refused before it is written: a body', () => {
    // Never touched, so it costs address space only.
    const body = new Uint8Array(new ArrayBuffer(MAX_FRAME_BYTES));
    expect(() => encodeFrame({}, body)).toThrow(FrameError);
  });

  test('starts where the other end would refuse it: the largest frame is read back', () => {
    const frameBytes = MAX_FRAME_BYTES;
    const body = new Uint8Array(new ArrayBuffer(frameBytes - 4 - 2));
    const [start] = encodeFrame({}, body);
    expect(readPrefix(start as Buffer)).toEqual({ frameBytes, headBytes: 2 });
    expect(() => encodeFrame({}, new Uint8Array(new ArrayBuffer(frameBytes - 4 - 1)))).toThrow(FrameError);
  });
});

test('a large body is sent as it lies, not copied, also when it is part of a larger buffer', () => {
  const large = Buffer.alloc(64 * 1024, 'body');
  const body = large.subarray(4, 60 * 1024);
  const parts = encodeFrame({ type: 'x' }, body);
  expect(parts).toHaveLength(2);
  expect(parts[1]?.buffer).toBe(large.buffer);
  expect(decodeAll(parts)).toEqual([['{"type":"x"}', body.toString()]]);
});
