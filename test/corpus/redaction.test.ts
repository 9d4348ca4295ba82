import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Redactor } from '../../src/broker/redaction/redactor.js';
import { loadToolsets, ofCorpus } from '../support/corpus.js';

/** Redaction must leave ordinary data as it is: real listings of tools, the examples, and what ids look like. */

const redactor = new Redactor(['a-secret-of-the-configuration'], {
  patterns: true,
  emails: false,
  extra: [],
  allow: [],
});

function removed(texts: readonly string[]): { readonly kinds: Record<string, number>; readonly share: number } {
  const kinds: Record<string, number> = {};
  const changed = texts.filter((text) => redactor.text(text, kinds) !== text);
  return { kinds, share: changed.length / texts.length };
}

test('nothing of the tools of the corpus is taken for a secret', () => {
  const tools = loadToolsets().flatMap((set) => set.tools);
  expect(tools).toHaveLength(ofCorpus({ own: 436, reference: 1_312 }));
  const kinds: Record<string, number> = {};
  for (const tool of tools) redactor.value(tool as never, kinds);
  expect(kinds).toEqual({});
});

test('nothing of the examples is taken for a secret', () => {
  const folder = fileURLToPath(new URL('../../examples', import.meta.url));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const texts = files.map((file) => readFileSync(`${file.parentPath}/${file.name}`, 'utf8'));
  expect(removed(texts)).toEqual({ kinds: {}, share: 0 });
});

describe('ids of the usual kinds stay', () => {
  const many = (make: (index: number) => string) => Array.from({ length: 20_000 }, (_, index) => make(index));
  const digits = (length: number) => (index: number) =>
    BigInt(`0x${createHash('sha256').update(`${length} ${index}`).digest('hex')}`)
      .toString()
      .slice(5, 5 + length);

  test.each([
    ['UUIDs', many(() => randomUUID())],
    ['git commits', many(() => randomBytes(20).toString('hex'))],
    ['SHA-256 in base64', many(() => randomBytes(32).toString('base64'))],
    ['numbers of 13 digits', many(digits(13))],
    ['numbers of 17 digits', many(digits(17))],
    ['numbers of 18 digits', many(digits(18))],
    ['numbers of 19 digits', many(digits(19))],
    ['times in microseconds', many((index) => String(1_763_254_400_000_000 + index * 7_919))],
    ['ISO times', many((index) => new Date(1_763_254_400_000 + index * 77_777).toISOString())],
  ])('%s', (_, texts) => {
    expect(removed(texts)).toEqual({ kinds: {}, share: 0 });
  });

  test('of random 16-digit numbers outside id fields, at most 3 in 100 pass for a card', () => {
    expect(removed(many(digits(16))).share).toBeLessThan(0.03);
    const values = many(digits(16)).map((id) => ({ id, orderId: id }));
    expect(redactor.value(values)).toBe(values);
  });
});
