import { expect, test } from 'vitest';
import { BoundedLines, oneLine, TextTail } from './bounded-text.js';

test('a tail keeps the last bytes, however they were written', () => {
  const tail = new TextTail(10);
  tail.write(Buffer.from('0123456789abc'));
  expect(tail.text()).toBe('3456789abc');
  for (const piece of ['d', 'ef', 'ghi']) tail.write(Buffer.from(piece));
  expect(tail.text()).toBe('9abcdefghi');
});

test('bounded lines are distinct, and say how many are missing', () => {
  const lines = new BoundedLines(2);
  for (const line of ['a', 'a', 'b', 'c', 'd']) lines.add(line);
  expect(lines.list()).toEqual(['a', 'b', 'and 2 more']);
});

test('a text from outside is shown on one line on which everything is to be seen', () => {
  expect(oneLine('a\u001b[31m\r\nb\u202ec\u0000')).toBe('a\\u001b[31m b\\u202ec\\u0000');
  expect(oneLine('x'.repeat(500), 10)).toBe(`${'x'.repeat(9)}…`);
});
