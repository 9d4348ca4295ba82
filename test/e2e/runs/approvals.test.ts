import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { LedgerHome } from '../../support/ledger.js';
import { fixture } from '../../support/upstreams.js';

const WRITE = (text: string) => `import { write } from '@codemode/servers/ledger';
const answer = await write({ text: ${JSON.stringify(text)} });
globalThis.__codemode_result__ = answer.did;`;

describe('a call that needs a person', () => {
  test('is answered with its arguments, that it was not sent, and until when it waits', async () => {
    using home = new LedgerHome();
    const { diagnostics } = await home.program(WRITE('one'));
    const [approval] = await home.pending();
    const deadline = (approval?.expiresAt ?? '').replace(/\.\d+Z$/, 'Z');
    expect(diagnostics[0]?.message).toMatch(
      /: ledger\/write \{"text":"one"\} \(.*destructive.*\)\. This call was not sent yet;/,
    );
    expect(diagnostics[0]?.message).toContain(`without a decision by ${deadline} it is refused`);
    expect(home.lines).toEqual([]);
  });

  test('is answered with arguments that are redacted and bounded', async () => {
    using home = new LedgerHome();
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const { diagnostics } = await home.program(WRITE(`${token} ${'x'.repeat(5_000)}`));
    expect(diagnostics[0]?.message).not.toContain(token);
    expect(diagnostics[0]?.message).toMatch(
      /ledger\/write \{"text":"\[redacted:[^\]]+\] x+… \(\d+ more characters\) \(/,
    );
    expect(diagnostics[0]?.message.length).toBeLessThan(600);
  });

  test('suspends its run, and the response says what is pending and how to continue [B15]', async () => {
    using home = new LedgerHome();
    const { result, runId, diagnostics, status } = await home.program(WRITE('one'));
    expect({ result, status, lines: home.lines }).toEqual({ result: null, status: 3, lines: [] });
    const [approval] = await home.listed();
    expect(approval).toMatchObject({
      runId,
      serverId: 'ledger',
      toolName: 'write',
      arguments: { text: 'one' },
      state: 'PENDING',
      reason: expect.stringContaining('destructive'),
    });
    expect(Date.parse(approval?.expiresAt ?? '')).toBeGreaterThan(Date.parse(approval?.createdAt ?? ''));
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: 'APPROVAL_PENDING',
        message: expect.stringContaining('This process has ended: after the decision the run is resumed by a command'),
        hint: `Type: codemode approvals approve ${approval?.id}; then: codemode runs resume ${runId}`,
      }),
    ]);
    expect(await home.show(runId ?? '')).toMatchObject({ runId, state: 'suspended', response: null });
  });

  test('is made after its approval by a host started later, and its outcome can be fetched [B16]', async () => {
    using home = new LedgerHome();
    const { runId = '' } = await home.program(WRITE('two'));
    const [approval] = await home.pending();
    const decided = await home.decide('approve', approval?.id ?? '', '--reason', 'looks right');
    expect(decided).toMatchObject({ status: 0, stdout: expect.stringContaining(`codemode runs resume ${runId}`) });
    expect(home.lines).toEqual([]);
    expect(await home.resume(runId)).toMatchObject({ state: 'succeeded', response: { result: 'write' } });
    expect(await home.resume(runId)).toMatchObject({ state: 'succeeded' });
    expect(home.lines).toEqual(['write two']);
    const [shown] = await home.json<{ state: string; decision: { reason: string } }[]>([
      'approvals',
      '--all',
      '--json',
    ]);
    expect(shown).toMatchObject({ state: 'APPROVED', decision: { reason: 'looks right' } });
  });

  test('is refused where it was denied, and the program is told why [B16]', async () => {
    using home = new LedgerHome();
    const { runId = '' } = await home.program(`import { write } from '@codemode/servers/ledger';
globalThis.__codemode_result__ = await write({ text: 'three' }).catch((error) => error.message);`);
    const [approval] = await home.pending();
    await home.decide('deny', approval?.id ?? '', '--reason', 'not on Sundays');
    const { response } = await home.resume(runId);
    expect(response?.result).toMatch(/a person denied it: not on Sundays/);
    expect(home.lines).toEqual([]);
  });

  test('is refused where nobody decided in time [B16]', async () => {
    using home = new LedgerHome({ approvals: { grace: '50ms', expireAfter: '1s' } });
    const { runId = '' } = await home.program(WRITE('late'));
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await home.pending()).toEqual([]);
    const { state, response } = await home.resume(runId);
    expect(state).toBe('failed');
    expect(response?.diagnostics[0]?.message).toMatch(/nobody approved it in time/);
    expect(home.lines).toEqual([]);
  });
});

test('the card shows the line that makes the call, also where it is not called by its own name [B16]', async () => {
  using home = new LedgerHome();
  await home.program(`import { write } from '@codemode/servers/ledger';
interface Entry { readonly text: string }

const note = async (entry: Entry) => {
  const keep = write;
  return keep(entry);
};

await note({ text: 'kept' });`);
  const [approval] = await home.pending();
  const { code } = await home.json<{ code: string }>([
    ...['--config', home.config, 'approvals', 'show', approval?.id ?? '', '--json'],
  ]);
  expect(code.split('\n').filter((line, index) => index === 0 || line.startsWith('>'))).toEqual([
    'called at line 6, which does not name write',
    '> 6 |   return keep(entry);',
    "> 9 | await note({ text: 'kept' });",
  ]);
  expect(code).toContain('  5 |   const keep = write;');
});

