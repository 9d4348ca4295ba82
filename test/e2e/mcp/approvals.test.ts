import { expect, test } from 'vitest';
import { PROGRAM } from '../../support/cli.js';
import { connectForms } from '../../support/form-client.js';
import { LedgerHome } from '../../support/ledger.js';

const WRITES = (count: number) => `import { write } from '@codemode/servers/ledger';
const all = await Promise.all(Array.from({ length: ${count} }, (_, n) => write({ text: String(n) })));
globalThis.__codemode_result__ = all.length;`;

test.each(['legacy', 'modern'] as const)(
  'a client of the %s era that can ask its user asks, and the answer comes in the same call [B16]',
  async (era) => {
    using home = new LedgerHome();
    const accept = () => ({ action: 'accept', content: { decision: 'approve' } });
    await using session = await connectForms(home, accept, era);
    const { result, diagnostics } = await session.run(WRITES(1));
    expect(result).toBe(1);
    expect(diagnostics.filter(({ code }) => code !== 'SERVER_TYPES')).toEqual([]);
    expect(session.questions).toHaveLength(1);
    expect(session.questions[0]?.message).toMatch(/ledger\/write: .*destructive[\s\S]*"text":"0"/);
    expect(home.lines).toEqual(['write 0']);
  },
);

test.each(['legacy', 'modern'] as const)('calls that are made together are one card (%s era)', async (era) => {
  using home = new LedgerHome();
  const accept = () => ({ action: 'accept', content: { decision: 'approve all' } });
  await using session = await connectForms(home, accept, era);
  expect((await session.run(WRITES(37))).result).toBe(37);
  expect(session.questions).toHaveLength(1);
  expect(session.questions[0]?.message).toContain('37 calls of ledger/write');
  expect(home.lines).toHaveLength(37);
});

const NO = [
  ['declines', { action: 'decline' }],
  ['denies', { action: 'accept', content: { decision: 'deny', reason: 'no' } }],
  ['sends nonsense', { action: 'accept', content: { decision: ['approve'], more: true } }],
] as const;

test.each((['legacy', 'modern'] as const).flatMap((era) => NO.map(([does, answer]) => [era, does, answer] as const)))(
  'in the %s era a user who %s has not approved, and is asked once',
  async (era, _, answer) => {
    using home = new LedgerHome();
    await using session = await connectForms(home, () => answer, era);
    const { diagnostics } = await session.run(WRITES(1));
    expect(diagnostics[0]?.message).toMatch(/a person denied it/);
    expect(session.questions).toHaveLength(1);
    expect(home.lines).toEqual([]);
  },
);

test.each(
  (['legacy', 'modern'] as const).flatMap(
    (era) =>
      [
        [era, 'nothing', { action: 'accept' }],
        [era, 'only a reason', { action: 'accept', content: { reason: 'fine' } }],
      ] as const,
  ),
)('in the %s era a form accepted with %s decides nothing: the call still waits', async (era, _, answer) => {
  using home = new LedgerHome();
  await using session = await connectForms(home, () => answer, era);
  const { diagnostics } = await session.run(WRITES(1));
  expect(diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
  expect(await home.pending()).toHaveLength(1);
  expect(session.questions).toHaveLength(1);
  expect(home.lines).toEqual([]);
});

test.each(['legacy', 'modern'] as const)(
  'in the %s era a denial is final for the run: repeating the call asks nobody again',
  async (era) => {
    using home = new LedgerHome();
    await using session = await connectForms(home, () => ({ action: 'decline' }), era);
    const { result } = await session.run(`import { write } from '@codemode/servers/ledger';
const said = [];
for (let n = 0; n < 15; n++) said.push(await write({ text: 'again' }).catch(({ message }) => message));
globalThis.__codemode_result__ = [said.length, new Set(said).size, said[0]];`);
    expect(result).toEqual([15, 1, expect.stringMatching(/a person denied it/)]);
    expect(session.questions).toHaveLength(1);
    expect(home.lines).toEqual([]);
  },
);

test('in the newer era two approvals ask twice, and a closed form leaves one open', async () => {
  using home = new LedgerHome();
  const answers = [{ action: 'accept', content: { decision: 'approve' } }, { action: 'cancel' }];
  await using session = await connectForms(home, () => answers.shift() ?? { action: 'cancel' }, 'modern');
  const { diagnostics } = await session.run(`import { write } from '@codemode/servers/ledger';
await write({ text: 'first' }); await write({ text: 'second' });`);
  expect(diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
  expect(await home.pending()).toMatchObject([{ arguments: { text: 'second' } }]);
  expect(home.lines).toEqual(['write first']);
});

test('without a form the run is suspended, resumed by the same host, and answered later [B16]', async () => {
  using home = new LedgerHome();
  await using session = await connectForms(home);
  const asked = await session.run(WRITES(2));
  const { runId = '', diagnostics } = asked;
  expect(diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
  // It was started by its path, and a shell finds no codemode.
  expect(asked).toMatchObject({
    notes: [`The user has no command called codemode. For it they type: ${process.execPath} ${PROGRAM}`],
  });
  const wait = (more = '') =>
    `import { wait } from '@codemode/results'; globalThis.__codemode_result__ = await wait(${JSON.stringify(runId)})${more};`;
  const startedMs = performance.now();
  const early = await session.run(wait('.catch(({ message, hint }) => ({ message, hint }))'), { timeoutMs: 2_000 });
  expect(early.result).toMatchObject({
    message: expect.stringMatching(
      /still waits for a person to decide about .*the time of this program is nearly over/,
    ),
    hint: expect.stringContaining(`Then call wait("${runId}") again`),
  });
  // It waited as long as it could, and had time left to say so.
  expect(performance.now() - startedMs).toBeGreaterThan(900);
  const waiting = session.run(wait());
  const [approval] = await home.pending();
  const { stdout } = await home.decideCard('approve', approval?.id ?? '');
  expect(stdout).not.toContain('runs resume');
  // No list of calls that went well, here either: the answer of a long run would cost more than all else.
  expect((await waiting).result).toEqual({ logs: [], result: 2, diagnostics: [] });
  const later = await session.run(wait());
  expect(later.result).toEqual({ logs: [], result: 2, diagnostics: [] });
  expect(home.lines.sort()).toEqual(['write 0', 'write 1']);
});

test('a tool called directly asks too, and the same call after an approval passes once', async () => {
  using home = new LedgerHome({
    approvals: { grace: '50ms' },
    defaults: { codeMode: { excludedTools: ['write'] } },
  });
  await using session = await connectForms(home);
  await expect
    .poll(async () => (await session.client.listTools()).tools.map(({ name }) => name), { timeout: 15_000 })
    .toContain('write');
  const call = async () => {
    const result = await session.client.callTool({ name: 'write', arguments: { text: 'direct' } });
    return { isError: result.isError === true, text: JSON.stringify(result.content) };
  };
  expect(await call()).toMatchObject({ isError: true, text: expect.stringMatching(/needs a person's approval/) });
  const [approval] = await home.pending();
  await home.decide('approve', approval?.id ?? '');
  expect(await call()).toMatchObject({ isError: false });
  expect(await call()).toMatchObject({ isError: true });
  expect(home.lines).toEqual(['write direct']);
});
