import { describe, expect, test } from 'vitest';
import { JsonExcessCounter } from './json-excess-counter.js';

/** How many keys the counter sees, if the text arrives in pieces of this size. */
function isOver(text: string, most: number, pieceBytes: number): boolean {
  const counter = new JsonExcessCounter(most);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) counter.add(bytes.subarray(at, at + pieceBytes));
  return counter.excess !== undefined;
}

const THREE_KEYS = '{ "a" : "x", "b\\"\\\\":[{"a":1},{"a":"not a key"}],\n"é"\t:{} }';

describe('JsonExcessCounter', () => {
  test.each([1, 2, 3, 7, 1_000])('counts different keys, not strings, in pieces of %i bytes', (pieceBytes) => {
    expect([3, 2].map((most) => isOver(THREE_KEYS, most, pieceBytes))).toEqual([false, true]);
  });

  test('counts a key once, however often it is repeated', () => {
    expect(isOver(JSON.stringify(Array.from({ length: 1_000 }, (_, id) => ({ id, name: '' }))), 2, 64)).toBe(false);
  });

  test.each([1, 3, 1_000])('counts values, not what is in strings, in pieces of %i bytes', (pieceBytes) => {
    const text = Buffer.from('{"a":[{},{"b":"[{,,"},1]}');
    const over = [6, 5].map((most) => {
      const counter = new JsonExcessCounter(undefined, most);
      for (let at = 0; at < text.length; at += pieceBytes) counter.add(text.subarray(at, at + pieceBytes));
      return counter.excess !== undefined;
    });
    expect(over).toEqual([false, true]);
  });

  test('starts again with the next text', () => {
    const counter = new JsonExcessCounter(1);
    counter.add(Buffer.from('{"a":"cut off'));
    counter.restart();
    counter.add(Buffer.from('{"b":1}'));
    expect(counter.excess).toBeUndefined();
  });

  test('keys that begin alike and are very long are one key', () => {
    const begin = 'x'.repeat(256);
    expect(isOver(`{"${begin}1":1,"${begin}2":2}`, 1, 100)).toBe(false);
  });
});