describe('an approval', () => {
  test('covers one call and no other', async () => {
    using home = new LedgerHome();
    const { runId = '' } = await home.program(`import { write } from '@codemode/servers/ledger';
await write({ text: 'first' }); await write({ text: 'second' });`);
    const [first] = await home.pending();
    await home.decide('approve', first?.id ?? '');
    expect(await home.resume(runId)).toMatchObject({ state: 'suspended' });
    expect(home.lines).toEqual(['write first']);
    expect(await home.pending()).toMatchObject([{ arguments: { text: 'second' } }]);
  });

  test.each([
    ['calls', 'Promise.all([1, 2, 3].map((n) => write({ text: String(n) })))', 3],
    ['run', '(async () => { for (const n of [1, 2, 3]) await write({ text: String(n) }); })()', 1],
  ])('with scope %s covers what is on its card', async (scope, calls, asked) => {
    using home = new LedgerHome();
    const { runId = '' } = await home.program(`import { write } from '@codemode/servers/ledger'; await ${calls};`);
    const pending = await home.pending();
    expect(pending).toHaveLength(asked);
    const id = pending[0]?.id ?? '';
    if (scope === 'calls') await home.decideCard('approve', id);
    else await home.decide('approve', id, '--scope', scope);
    expect(await home.resume(runId)).toMatchObject({ state: 'succeeded' });
    expect(home.lines.sort()).toEqual(['write 1', 'write 2', 'write 3']);
  });

  test('for an hour covers the next run too, and another tool is asked for still', async () => {
    using home = new LedgerHome();
    await home.program(WRITE('now'));
    const [approval] = await home.pending();
    await home.decide('approve', approval?.id ?? '', '--scope', 'hour');
    expect(await home.program(WRITE('later'))).toMatchObject({ status: 0, result: 'write' });
    const erase = await home.program(`import { erase } from '@codemode/servers/ledger'; await erase({});`);
    expect(erase.status).toBe(3);
  });

  test('counts once: the second person reads that the first has decided', async () => {
    using home = new LedgerHome();
    await home.program(WRITE('race'));
    const [approval] = await home.pending();
    const id = approval?.id ?? '';
    await home.secret();
    const both = await Promise.all([home.decide('approve', id), home.decide('deny', id)]);
    expect(both.map(({ status }) => status).sort()).toEqual([0, 1]);
    expect(both.find(({ status }) => status === 1)?.stderr).toMatch(/was (approved|denied) by .* before/);
  });
});

test('what waits for a person spends none of the program’s time', async () => {
  using home = new LedgerHome({ approvals: { grace: '1500ms' } });
  const source = `import { write } from '@codemode/servers/ledger'; await write({ text: 'x' });`;
  const run = await home.run(['--config', home.config, 'run', '-', '--timeout', '1000'], { input: source });
  expect(run.status).toBe(3);
});

test('an approval shows its arguments and the code around the call', async () => {
  using home = new LedgerHome();
  await home.program(`// line one\n${WRITE('shown')}`);
  const [approval] = await home.pending();
  const { stdout } = await home.run(['approvals', 'show', approval?.id ?? '']);
  expect(stdout).toContain('"text": "shown"');
  expect(stdout).toContain('3 | const answer = await write({ text: "shown" });');
});

describe('a run that waits while the configuration changes', () => {
  const other = { command: process.execPath, args: [fixture('everyday-server.mjs')] };

  /** A program that waits for its approved call; then `change` is done to the servers of the configuration. */
  async function approvedThen(home: LedgerHome, change: (servers: Record<string, object>) => void): Promise<string> {
    const { runId = '' } = await home.program(WRITE('kept'));
    const [approval] = await home.pending();
    await home.decide('approve', approval?.id ?? '');
    const config = JSON.parse(readFileSync(home.config, 'utf8'));
    change(config.mcpServers);
    writeFileSync(home.config, JSON.stringify(config));
    return runId;
  }

  test('continues beside a server that was added', async () => {
    using home = new LedgerHome();
    const runId = await approvedThen(home, (servers) => {
      servers.another = other;
    });
    expect(await home.resume(runId)).toMatchObject({ state: 'succeeded', response: { result: 'write' } });
    expect(home.lines).toEqual(['write kept']);
  });

  test('does not continue with a server that is another one now', async () => {
    using home = new LedgerHome();
    const runId = await approvedThen(home, (servers) => {
      servers.ledger = other;
    });
    const { status, stderr } = await home.run(['--config', home.config, 'runs', 'resume', runId]);
    expect({ status, lines: home.lines }).toEqual({ status: 2, lines: [] });
    expect(stderr).toContain('a server that this run was started with is missing or configured differently now');
  });

  test('does not resume if another server took the place of the one it was suspended with', async () => {
    using home = new LedgerHome();
    const runId = await approvedThen(home, (servers) => {
      servers['Ledger'] = servers.ledger as object;
      delete servers.ledger;
    });
    expect((await home.run(['--config', home.config, 'runs', 'resume', runId])).status).toBe(2);
    expect(home.lines).toEqual([]);
  });
});
