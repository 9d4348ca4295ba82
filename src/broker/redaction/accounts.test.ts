import { describe, expect, test } from 'vitest';
import { findIbans } from './ibans.js';
import { Redactor } from './redactor.js';
import { findSocialSecurityNumbers } from './social-security.js';

function foundBy(search: typeof findIbans, text: string): string[] {
  const found: string[] = [];
  search(text, ({ start, end }) => {
    found.push(text.slice(start, end));
    return false;
  });
  return found;
}

describe('the number of a bank account [B8]', () => {
  test.each([
    ['DE89370400440532013000', 'DE89370400440532013000'],
    ['to DE89 3704 0044 0532 0130 00 today', 'DE89 3704 0044 0532 0130 00'],
    ['IBAN: GB82WEST12345698765432.', 'GB82WEST12345698765432'],
    ['{"a":"x\\nNO9386011117947"}', 'NO9386011117947'],
  ])('is found in %j', (text, iban) => {
    expect(foundBy(findIbans, text)).toEqual([iban]);
  });

  test.each([
    ['a wrong check digit', 'DE88370400440532013000'],
    ['a wrong length', 'DE893704004405320130001'],
    ['no country', 'ZZ89370400440532013000'],
    ['the middle of a word', 'XDE89370400440532013000'],
    ['groups of other lengths', 'DE89 370 400440532013000'],
  ])('is not %s', (_, text) => {
    expect(foundBy(findIbans, text)).toEqual([]);
  });
});

describe('a social security number [B8]', () => {
  test.each([['123-45-6789'], ['(123-45-6789)'], ['{"a":"x\\n123-45-6789"}']])('is found in %j', (text) => {
    expect(foundBy(findSocialSecurityNumbers, text)).toEqual(['123-45-6789']);
  });

  test.each([
    '123456789',
    '000-45-6789',
    '666-45-6789',
    '900-45-6789',
    '123-00-6789',
    '123-45-0000',
    '1123-45-6789',
    '123-45-67890',
    'part-123-45-6789',
    '123-45-6789-1',
    '2026-11-17',
  ])('is not %j', (text) => {
    expect(foundBy(findSocialSecurityNumbers, text)).toEqual([]);
  });
});

test('program results keep neither, nor cards stored as numbers; ids and other numbers stay [B8]', () => {
  const known = new Redactor([], { patterns: true, emails: false, extra: [], allow: [] });
  const data = {
    text: 'DE89 3704 0044 0532 0130 00, 123-45-6789',
    card: 4111111111111111,
    orderId: 4111111111111111,
    amount: 4111111111111112,
    when: 1700000000000,
  };
  const counts = {};
  expect(JSON.parse(known.forOutput({ personalData: true }).json(JSON.stringify(data), counts))).toEqual({
    ...data,
    text: '[redacted:iban], [redacted:ssn]',
    card: '[redacted:card]',
  });
  expect(counts).toEqual({ iban: 1, ssn: 1, card: 1 });
  expect(known.forOutput({ personalData: false }).value(data)).toEqual(data);
  expect(known.value(data)).toEqual(data);
});

test('texts in parts give what whole ones give [B8]', async () => {
  const redactor = new Redactor([], { patterns: false, emails: false, extra: [], allow: [] }).forOutput({
    personalData: true,
  });
  const text = 'DE89370400440532013000 123-45-6789 '.repeat(20_000);
  expect(await redactor.textInSlices(text)).toBe('[redacted:iban] [redacted:ssn] '.repeat(20_000));
});
