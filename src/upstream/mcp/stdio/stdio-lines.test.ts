import { expect, test } from 'vitest';
import { LineSplitter } from './stdio-lines.js';

test('lines come out whole, wherever the stream was cut', () => {
  const text = 'erste Zeile ü\r\n\nlast 😀\nrest';
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const splitter = new LineSplitter({ maxBytes: 1_000, maxBytesNow: () => 1_000 });
    const lines: (string | undefined)[] = [];
    for (let start = 0; start < bytes.length; start += size)
      lines.push(...splitter.push(bytes.subarray(start, start + size)));
    expect(lines).toEqual(['erste Zeile ü', '', 'last 😀']);
  }
});

test('a line beyond the limit is refused, also when it comes in pieces', () => {
  const splitter = new LineSplitter({ maxBytes: 10, maxBytesNow: () => 10 });
  expect(splitter.push(Buffer.from('0123456789\n'))).toEqual(['0123456789']);
  splitter.push(Buffer.from('012345'));
  expect(() => splitter.push(Buffer.from('6789a'))).toThrow('a message is longer than 10 bytes');
});

test('a line that is too long for now is left out, and the next one is read', () => {
  const splitter = new LineSplitter({ maxBytes: 100, maxBytesNow: () => 10 });
  expect(splitter.push(Buffer.from('0123456789abc'))).toEqual([]);
  expect(splitter.push(Buffer.from('def\nnext\n'))).toEqual([undefined, 'next']);
});
