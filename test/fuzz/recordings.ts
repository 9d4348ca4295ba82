import { HostError } from '../../src/domain/errors.js';
import type { RunId } from '../../src/domain/run.js';
import { decodeRecording, encodeRecording, type Recording } from '../../src/host/recordings/recording.js';
import { replay } from '../../src/host/recordings/replay.js';
import { openJournal } from '../../src/sandbox/journal/journal.js';
import { openSandbox } from '../support/sandbox.js';
import { expectKnown, type Fuzzer } from './fuzzer.js';

const MAX_WAIT_MS = 20_000;

/** A recording that somebody wrote is refused, or run again to an end, within the limits of every program. */
export async function openRecordings(): Promise<Fuzzer> {
  const box = await openSandbox({ max: 2 });
  const program = box.program(
    `import { ask } from '@codemode/servers/test'; globalThis.__codemode_result__ = [await ask({}), Date.now()];`,
    { functions: { ask: () => null }, limits: { timeoutMs: 500 } },
  );
  const journal = openJournal('0b9c6f0e-6a53-4a55-9d0b-4f1f8a3f7c11' as RunId, program, '1', 1);
  const body = Buffer.from('"answer"');
  const recording = {
    ...{ runId: 'a', caller: 'b', codeDigest: 'c', environment: { build: 'd', node: 'e', isolation: 'strict' } },
    journal: {
      ...journal,
      deliveries: [{ kind: 'result', call: 1, atMs: 2, body }],
      calls: [{ target: 'test/ask', argumentsDigest: 'f' }],
    },
    calls: [{ number: 1, target: 'test/ask', argumentsJson: '[{}]' }],
    outcome: { status: 'completed', resultJson: '["answer",2]' },
  } as unknown as Recording;
  const whole = JSON.parse(encodeRecording(recording)) as object;
  return {
    attempt: async (random, note) => {
      const text = JSON.stringify(random.changed(whole, 8)) ?? '';
      const given = random.chance(4) ? random.mutated(Buffer.from(text)).toString('utf8') : text;
      note(given);
      try {
        const read = decodeRecording(given);
        if (!('journal' in read)) return;
        const late = new Promise<never>((_, reject) => {
          setTimeout(() => reject(new Error(`no end within ${MAX_WAIT_MS} ms`)), MAX_WAIT_MS).unref();
        });
        await Promise.race([replay(box.sandbox, read), late]);
      } catch (error) {
        expectKnown(error, HostError);
      }
    },
    [Symbol.asyncDispose]: () => box[Symbol.asyncDispose](),
  };
}
