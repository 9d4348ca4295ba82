import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Approval } from '../../src/domain/approval.js';
import type { RunId } from '../../src/domain/run.js';
import { Run, type RunCallDelegate } from '../../src/host/runs/run.js';
import { CALLER, openSandbox, result, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 1 });
});
afterAll(() => box[Symbol.asyncDispose]());

/** A program that needs an approval and cannot be suspended, because the disk is full. `decide` answers its calls. */
async function start(source: string, timeoutMs: number) {
  let failed = () => {};
  const putAwayFailed = new Promise<void>((resolve) => {
    failed = resolve;
  });
  let decide = () => {};
  const answer = (_: unknown, hooks: RunCallDelegate) =>
    new Promise<{ ok: true; json: string }>((resolve, reject) => {
      hooks.onPending({ id: randomUUID() } as Approval);
      hooks.signal.addEventListener('abort', () => reject(new Error('nobody waits')));
      decide = () => {
        hooks.onDecided();
        resolve({ ok: true, json: '"approved"' });
      };
    });
  const suspend = async () => {
    failed();
    throw new Error('no space left on device');
  };
  const nothing = () => {};
  const run = await Run.start(
    box.sandbox,
    box.program(source, { functions: { ask: () => null }, limits: { timeoutMs } }),
    randomUUID() as RunId,
    {
      caller: CALLER,
      calls: { answer },
      patienceMs: 20,
      client: {},
      records: { suspend, callMade: nothing, callSent: nothing, delivered: nothing, settled: nothing },
    },
  );
  await putAwayFailed;
  return { ended: run.ended, decide: () => decide() };
}

const TIMED_OUT = { state: 'ended', report: { outcome: { status: 'failed', failure: { limit: 'timeout' } } } };

test('a program whose suspension failed spends its time while computing, though calls wait', async () => {
  const { ended } = await start(
    `import { ask } from '@codemode/servers/test';
const compute = () => { const until = Date.now() + 5; while (Date.now() < until); setTimeout(compute, 1); };
compute();
await ask();`,
    600,
  );
  expect(await ended).toMatchObject(TIMED_OUT);
});

test('a program whose put-away failed spends its time after the decision', async () => {
  const { ended, decide } = await start(`import { ask } from '@codemode/servers/test'; await ask(); for (;;);`, 400);
  await new Promise((resolve) => setTimeout(resolve, 100));
  decide();
  expect(await ended).toMatchObject(TIMED_OUT);
});

test('a program whose put-away failed spends no time while it only waits for a person', async () => {
  const { ended, decide } = await start(`import { ask } from '@codemode/servers/test'; ${result('await ask()')}`, 400);
  await new Promise((resolve) => setTimeout(resolve, 700));
  decide();
  expect(await ended).toMatchObject({ report: { outcome: { status: 'completed', resultJson: '"approved"' } } });
});
