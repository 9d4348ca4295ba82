import { expect, test } from 'vitest';
import { FLOOD_BYTES, OutputBuffer } from './output-buffer.js';

test('what fits is kept as it is, however it comes', () => {
  const kept = new OutputBuffer(100);
  for (const byte of Buffer.from('größer 🎉')) kept.push(Buffer.from([byte]));
  expect(kept.output).toEqual({ text: 'größer 🎉', isCut: false, totalBytes: 13 });
});

test('what does not fit is counted, and a character that the limit cuts is left out', () => {
  const kept = new OutputBuffer(3);
  kept.push(Buffer.from('aöö'));
  kept.push(Buffer.from('more'));
  expect(kept.output).toEqual({ text: 'aö', isCut: true, totalBytes: 9 });
  const cut = new OutputBuffer(2);
  cut.push(Buffer.from('aö'));
  expect(cut.output).toEqual({ text: 'a', isCut: true, totalBytes: 3 });
});

test('far more than the limit is a flood', () => {
  const kept = new OutputBuffer(10);
  kept.push(Buffer.alloc(10 + FLOOD_BYTES));
  expect(kept.isFlood).toBe(false);
  kept.push(Buffer.alloc(1));
  expect(kept.isFlood).toBe(true);
});
