import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Database } from '../../../src/store/sqlite/database.js';
import { LedgerHome } from '../../support/ledger.js';
import { ended, nodeServer, openHome, openStdio, ready, run, runProgram, until } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

/** The record of calls, through the built program: killed, shared by several hosts, changed, and read. */

const base = mkdtempSync(join(tmpdir(), 'codemode-marks-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A home with a server that leaves a mark for each call it gets. */
function openNoting() {
  const marks = join(base, randomUUID());
  const home = openHome({ mcpServers: { noting: nodeServer(fixture('noting-server.mjs'), marks) } });
  return { ...home, countMarks: () => (existsSync(marks) ? statSync(marks).size : 0) };
}

const verify = async (home: ReturnType<typeof openHome>) => {
  const { stdout, status } = await runProgram(home, 'audit', 'verify', '--json');
  return { status, ...(JSON.parse(stdout) as { isIntact: boolean; records: number; problem?: { record: number } }) };
};

const FOREVER = `import { note, look } from '@codemode/servers/noting';
  for (;;) { await note({}); await look({}) }`;

test('hosts killed during calls leave a whole chain with every call that reached its server [B18]', async () => {
  using home = openNoting();
  for (let round = 0; round < 2; round++) {
    const before = home.countMarks();
    const sessions = await Promise.all([openStdio(home), openStdio(home)]);
    await Promise.all(sessions.map(({ client }) => ready(client, 'noting')));
    for (const { client } of sessions) void run(client, FOREVER).catch(() => {});
    await until(() => home.countMarks() > before + 60);
    // Both in the middle of a loop of calls, with no time to do anything.
    for (const { pid } of sessions) process.kill(pid, 'SIGKILL');
    await ended(sessions.map(({ pid }) => pid));
    await Promise.all(sessions.map(({ client }) => client.close().catch(() => {})));
    const report = await verify(home);
    expect(report).toMatchObject({ status: 0, isIntact: true });
    const { stdout } = await runProgram(home, 'audit', 'export', '--tool', 'note');
    const notes = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { runId: string; verdict: string });
    // Each host was killed with at most one call in flight, which may or may not have come to its server.
    const unknown = notes.filter(({ verdict }) => verdict === 'outcome_unknown').length;
    expect(unknown).toBeLessThanOrEqual(2 * (round + 1));
    expect(notes.length).toBeGreaterThanOrEqual(home.countMarks());
    expect(notes.length - unknown).toBeLessThanOrEqual(home.countMarks());
    expect(new Set(notes.map(({ verdict }) => verdict))).toEqual(
      new Set(['ok', ...(unknown > 0 ? ['outcome_unknown'] : [])]),
    );
    expect(new Set(notes.map(({ runId }) => runId)).size).toBe(2 * (round + 1));
  }
});

test('records are shown, filtered, verified, exported; a change is found and calls are refused [B18]', async () => {
  using home = openNoting();
  {
    await using session = await openStdio(home);
    await ready(session.client, 'noting');
    const { result } = await run(
      session.client,
      `import { note, look } from '@codemode/servers/noting';
       await look({ private: 'argument' });
       globalThis.__codemode_result__ = await note({});`,
    );
    expect(result).toBe('noted');
    // At the end of a run everything is on record, also of calls that only read.
    const { stdout } = await runProgram(home, 'audit', '--json');
    const { records } = JSON.parse(stdout) as { records: Record<string, unknown>[] };
    expect(records).toEqual([
      expect.objectContaining({ number: 1, serverId: 'noting', toolName: 'look', verdict: 'ok', resultBytes: 5 }),
      {
        number: 2,
        callId: expect.stringMatching(/^[\w-]{12}\.2$/),
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        runId: records[0]?.['runId'],
        caller: 'stdio',
        profile: 'codemode',
        codeDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        serverId: 'noting',
        toolName: 'note',
        argumentsDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        resultBytes: 5,
        durationMs: expect.any(Number),
        verdict: 'ok',
        approval: { state: 'NOT_REQUIRED' },
        redactions: {},
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(stdout).not.toContain('private');
  }
  const lines = async (...words: string[]) => (await runProgram(home, ...words)).stdout.trimEnd().split('\n');
  expect(await lines('audit', '--tool', 'note')).toEqual([expect.stringMatching(/noting\/note {2}ok/)]);
  expect(await lines('audit', 'export', '--since', '1h')).toHaveLength(2);
  expect(await runProgram(home, 'audit', '--server', 'other')).toMatchObject({ status: 0, stdout: '' });
  expect(await runProgram(home, 'audit', '--since', 'someday')).toMatchObject({ status: 2 });
  const head = /head (\d+:[0-9a-f]{64})/.exec((await lines('audit', 'verify')).join('\n'))?.[1] as string;
  expect(await runProgram(home, 'audit', 'verify', '--head', head)).toMatchObject({ status: 0 });
  expect(await runProgram(home, 'audit', 'verify', '--head', head.replace(/^2/, '3'))).toMatchObject({ status: 1 });

  const database = await Database.open(home.state);
  database.prepare("UPDATE audit SET tool_name = 'look' WHERE number = 2").run();
  database.prepare('DELETE FROM audit WHERE number = 1').run();
  database.prepare('UPDATE audit SET number = 1').run();
  database.close();
  expect(await runProgram(home, 'audit', 'verify')).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/changed: record 1: .*hash/),
  });
  {
    await using session = await openStdio(home);
    await ready(session.client, 'noting');
    const { diagnostics } = await run(
      session.client,
      `import { note } from '@codemode/servers/noting'; await note({})`,
    );
    expect(diagnostics).toMatchObject([
      { severity: 'error', message: expect.stringMatching(/no call is made.*changed from outside/) },
    ]);
  }
  expect(await runProgram(home, 'audit', 'restart', '--reason', 'a test changed it')).toMatchObject({ status: 0 });
  expect(await runProgram(home, 'audit', 'verify')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('a test changed it'),
  });
  expect(readFileSync(join(home.state, 'audit.head'), 'utf8')).toContain('"count":2');
});

test('a call that is refused before it is made is on record too: wrong arguments, too many [B18]', async () => {
  using home = openNoting();
  {
    await using session = await openStdio(home);
    await ready(session.client, 'noting');
    await run(
      session.client,
      `import { look } from '@codemode/servers/noting';
       for (const input of [[5], [{}, {}], [{}], [{}], [{}]]) await look(...input).catch(() => {});`,
      { limits: { maxToolCalls: 3 } },
    );
  }
  const { stdout } = await runProgram(home, 'audit', 'export');
  const verdicts = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { verdict: string }).verdict);
  expect(verdicts).toEqual(['invalid_arguments', 'invalid_arguments', 'ok', 'limited']);
});

test('a call that waited for a person has its approval and decision on record, with who and why [B18]', async () => {
  using home = new LedgerHome();
  const { runId } = await home.program(`import { erase } from '@codemode/servers/ledger'; await erase({ text: 'a' });`);
  const [approval] = await home.pending();
  await home.decide('approve', approval?.id as string, '--reason', 'it is an old one');
  await home.resume(runId as string);
  const { records } = await home.json<{ records: object[] }>(['audit', '--json', '--run', runId as string]);
  expect(records).toMatchObject([
    { verdict: 'pending', approval: { state: 'PENDING', id: approval?.id } },
    { verdict: 'decided', approval: { state: 'APPROVED', id: approval?.id, reason: 'it is an old one' } },
    {
      verdict: 'ok',
      approval: { state: 'APPROVED', id: approval?.id, by: expect.any(String), reason: 'it is an old one' },
    },
  ]);
});
