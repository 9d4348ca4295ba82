import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeFrame, FrameDecoder, FrameError } from '../../src/wire/frames.js';
import { parseProcessMessage, parseWorkerMessage } from '../../src/wire/parse.js';
import { expectKnown, pure } from './fuzzer.js';
import type { Random } from './random.js';

const GOLDEN = fileURLToPath(new URL('../../src/wire/golden', import.meta.url));
const HEADS = readdirSync(GOLDEN)
  .filter((name) => name.endsWith('.json'))
  .map((name) => (JSON.parse(readFileSync(join(GOLDEN, name), 'utf8')) as { head: object }).head);

const MAX_BYTES = 1024 * 1024;

/** What a worker that was taken over can write: frames cut anywhere, lengths that lie, heads that are not valid. */
export const workerFrames = pure((random, note) => {
  const decoder = new FrameDecoder(MAX_BYTES);
  const sent = stream(random);
  note(sent.toString('base64'));
  try {
    for (let at = 0; at < sent.length; ) {
      const to = at + 1 + random.below(random.pick([1, 16, 4_096]));
      for (const { head } of decoder.push(sent.subarray(at, to)))
        for (const parse of [parseWorkerMessage, parseProcessMessage]) tryParse(parse, head);
      at = to;
    }
  } catch (error) {
    expectKnown(error, FrameError);
  }
});

function stream(random: Random): Buffer {
  const frames = random.list(4, () => {
    const head = random.chance(3) ? random.pick(HEADS) : random.changed(random.pick(HEADS));
    return Buffer.concat(encodeFrame(head as object, random.bytes(64)));
  });
  const whole = Buffer.concat(frames);
  return random.chance(2) ? random.mutated(whole) : whole;
}

function tryParse(parse: (head: Buffer) => { readonly type: string }, head: Buffer): void {
  try {
    const { type } = parse(head);
    if (typeof type !== 'string') throw new Error('a message without a type was believed');
  } catch (error) {
    expectKnown(error, FrameError);
  }
}
