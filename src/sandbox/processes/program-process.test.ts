import { expect, test } from 'vitest';
import type { Jail } from '../jail/jail.js';
import type { SharedSpec } from './process-spec.js';
import { ProgramProcess } from './program-process.js';

/** As Node does where it can make no more threads: it hangs, and says nothing. */
const hanging = {
  level: 'strict',
  spawn: () => ({ file: '/bin/sleep', args: ['60'], env: {}, descriptors: [] }),
} as unknown as Jail;

test('a process that hangs at start is killed after its timeout; the error says where to look', async () => {
  const shape = { language: 'node' } as unknown as SharedSpec;
  const starting = ProgramProcess.start(shape, {
    ...{ jail: hanging, build: 'none', startTimeoutMs: 100 },
    describe: () => ({}) as never,
  });
  await expect(starting).rejects.toMatchObject({
    code: 'worker_lost',
    message: expect.stringMatching(
      /^node could not be started .*did not complete the handshake within 100 ms: .*`ulimit -u`/,
    ),
  });
});
