import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import type { RunResponse } from '../../src/profiles/codemode/render.js';
import { PROGRAM } from '../support/cli.js';
import { LedgerHome } from '../support/ledger.js';

interface Question {
  readonly message: string;
  readonly requestedSchema: { readonly properties: { readonly decision: { readonly enum: readonly string[] } } };
}

/** A client with a user who answers forms or without one. */
async function connect(home: LedgerHome, answer?: (question: Question) => object, era: 'legacy' | 'modern' = 'legacy') {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, '--config', home.config, 'mcp'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home.folder,
      CODEMODE_HOME: home.path('state'),
      CODEMODE_KEYRING: 'file',
    },
    stderr: 'ignore',
  });
  const client = new Client(
    { name: 'test client', version: '0' },
    {
      capabilities: answer === undefined ? {} : { elicitation: {} },
      versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    },
  );
  const questions: Question[] = [];
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params as unknown as Question);
      return answer(params as unknown as Question) as never;
    });
  await client.connect(transport);
  return {
    questions,
    client,
    run: async (code: string, limits: Record<string, number> = {}) => {
      const { structuredContent } = await client.callTool({ name: 'codemode_run', arguments: { code, limits } });
      return structuredContent as unknown as RunResponse;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const WRITES = (count: number) => `import { write } from '@codemode/servers/ledger';
const all = await Promise.all(Array.from({ length: ${count} }, (_, n) => write({ text: String(n) })));
globalThis.__codemode_result__ = all.length;`;

test.each(['legacy', 'modern'] as const)(
  'a client of the %s era that can ask its user asks, and the answer comes in the same call [B16]',
  async (era) => {
    using home = new LedgerHome();
    const accept = () => ({ action: 'accept', content: { decision: 'approve' } });
    await using session = await connect(home, accept, era);
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
  await using session = await connect(home, accept, era);
  expect((await session.run(WRITES(37))).result).toBe(37);
  expect(session.questions).toHaveLength(1);
  expect(session.questions[0]?.message).toContain('37 calls of ledger/write');
  expect(home.lines).toHaveLength(37);
});

test.each([
  ['declines', { action: 'decline' }],
  ['denies', { action: 'accept', content: { decision: 'deny', reason: 'no' } }],
  ['sends nonsense', { action: 'accept', content: { decision: ['approve'], more: true } }],
  ['sends nothing', { action: 'accept' }],
])('a user who %s has not approved', async (_, answer) => {
  using home = new LedgerHome();
  await using session = await connect(home, () => answer);
  const { diagnostics } = await session.run(WRITES(1));
  expect(diagnostics[0]?.message).toMatch(/a person denied it/);
  expect(home.lines).toEqual([]);
});

test('in the newer era a program that asks twice is asked about twice, and a closed form leaves the question open', async () => {
  using home = new LedgerHome();
  const answers = [{ action: 'accept', content: { decision: 'approve' } }, { action: 'cancel' }];
  await using session = await connect(home, () => answers.shift() ?? { action: 'cancel' }, 'modern');
  const { diagnostics } = await session.run(`import { write } from '@codemode/servers/ledger';
await write({ text: 'first' }); await write({ text: 'second' });`);
  expect(diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
  expect(await home.pending()).toMatchObject([{ arguments: { text: 'second' } }]);
  expect(home.lines).toEqual(['write first']);
});

test('without a form the program sleeps, goes on in the same host when it is approved, and a later program gets its response [B16]', async () => {
  using home = new LedgerHome();
  await using session = await connect(home);
  const { runId = '', diagnostics } = await session.run(WRITES(2));
  expect(diagnostics).toMatchObject([{ code: 'APPROVAL_PENDING' }]);
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
  const { stdout } = await home.decide('approve', approval?.id ?? '', '--scope', 'calls');
  expect(stdout).not.toContain('runs resume');
  expect((await waiting).result).toMatchObject({ result: 2 });
  const later = await session.run(wait());
  expect(later.result).toMatchObject({ result: 2 });
  expect(home.lines.sort()).toEqual(['write 0', 'write 1']);
});

test('a tool that is called directly asks too, and the same call made again after a yes goes through once', async () => {
  using home = new LedgerHome({
    approvals: { grace: '50ms' },
    defaults: { codeMode: { excludedTools: ['write'] } },
  });
  await using session = await connect(home);
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
