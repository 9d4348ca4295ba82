import { describe, expect, test } from 'vitest';
import { connectForms } from '../support/form-client.js';
import { LedgerHome } from '../support/ledger.js';
import { needsTerminal, Terminal } from '../support/terminal.js';
import { fixture } from '../support/upstreams.js';

const WRITE = `import { write } from '@codemode/servers/ledger';
const answer = await write({ text: 'mail' });
globalThis.__codemode_result__ = answer.did;`;

describe('a direct call', () => {
  const direct = (more: object = {}) =>
    new LedgerHome({ approvals: { grace: '20s' }, defaults: { codeMode: { excludedTools: ['write'] } }, ...more });
  type Client = Awaited<ReturnType<typeof connectForms>>['client'];
  const call = async (client: Client, signal?: AbortSignal) => {
    const request = { name: 'write', arguments: { text: 'direct' } };
    return (await client.callTool(request, signal === undefined ? {} : { signal })).isError !== true;
  };
  const isListed = async ({ client }: { readonly client: Client }) =>
    expect
      .poll(async () => (await client.listTools()).tools.map(({ name }) => name), { timeout: 15_000 })
      .toContain('write');

  test('made three times at once, in two hosts, goes through once for one yes', async () => {
    using home = direct();
    await using one = await connectForms(home);
    await using two = await connectForms(home);
    await Promise.all([isListed(one), isListed(two)]);
    const enough = new AbortController();
    const all = [one, one, two].map(({ client }) => call(client, enough.signal));
    await expect.poll(async () => (await home.pending()).length, { timeout: 15_000 }).toBe(1);
    const [approval] = await home.pending();
    const id = approval?.id ?? '';
    const forARun = await home.decide('approve', id, '--scope', 'run');
    expect(forARun).toMatchObject({ status: 2, stderr: expect.stringContaining('belongs to no run') });
    await home.decide('approve', id);
    expect(await Promise.race(all)).toBe(true);
    // The others ask again.
    const isAskedAgain = async () => (await home.pending()).some((each) => each.id !== id);
    await expect.poll(isAskedAgain, { timeout: 15_000 }).toBe(true);
    enough.abort();
    await Promise.allSettled(all);
    expect(home.lines).toEqual(['write direct']);
  });

  test('is not offered to be approved for a run, and a client that sends it anyway is denied', async () => {
    using home = direct();
    const accept = () => ({ action: 'accept', content: { decision: 'approve for this run' } });
    await using session = await connectForms(home, accept);
    await isListed(session);
    expect(await call(session.client)).toBe(false);
    expect(session.questions[0]?.requestedSchema.properties.decision.enum).toEqual([
      'approve',
      'approve for an hour',
      'deny',
    ]);
    expect(home.lines).toEqual([]);
  });
});

test('a yes for an hour or a run is none once the run has private data', async () => {
  const ledger = (file: string, ...labels: string[]) => ({
    command: process.execPath,
    args: [fixture('ledger-server.mjs'), file],
    labels,
  });
  using home = new LedgerHome();
  home.write('codemode.config.json', {
    approvals: { grace: '50ms' },
    mcpServers: { ledger: ledger(home.ledger, 'external'), crm: ledger(home.path('crm.txt'), 'private') },
  });
  await home.program(WRITE);
  const [first] = await home.pending();
  await home.decide('approve', first?.id ?? '', '--scope', 'hour');
  expect(await home.program(WRITE)).toMatchObject({ status: 0, result: 'write' });
  // The run is asked about for its data, gets a yes for the run, and reads nothing new after that.
  const { runId = '', status } = await home.program(`import { look } from '@codemode/servers/crm';
import { write, erase } from '@codemode/servers/ledger';
await look({}); await write({ text: 'leaves' }); await write({ text: 'again' }); await erase({});`);
  expect(status).toBe(3);
  const open = async () => (await home.pending()).filter((each) => each.runId === runId);
  expect(await open()).toMatchObject([{ reason: expect.stringContaining('private data from crm') }]);
  await home.decide('approve', (await open())[0]?.id ?? '', '--scope', 'run');
  expect(await home.resume(runId)).toMatchObject({ state: 'suspended' });
  expect(await open()).toMatchObject([{ toolName: 'erase' }]);
  expect(home.lines).toEqual(['write mail', 'write leaves', 'write again']);
});

test('an approval for an hour covers later calls, and no pending call of another run', async () => {
  using home = new LedgerHome();
  const shown = (await home.program(WRITE)).runId ?? '';
  const other = (await home.program(WRITE.replace("'mail'", "'unseen'"))).runId ?? '';
  const ofRun = async (runId: string) => (await home.pending()).find((each) => each.runId === runId)?.id;
  await home.decide('approve', (await ofRun(shown)) ?? '', '--scope', 'hour');
  expect(await ofRun(other)).toBeDefined();
  expect(await home.show(other)).toMatchObject({ state: 'suspended' });
  expect(await home.program(WRITE.replace("'mail'", "'later'"))).toMatchObject({ status: 0 });
  expect(await home.resume(shown)).toMatchObject({ state: 'succeeded' });
  expect(home.lines.toSorted()).toEqual(['write later', 'write mail']);
});

