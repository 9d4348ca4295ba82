import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { KeyedHash } from './keyed-hash.js';

const key = Uint8Array.from({ length: 32 }, (_, at) => (at * 37 + 200) % 256);

describe('KeyedHash', () => {
  it.each([
    ['nothing', ''],
    ['a short text', '{"n":1}'],
    ['texts of several bytes for a character', 'é€𝄞'.repeat(40)],
    ['half of a pair, which is not text', 'before \ud834 after'],
    ['the longest that needs no buffer of its own', 'x'.repeat(Math.floor((16 * 1024) / 3))],
    ['one longer than that', '€'.repeat(Math.floor((16 * 1024) / 3) + 1)],
    ['a very long one', 'y'.repeat(300_000)],
  ])('is the platform’s HMAC-SHA-256 of %s', (_, text) => {
    const hmac = createHmac('sha256', key).update(text);
    expect(new KeyedHash(key).of(text, 'hex')).toBe(hmac.digest('hex'));
  });

  it('is the same after other texts, longer and shorter', () => {
    const keyed = new KeyedHash(key);
    const first = keyed.of('a text', 'base64url');
    keyed.of('z'.repeat(5_000), 'hex');
    keyed.of('', 'hex');
    expect(keyed.of('a text', 'base64url')).toBe(first);
    expect(first).toBe(createHmac('sha256', key).update('a text').digest('base64url'));
  });

  it('takes no key of another length', () => {
    expect(() => new KeyedHash(new Uint8Array(16))).toThrow('a key has 32 bytes, not 16');
  });
});
