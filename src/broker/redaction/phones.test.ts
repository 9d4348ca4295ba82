import { expect, test } from 'vitest';
import { findPhones } from './phones.js';

function phonesIn(text: string): string[] {
  const found: string[] = [];
  findPhones(text, ({ start, end }) => {
    found.push(text.slice(start, end));
    return false;
  });
  return found;
}

test.each([
  ['+49 30 1234567', '+49 30 1234567'],
  ['call +1 (555) 123-4567 now', '+1 (555) 123-4567'],
  ['tel:+4915112345678', '+4915112345678'],
  ['(555) 123-4567', '(555) 123-4567'],
  ['555-123-4567.', '555-123-4567'],
  ['1-800-555-0199', '1-800-555-0199'],
  ['030 1234567', '030 1234567'],
  ['0151/12345678', '0151/12345678'],
  ['020 7946 0958', '020 7946 0958'],
  ['{"a":"x\\n555-123-4567"}', '555-123-4567'],
])('a telephone number is found in %j [B8]', (text, phone) => {
  expect(phonesIn(text)).toEqual([phone]);
});

test.each([
  '2026-11-16',
  '2026-11-16T05:06:07.890+01:00',
  '16.11.2026',
  '1.2.3',
  '192.168.100.200',
  '4111111111111111',
  '1234567890',
  'a+1234',
  '1.5e+10',
  '0.12345678',
  '0-306-40615-2',
  'ab12-555-123-4567-ef',
  '550e8400-e29b-41d4-a716-446655440000',
  '08/15/2026',
])('%j is none [B8]', (text) => {
  expect(phonesIn(text)).toEqual([]);
});

test('a long text of digits and gaps takes no longer than its length', () => {
  expect(phonesIn('0 1-'.repeat(100_000))).toEqual([]);
  expect(phonesIn('+1 '.repeat(100_000))).toEqual([]);
});
