import { describe, expect, test } from 'vitest';
import { SEAL_KEY_BYTES, type SealBinding, seal, unseal } from './sealed.js';

const KEY = new Uint8Array(SEAL_KEY_BYTES).fill(7);
const BINDING: SealBinding = { purpose: 'test', owner: ['run-1', 'ada', 'd1'] };
const of = (...owner: string[]): SealBinding => ({ ...BINDING, owner });
const SECRET = Buffer.from('the memory of a program, with the data of its user');

const opens = (sealed: Uint8Array, binding = BINDING, key = KEY) => unseal(key, binding, sealed);

describe('what is sealed', () => {
  test('opens for what it belongs to', () => {
    expect(opens(seal(KEY, BINDING, SECRET))).toEqual(SECRET);
    expect(opens(seal(KEY, BINDING, new Uint8Array()))).toHaveLength(0);
  });

  test('opens from a part of a larger buffer', () => {
    const sealed = seal(KEY, BINDING, SECRET);
    const larger = Buffer.concat([Buffer.from('before'), sealed, Buffer.from('after')]);
    expect(opens(larger.subarray(6, 6 + sealed.length))).toEqual(SECRET);
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
      expect(opens(changed), `byte ${at}`).toBeUndefined();
    }
  });

  test('does not open when it was cut short or made longer', () => {
    const sealed = seal(KEY, BINDING, SECRET);
    for (let length = 0; length < sealed.length; length++)
      expect(opens(sealed.subarray(0, length)), `${length} bytes`).toBeUndefined();
    expect(opens(Buffer.concat([sealed, Buffer.from([0])]))).toBeUndefined();
  });

  test.each([
    ['another purpose', { ...BINDING, purpose: 'tests' }],
    ['another run', of('run-2', 'ada', 'd1')],
    ['another caller', of('run-1', 'eve', 'd1')],
    ['fewer names', of('run-1', 'ada')],
    ['names that only look the same when joined', of('run-1ada', '', 'd1')],
    ['names with quotes and commas in them', of('run-1","ada', '', 'd1')],
  ])('does not open for %s', (_, binding) => {
    expect(opens(seal(KEY, BINDING, SECRET), binding)).toBeUndefined();
  });

  test('does not open under another key', () => {
    const other = new Uint8Array(SEAL_KEY_BYTES).fill(8);
    expect(opens(seal(KEY, BINDING, SECRET), BINDING, other)).toBeUndefined();
  });
});

test('a key of another length is our own mistake, and said so', () => {
  for (const length of [0, 16, 31, 33]) {
    const key = new Uint8Array(length);
    expect(() => seal(key, BINDING, SECRET)).toThrow('a sealing key has 32 bytes');
    expect(() => unseal(key, BINDING, seal(KEY, BINDING, SECRET))).toThrow('a sealing key has 32 bytes');
  }
});
