import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LedgerHome } from '../../support/ledger.js';

interface Verdict {
  readonly runId: string;
  readonly same: boolean;
  readonly difference?: string;
  readonly live?: readonly { readonly tool: string; readonly state: string; readonly detail?: string }[];
}

const PROGRAM = `import { look } from '@codemode/servers/ledger';
const seen = await Promise.all([look({ text: 'a' }), look({ text: 'b', delayMs: 20 })]);
await new Promise((resolve) => setTimeout(resolve, 5));
globalThis.__codemode_result__ = { seen: seen.map(({ lines }) => lines), at: Date.now(), dice: Math.random() };`;

async function recorded(home: LedgerHome, source = PROGRAM): Promise<string> {
  await home.program(source);
  const [run] = await home.json<{ runId: string }[]>(['runs', '--json']);
  return run?.runId ?? '';
}

const replay = (home: LedgerHome, ...words: string[]) =>
  home.json<Verdict>(['--config', home.config, 'replay', ...words, '--json']);

describe('a recorded run', () => {
  test('comes out the same again, clock, dice and timers included, and no server is called [B21]', async () => {
    using home = new LedgerHome();
    const runId = await recorded(home);
    const before = home.lines;
    expect(await replay(home, runId)).toEqual({ runId, same: true });
    expect(home.lines).toEqual(before);
  });

  test('that failed fails in the same way [B21]', async () => {
    using home = new LedgerHome();
    const runId = await recorded(home, `throw new TypeError('at ' + Date.now());`);
    expect(await replay(home, runId)).toEqual({ runId, same: true });
  });

  test('that was suspended in between gives the same result', async () => {
    using home = new LedgerHome();
    const { runId = '' } = await home.program(`import { look, write } from '@codemode/servers/ledger';
await look({}); const { lines } = await write({ text: 'x' }); globalThis.__codemode_result__ = [lines, Math.random()];`);
    const [approval] = await home.pending();
    await home.decide('approve', approval?.id ?? '');
    await home.resume(runId);
    expect(await replay(home, runId)).toEqual({ runId, same: true });
    expect(home.lines).toEqual(['look ', 'write x']);
  });

  test('is carried to another machine as a file, and a changed one is seen to differ, and where [B21]', async () => {
    using home = new LedgerHome();
    const runId = await recorded(home);
    const file = home.path('fixture.json');
    expect((await home.run(['replay', runId, '--export', file])).status).toBe(0);
    using elsewhere = new LedgerHome();
    expect(await replay(elsewhere, file)).toEqual({ runId, same: true });
    const recording = JSON.parse(readFileSync(file, 'utf8')) as {
      journal: { source: string; deliveries: { kind: string; body?: string }[] };
    };
    const asked = { ...recording, journal: { ...recording.journal, source: PROGRAM.replace("'b'", "'c'") } };
    writeFileSync(file, JSON.stringify(asked));
    expect(await replay(elsewhere, file)).toMatchObject({ same: false, difference: expect.stringMatching(/^call 2 /) });
    const body = Buffer.from('{"did":"look","lines":99}').toString('base64');
    const deliveries = recording.journal.deliveries.map((each) => (each.body === undefined ? each : { ...each, body }));
    writeFileSync(file, JSON.stringify({ ...recording, journal: { ...recording.journal, deliveries } }));
    expect(await replay(elsewhere, file)).toMatchObject({
      same: false,
      difference: expect.stringContaining('$.seen[0]'),
    });
  });

  test('compared with live servers shows what they answer now, and calls nothing that writes', async () => {
    using home = new LedgerHome();
    const { runId = '' } = await home.program(`import { look, write } from '@codemode/servers/ledger';
await look({ text: 'x' }); await write({ text: 'x' });`);
    const [approval] = await home.pending();
    await home.decide('approve', approval?.id ?? '');
    await home.resume(runId);
    const { same, live } = await replay(home, runId, '--against', 'live');
    expect(same).toBe(true);
    expect(live).toMatchObject([
      { tool: 'ledger/look', state: 'different', detail: 'at $.lines it was 1, now 3' },
      { tool: 'ledger/write', state: 'skipped' },
    ]);
    expect(home.lines).toEqual(['look x', 'write x', 'look x']);
  });
});

test('a forged recording is replayed as the person who runs it, not as the caller it names', async () => {
  using home = new LedgerHome({
    policy: [
      { tools: 'ledger/look', caller: 'stdio', profile: 'codemode', decision: 'allow' },
      { tools: 'ledger/look', profile: 'codemode', arguments: { text: 'forged' }, decision: 'deny' },
    ],
  });
  const runId = await recorded(home, `import { look } from '@codemode/servers/ledger'; await look({ text: 'mine' });`);
  const file = home.path('forged.json');
  await home.run(['replay', runId, '--export', file]);
  const forged = readFileSync(file, 'utf8').replaceAll('"command line"', '"stdio"').replaceAll('mine', 'forged');
  writeFileSync(file, forged);
  const { live } = await replay(home, file, '--against', 'live');
  expect(live).toMatchObject([
    { tool: 'ledger/look', state: 'failed', detail: expect.stringMatching(/policy denies/) },
  ]);
  expect(home.lines).toEqual(['look mine']);
});

test('a forged recording that asks for more time and memory gets the configured limits', async () => {
  using home = new LedgerHome({ sandbox: { limits: { maximum: { timeout: '500ms', memory: '16MiB' } } } });
  const runId = await recorded(home, 'globalThis.__codemode_result__ = 1;');
  const file = home.path('greedy.json');
  await home.run(['replay', runId, '--export', file]);
  const recording = JSON.parse(readFileSync(file, 'utf8')) as { journal: { limits: object } };
  const forged = (source: string) => {
    const limits = { ...recording.journal.limits, timeoutMs: 600_000, maxMemoryBytes: 2 ** 30 };
    writeFileSync(file, JSON.stringify({ ...recording, journal: { ...recording.journal, source, limits } }));
    return replay(home, file);
  };
  const failed = { same: false, difference: 'it succeeded then and failed now' };
  expect(await forged('for (;;) {}')).toMatchObject(failed);
  expect(await forged(`globalThis.__codemode_result__ = 'x'.repeat(2 ** 25).length;`)).toMatchObject(failed);
});

test('what is not a recording, and a run that nobody knows, are said to be so', async () => {
  using home = new LedgerHome();
  for (const content of ['', '{}', '[1]', '{"format":"codemode recording 1"}']) {
    const file = home.write('broken.json', content);
    expect(await home.run(['replay', file])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/not a recording/),
    });
  }
  expect(await home.run(['replay', 'nothing'])).toMatchObject({ status: 2, stderr: expect.stringMatching(/no run/) });
});
