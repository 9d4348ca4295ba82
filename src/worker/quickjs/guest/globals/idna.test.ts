import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Guest, seededRandom, startGuest } from './run-in-quickjs.test-support.js';

const require = createRequire(import.meta.url);
const tr46 = require('tr46') as { toASCII(domain: string, options: object): string | null };
const mappingTable = require('tr46/lib/mappingTable.json') as [number | [number, number], number][];

let guest: Guest;
beforeAll(async () => {
  guest = await startGuest(`import { domainToAscii } from './idna.js'; globalThis.domainToAscii = domainToAscii;`);
});
afterAll(() => guest.close());

test('every range of the Unicode table begins and ends where UTS #46 says', () => {
  const domains = mappingTable.flatMap(([range]) => {
    const [first, last] = typeof range === 'number' ? [range, range] : range;
    return [...new Set([first, last])].map((point) => `a${String.fromCodePoint(point)}b`);
  });
  expect(domains.length).toBeGreaterThan(9_000);
  expect(disagreements(domains)).toEqual([]);
});

test('labels of mixed scripts, joiners, marks and Punycode give the answers of UTS #46', () => {
  const random = seededRandom(46);
  // biome-ignore format: a list to read along, not down.
  const alphabets = [
    'abz019-.', 'ÄößẞéŁıİſ', 'אבגתװ', 'ابتثنيهہ', '٠١٢۰۱', '0123', 'कखग्षऽ', '\u200c\u200d', '\u0301\u0308\u064b\u0bcd\u094d',
    'ᏸꭰᎠ', 'ᾳΣςσΌ', '日本語。．', '\u00ad\u200b\ufe0f', '😀👍🏽', 'ﬁℌⅣ①', '\u{10ac0}\u{10ac1}\u{1e900}', '-', '.', 'xn--', 'ܐܒܓ', '߀߁ߊ',
  ];
  const domains: string[] = [];
  for (let count = 0; count < 6_000; count++) {
    const chosen = [0, 1].map(() => Array.from(alphabets[Math.floor(random() * alphabets.length)] as string));
    let domain = '';
    for (let length = 1 + Math.floor(random() * 7); length > 0; length--) {
      const alphabet = chosen[Math.floor(random() * 2)] as string[];
      domain += alphabet[Math.floor(random() * alphabet.length)];
    }
    domains.push(domain);
    // The encoded form has to pass, or fail, on the way back.
    const ascii = toAscii(domain);
    if (ascii?.includes('xn--')) domains.push(ascii, mutate(ascii, random), ascii.toUpperCase());
  }
  expect(disagreements(domains)).toEqual([]);
});

function toAscii(domain: string): string | null {
  return tr46.toASCII(domain, {
    checkHyphens: false,
    checkBidi: true,
    checkJoiners: true,
    useSTD3ASCIIRules: false,
    transitionalProcessing: false,
    verifyDNSLength: false,
    ignoreInvalidPunycode: false,
  });
}

function disagreements(domains: readonly string[]): unknown[] {
  const ours = guest.call('(domains) => domains.map((domain) => domainToAscii(domain) ?? null)', domains) as (
    | string
    | null
  )[];
  return domains.flatMap((domain, index) => {
    const theirs = toAscii(domain);
    return ours[index] === theirs ? [] : [{ domain: escape(domain), ours: ours[index], theirs }];
  });
}

function mutate(ascii: string, random: () => number): string {
  const at = Math.floor(random() * ascii.length);
  return ascii.slice(0, at) + 'abcxyz019-'.charAt(Math.floor(random() * 10)) + ascii.slice(at + 1);
}
