import { expect, test } from 'vitest';
import { DbusReader, type DbusValue, DbusWriter, splitSignature } from './dbus-values.js';

const SIGNATURE = 'ya{sv}(oayays)baou';
const VALUES: DbusValue[] = [
  7,
  [
    ['label', { signature: 's', value: 'grüße' }],
    ['attributes', { signature: 'a{ss}', value: [['key', 'x']] }],
  ],
  ['/session/1', new Uint8Array(), new Uint8Array([1, 2, 255]), 'text/plain'],
  true,
  ['/', '/a/b'],
  0xffff_fffe,
];
const bytes = Buffer.from(new DbusWriter().write(SIGNATURE, VALUES).bytes());

test('what was written is read again', () => {
  expect(new DbusReader(bytes, true).read(SIGNATURE)).toEqual(VALUES);
  expect(splitSignature(SIGNATURE)).toEqual(['y', 'a{sv}', '(oayays)', 'b', 'ao', 'u']);
});

test('bytes are laid out as the specification says', () => {
  const written = new DbusWriter().write('yua(ub)s', [1, 2, [[3, true]], 'ab']).bytes();
  const expected = '01000000 02000000 08000000 00000000 03000000 01000000 02000000 616200';
  expect(Buffer.from(written).toString('hex')).toBe(expected.replaceAll(' ', ''));
});

test('a message that was cut anywhere, or claims a length that it does not have, is refused', () => {
  for (let length = 0; length < bytes.length; length += 1)
    expect(() => new DbusReader(bytes.subarray(0, length), true).read(SIGNATURE)).toThrow();
  const huge = Buffer.from('ffffffff00000000', 'hex');
  for (const signature of ['s', 'ay', 'as', 'a(ss)', 'a{sv}'])
    expect(() => new DbusReader(huge, true).read(signature)).toThrow();
});

test('signatures without end, without content or of other types are refused', () => {
  for (const signature of ['a', '(', '(s', 'a()', '{}', 'h', `${'a'.repeat(40)}s`, '('.repeat(40), 's'.repeat(256)])
    expect(() => splitSignature(signature)).toThrow();
  // A variant in a variant in a variant.
  expect(() => new DbusReader(Buffer.from('017600'.repeat(100), 'hex'), true).read('v')).toThrow(/deep/);
});
