import { expect, test } from 'vitest';
import { LedgerHome } from '../../support/ledger.js';

const WRITE = `import { write } from '@codemode/servers/ledger';
globalThis.__codemode_result__ = (await write({ text: 'one' })).did;`;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test('codemode runs wait waits for a run that another process resumes, and says how it ended', async () => {
  using home = new LedgerHome();
  const { runId = '' } = await home.program(WRITE);
  let hasEnded = false;
  const waiting = home.run(['--config', home.config, 'runs', 'wait', runId]).finally(() => {
    hasEnded = true;
  });
  const [approval] = await home.pending();
  await sleep(1_000);
  expect(hasEnded).toBe(false);
  await home.decide('approve', approval?.id ?? '');
  await home.resume(runId);
  const { status, stdout } = await waiting;
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ runId, state: 'succeeded', response: { result: 'write' } });
});

test('codemode runs wait ends with 3 where its time is over, 1 for a cancelled run, 2 for none', async () => {
  using home = new LedgerHome();
  const { runId = '' } = await home.program(WRITE);
  const wait = (...words: string[]) => home.run(['--config', home.config, 'runs', 'wait', ...words]);
  const late = await wait(runId, '--timeout', '300');
  expect(late).toMatchObject({ status: 3, stdout: expect.stringContaining('"state": "suspended"') });
  await home.run(['--config', home.config, 'runs', 'cancel', runId]);
  expect(await wait(runId)).toMatchObject({ status: 1, stdout: expect.stringContaining('"state": "cancelled"') });
  expect((await wait('00000000-0000-0000-0000-000000000000')).status).toBe(2);
  expect(await wait(runId, '--timeout', 'soon')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--timeout: expected milliseconds from 1'),
  });
});

test('wait(runId) waits while a person decides and another process resumes the run', async () => {
  using home = new LedgerHome();
  const { runId = '' } = await home.program(WRITE);
  const waiting = home.program(`import { wait } from '@codemode/results';
globalThis.__codemode_result__ = (await wait('${runId}')).result;`);
  const [approval] = await home.pending();
  await sleep(1_000);
  await home.decide('approve', approval?.id ?? '');
  await home.resume(runId);
  expect(await waiting).toMatchObject({ result: 'write', diagnostics: [], status: 0 });
});

test('a program that takes only the result of a run that failed is told that it failed', async () => {
  using home = new LedgerHome();
  await home.program(`throw new Error('no such order');`);
  const ask = (what: string) =>
    home.program(`import { wait } from '@codemode/results';
globalThis.__codemode_result__ = (await wait('last'))${what};`);
  const { diagnostics } = await ask('.result');
  expect(diagnostics).toMatchObject([
    {
      severity: 'warning',
      code: 'WAITED_RUN_FAILED',
      message: expect.stringMatching(/^run \S+ failed: .*no such order/),
    },
  ]);
});

test('wait("last") waits for the newest run of the caller that is not the one that asks', async () => {
  using home = new LedgerHome();
  const ask = `import { wait } from '@codemode/results';
globalThis.__codemode_result__ = await wait('last').then(({ result }) => result, (error) => error.message);`;
  expect((await home.program(ask)).result).toBe('nothing is kept for you under "last"');
  await home.program('globalThis.__codemode_result__ = 42;');
  expect((await home.program(ask)).result).toBe(42);
});

test('wait(runId) says at once that a run was cancelled, or that there is none', async () => {
  using home = new LedgerHome();
  const { runId = '' } = await home.program(WRITE);
  await home.run(['--config', home.config, 'runs', 'cancel', runId]);
  const { result } = await home.program(`import { wait } from '@codemode/results';
const said = [];
for (const id of ['${runId}', 'none']) said.push(await wait(id).catch((error) => error.message));
globalThis.__codemode_result__ = said;`);
  expect(result).toEqual([`run ${runId} was cancelled`, 'nothing is kept for you under "none"']);
});
