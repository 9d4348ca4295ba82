import { describe, expect, test } from 'vitest';
import { SEAL_KEY_BYTES, type SealBinding, seal, unseal } from './sealing.js';

const KEY = new Uint8Array(SEAL_KEY_BYTES).fill(7);
const BINDING: SealBinding = { execution: 'run-1', caller: 'ada', codeDigest: 'd1' };
const SECRET = Buffer.from('the memory of a program, with the data of its user');
const REJECTED = expect.objectContaining({ code: 'image_rejected', message: expect.stringContaining('start the run') });

const opens = (sealed: Uint8Array, binding = BINDING, key = KEY) => unseal(key, binding, sealed);

describe('a sealed program', () => {
  test('opens for the run, the caller and the code it belongs to', () => {
    expect(opens(seal(KEY, BINDING, SECRET)).equals(SECRET)).toBe(true);
    expect(opens(seal(KEY, BINDING, new Uint8Array()))).toHaveLength(0);
  });

  test('opens from a part of a larger buffer', () => {
    const sealed = seal(KEY, BINDING, SECRET);
    const larger = Buffer.concat([Buffer.from('before'), sealed, Buffer.from('after')]);
    expect(opens(larger.subarray(6, 6 + sealed.length)).equals(SECRET)).toBe(true);
  });

  test('shows nothing of what it holds, and never looks the same twice', () => {
    const sealed = seal(KEY, BINDING, SECRET);
    expect(sealed.includes('memory')).toBe(false);
    expect(sealed.equals(seal(KEY, BINDING, SECRET))).toBe(false);
  });

  test('does not open when any one bit of it was changed', () => {
    const sealed = seal(KEY, BINDING, SECRET);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] as number) ^ (1 << (at % 8));
      expect(() => opens(changed), `byte ${at}`).toThrow(REJECTED);
    }
  });

  test('does not open when it was cut short or made longer', () => {
    const sealed = seal(KEY, BINDING, SECRET);
    for (let length = 0; length < sealed.length; length++)
      expect(() => opens(sealed.subarray(0, length)), `${length} bytes`).toThrow(REJECTED);
    expect(() => opens(Buffer.concat([sealed, Buffer.from([0])]))).toThrow(REJECTED);
  });

  test.each([
    ['another run', { ...BINDING, execution: 'run-2' }],
    ['another caller', { ...BINDING, caller: 'eve' }],
    ['other code', { ...BINDING, codeDigest: 'd2' }],
    ['names that only look the same when joined', { execution: 'run-1ada', caller: '', codeDigest: 'd1' }],
    ['names with quotes and commas in them', { execution: 'run-1","ada', caller: '', codeDigest: 'd1' }],
  ])('does not open for %s', (_, binding) => {
    expect(() => opens(seal(KEY, BINDING, SECRET), binding)).toThrow(REJECTED);
  });

  test('does not open under another key', () => {
    const other = new Uint8Array(SEAL_KEY_BYTES).fill(8);
    expect(() => opens(seal(KEY, BINDING, SECRET), BINDING, other)).toThrow(REJECTED);
  });
});

test('a key of another length is our own mistake, and said so', () => {
  for (const length of [0, 16, 31, 33]) {
    const key = new Uint8Array(length);
    const expected = expect.objectContaining({ code: 'internal', message: 'a sealing key has 32 bytes' });
    expect(() => seal(key, BINDING, SECRET)).toThrow(expected);
    expect(() => unseal(key, BINDING, seal(KEY, BINDING, SECRET))).toThrow(expected);
  }
});
