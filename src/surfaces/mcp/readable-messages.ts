import { pipeline, type Readable, Transform } from 'node:stream';
import { JsonExcessCounter } from '../../lib/text/json-excess-counter.js';

const NEWLINE = 0x0a;

/**
 * The messages of a client on stdio, one per line. The client library parses a line as soon as its end is there, so the stream fails
 * before the end of one that has too many values or keys.
 */
export function readableMessages(source: Readable): Readable {
  const counter = new JsonExcessCounter();
  const messages = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let start = 0; start < chunk.length; ) {
        const newline = chunk.indexOf(NEWLINE, start);
        const end = newline === -1 ? chunk.length : newline + 1;
        counter.add(chunk.subarray(start, end));
        if (counter.excess !== undefined) return done(new RangeError(`a message has ${counter.excess}`));
        if (newline !== -1) counter.restart();
        start = end;
      }
      done(null, chunk);
    },
  });
  // The stream's own reader hears how it ended.
  pipeline(source, messages, () => {});
  return messages;
}