describe('a grant', () => {
  test('is listed and revoked by the approver alone, and the next call asks again', async () => {
    using home = new LedgerHome();
    await home.program(WRITE);
    const [first] = await home.pending();
    const id = first?.id ?? '';
    const given = await home.decide('approve', id, '--scope', 'hour');
    expect(given.stdout).toContain(
      `ledger/write is called without asking for an hour; to end that: codemode approvals revoke ${id}\n`,
    );
    // Without the secret and without a terminal, as an agent's shell is.
    const byAgent = await home.run(['--config', home.config, 'approvals', 'revoke', id]);
    expect(byAgent).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("a decision needs a terminal, or the approver's secret"),
    });
    const listed = await home.run(['--config', home.config, 'approvals', 'grants', '--json']);
    expect(JSON.parse(listed.stdout)).toEqual([
      {
        ...{
          id,
          scope: 'hour',
          caller: expect.any(String),
          serverId: 'ledger',
          toolName: 'write',
          reason: first?.reason,
        },
        expiresAt: expect.stringMatching(/Z$/),
        decision: { by: expect.stringContaining('(secret)'), at: expect.stringMatching(/Z$/) },
      },
    ]);
    expect((await home.run(['--config', home.config, 'approvals'])).stderr).toContain(
      '1 grant lets calls through without asking: codemode approvals grants\n',
    );
    expect(await home.program(WRITE.replace("'mail'", "'granted'"))).toMatchObject({ status: 0 });
    const revoked = await home.decide('revoke', id.slice(0, 6), '--reason', 'done');
    expect(revoked).toMatchObject({
      status: 0,
      stdout: `revoked: ${id}; the next call of ledger/write asks again\n`,
    });
    expect(await home.program(WRITE.replace("'mail'", "'later'"))).toMatchObject({ status: 3 });
    expect(home.lines).toEqual(['write granted']);
    expect((await home.run(['--config', home.config, 'approvals', 'grants'])).stderr).toBe(
      'no grants: every call that needs a decision asks\n',
    );
    expect(await home.decide('revoke', id)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`there is no grant "${id}"; list them with: codemode approvals grants`),
    });
    const { stdout } = await home.run(['--config', home.config, 'audit', '--json']);
    expect(stdout).toMatch(/"verdict": ?"revoked"/);
    expect(stdout).toMatch(/"reason": ?"done"/);
  });

  test('for a run is revoked while the run is suspended, and is none once it has ended', async () => {
    using home = new LedgerHome();
    const { runId = '' } = await home.program(`import { write, erase } from '@codemode/servers/ledger';
await write({ text: 'one' }); await erase({ text: 'all' }); await write({ text: 'two' });`);
    const open = async () => (await home.pending()).find((each) => each.runId === runId);
    const grants = async () =>
      JSON.parse((await home.run(['--config', home.config, 'approvals', 'grants', '--json'])).stdout) as {
        id: string;
      }[];
    const id = (await open())?.id ?? '';
    await home.decide('approve', id, '--scope', 'run');
    expect(await home.resume(runId)).toMatchObject({ state: 'suspended' });
    expect(await grants()).toMatchObject([{ id, scope: 'run', runId }]);
    await home.decide('revoke', id);
    await home.decide('approve', (await open())?.id ?? '');
    expect(await home.resume(runId)).toMatchObject({ state: 'suspended' });
    expect(await open()).toMatchObject({ toolName: 'write', arguments: { text: 'two' } });
    await home.decide('approve', (await open())?.id ?? '', '--scope', 'run');
    expect(await home.resume(runId)).toMatchObject({ state: 'succeeded' });
    expect(home.lines).toEqual(['write one', 'erase all', 'write two']);
    expect(await grants()).toEqual([]);
  });
});

describe('codemode approvals approve on a terminal', () => {
  const suspendedRun = async (home: LedgerHome, calls: string) => {
    await home.program(`import { write } from '@codemode/servers/ledger'; await ${calls};`);
    return (await home.pending())[0]?.id ?? '';
  };

  test('shows what the message has cut and asks: without a yes nothing is approved', needsTerminal, async () => {
    using home = new LedgerHome();
    const id = await suspendedRun(home, `write({ text: 'x'.repeat(200) + ' shown' })`);
    const words = ['--config', home.config, 'approvals', 'approve', id];
    using first = new Terminal(home, words);
    const card = await first.sees('Approve this call? [y/N] ');
    expect(card).toContain(' shown"');
    expect(card).toMatch(/sha256 \w{64}/);
    first.type('\r');
    expect((await first.ended()).status).toBe(1);
    expect(await home.pending()).toHaveLength(1);
    using second = new Terminal(home, words);
    await second.sees('Approve this call? [y/N] ');
    second.type('y\r');
    expect((await second.ended()).shown).toContain(`approved: ${id}`);
  });

  test('with scope calls shows each of them, and without a terminal wants their digest', needsTerminal, async () => {
    using home = new LedgerHome();
    const id = await suspendedRun(home, `Promise.all(['one', 'two'].map((text) => write({ text })))`);
    const refused = await home.decide('approve', id, '--scope', 'calls');
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('2 calls that were not named') });
    using terminal = new Terminal(home, ['--config', home.config, 'approvals', 'approve', id, '--scope', 'calls']);
    const card = await terminal.sees('Approve these 2 calls? [y/N] ');
    for (const text of ['one', 'two']) expect(card).toContain(`"text": "${text}"`);
    terminal.type('y\r');
    expect((await terminal.ended()).shown).toContain('approved: 2 calls');
    expect(await home.pending()).toEqual([]);
  });
});
