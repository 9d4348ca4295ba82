import { createParser } from 'eventsource-parser';
import { describe, expect, test } from 'vitest';
import { JsonExcessCounter } from '../../../lib/text/json-excess-counter.js';
import { EventDataCounter } from './event-data-counter.js';

/** Whether a message in the stream has more keys or values than so many, if the stream arrives in pieces of this size. */
function isOver(stream: string, { keys, values }: { keys?: number; values?: number }, pieceBytes: number): boolean {
  const counter = new EventDataCounter(new JsonExcessCounter(keys, values));
  const bytes = Buffer.from(stream);
  for (let at = 0; at < bytes.length; at += pieceBytes) counter.add(bytes.subarray(at, at + pieceBytes));
  return counter.excess !== undefined;
}

function textsIn(stream: string): string[] {
  const texts: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => texts.push(data) });
  parser.feed(stream);
  return texts;
}

describe.each([1, 2, 3, 7, 1_000])('an event stream in pieces of %i bytes', (pieceBytes) => {
  test.each([
    ['one line', 'data: {"a":[1,2],"b":3}\n\n'],
    ['no space after the colon', 'data:{"a":[1,2],"b":3}\n\n'],
    ['a line for each word', 'data: {"a"\ndata: :[1,\ndata:2],"b"\ndata::3}\n\n'],
    ['returns', 'data: {"a"\r\ndata: :[1,\r\ndata:2],"b"\r\ndata::3}\r\n\r\n'],
    ['returns alone', 'data: {"a"\rdata: :[1,\rdata:2],"b"\rdata::3}\r\r\n'],
    ['quotes in other lines', ': "\nid: "\ndatum: "\nevent: message\ndata: {"a":[1,2],"b":3}\n\n'],
    ['an event before it', 'data: {"x":"cut off\n\ndata: {"a":[1,2],"b":3}\n\n'],
  ])('is counted as it is read: %s', (_, stream) => {
    expect(JSON.parse(textsIn(stream).at(-1) as string)).toEqual({ a: [1, 2], b: 3 });
    expect([1, 2].map((keys) => isOver(stream, { keys }, pieceBytes))).toEqual([true, false]);
    expect([3, 4].map((values) => isOver(stream, { values }, pieceBytes))).toEqual([true, false]);
  });

  test('the lines of an event that are not data are free as long as they are few', () => {
    const counter = new EventDataCounter();
    counter.add(Buffer.from('event: message\nid: 1\nretry: 5\n: x\ndata: {}\n\n'.repeat(3)));
    expect(counter.takeOtherLines()).toBe(0);
    counter.add(Buffer.from(':\n'.repeat(10)));
    expect([counter.takeOtherLines(), counter.takeOtherLines()]).toEqual([6, 0]);
  });
});
