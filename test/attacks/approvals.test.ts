import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fingerprint, settingOf } from '../../src/compose/server-identity.js';
import { Database } from '../../src/store/sqlite/database.js';
import { LedgerHome } from '../support/ledger.js';
import { openStdio, run } from '../support/program.js';
import { fixture } from '../support/upstreams.js';

const WRITE = `import { write } from '@codemode/servers/ledger';
globalThis.__codemode_result__ = await write({ text: 'attack' }).catch((error) => error.message);`;

/** Somebody who can write to the file but does not have the key. */
async function tamper(home: LedgerHome, sql: string, ...values: string[]): Promise<void> {
  const database = await Database.open(home.path('state'));
  database.prepare(sql).run(...values);
  database.close();
}

async function suspendedRun(home: LedgerHome, source = WRITE) {
  const { runId = '' } = await home.program(source);
  return approvalOf(home, runId);
}

async function approvalOf(home: LedgerHome, runId: string) {
  const approval = (await home.pending()).find((each) => each.runId === runId);
  return { runId, id: approval?.id ?? '' };
}

/** Programs that wait for a person, each to write its own text, and whose host is gone. No test lets one write it. */
function sleepingPrograms<Text extends string>(...texts: readonly Text[]) {
  const home = new LedgerHome();
  const suspendedRuns = new Map<Text, Awaited<ReturnType<typeof approvalOf>>>();
  beforeAll(async () => {
    await using session = await openStdio(home.served);
    for (const text of texts) {
      const { runId = '' } = await run(session.client, WRITE.replace("'attack'", JSON.stringify(text)));
      suspendedRuns.set(text, await approvalOf(home, runId));
    }
  });
  afterEach(() => expect(home.lines).toEqual([]));
  afterAll(() => home[Symbol.dispose]());
  const of = (text: Text) => suspendedRuns.get(text) ?? { runId: '', id: '' };
  return { home, of };
}

describe('an agent that wants its own approval', () => {
  test('gets nowhere on the command line without a terminal or the secret', async () => {
    using home = new LedgerHome();
    const { id } = await suspendedRun(home);
    await home.secret();
    const words = ['--config', home.config, 'approvals', 'approve', id];
    for (const env of [{}, { CODEMODE_APPROVER_SECRET: 'guess' }, { CODEMODE_APPROVER_SECRET: '' }])
      expect(await home.run(words, { env })).toMatchObject({ status: 2, stderr: expect.stringContaining('secret') });
    expect(await home.run(['approvals', 'secret'])).toMatchObject({ status: 2, stdout: '' });
    expect(await home.pending()).toMatchObject([{ id, state: 'PENDING' }]);
  });

  describe('in one session', () => {
    const home = new LedgerHome();
    let session: Awaited<ReturnType<typeof openStdio>>;
    beforeAll(async () => {
      session = await openStdio(home.served);
    });
    afterAll(async () => {
      await session?.[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    });

    test.each([
      ['catches what stops it', `try { await write({ text: 'x' }); } catch {} finally { await look({}); }`],
      ['races it', `await Promise.race([write({ text: 'x' }), look({})]);`],
      ['hides the name', `const f = { w: write }['w']; await (0, f)({ text: 'x' });`],
      [
        'computes the name',
        `const all = await import('@codemode/servers/ledger'); await all['wri' + 'te']({ text: 'x' });`,
      ],
      ['calls it from a callback', `await Promise.all([1].map(async () => write({ text: 'x' })));`],
      ['calls it from a thenable', `await { then: (resolve) => write({ text: 'x' }).then(resolve) };`],
      ['takes it apart', `const { call } = Function.prototype; await call.call(write, null, { text: 'x' });`],
    ])('asks all the same when it %s', async (_, body) => {
      const code = `import { look, write } from '@codemode/servers/ledger'; ${body}`;
      const { diagnostics, runId } = await run(session.client, code);
      expect(diagnostics.map(({ code }) => code)).toContain('APPROVAL_PENDING');
      expect(home.lines.filter((line) => line.startsWith('write'))).toEqual([]);
      const asked = (await home.pending()).filter((each) => each.runId === runId);
      expect(asked).toMatchObject([{ toolName: 'write', arguments: { text: 'x' } }]);
    });
  });
});

describe('a yes that nobody gave', () => {
  const suspendedRuns = sleepingPrograms('written', 'approved', 'other', 'harmful', 'harmless', 'moved');

  test('written into the file is a no', async () => {
    const { home, of } = suspendedRuns;
    const { id, runId } = of('written');
    await tamper(home, "UPDATE approvals SET state = 'APPROVED', decided_by = 'root', decided_at = 1 WHERE id = ?", id);
    const { response } = await home.resume(runId);
    expect(response?.result).toMatch(/denied/);
  });

  test('taken from another call with its mark is a no', async () => {
    const { home, of } = suspendedRuns;
    await home.decide('approve', of('approved').id);
    await tamper(
      home,
      `UPDATE approvals SET (state, decided_by, decided_at, scope, mark) =
        (SELECT state, decided_by, decided_at, scope, mark FROM approvals WHERE id = ?) WHERE id = ?`,
      of('approved').id,
      of('other').id,
    );
    const { response } = await home.resume(of('other').runId);
    expect(response?.result).toMatch(/denied/);
  });

  test('to harmless arguments is not moved to those of another call', async () => {
    const { home, of } = suspendedRuns;
    const [{ runId }, { id }] = [of('harmful'), of('harmless')];
    await tamper(home, 'DELETE FROM approvals WHERE id = ?', of('harmful').id);
    // What is shown is sealed; which call it is shown for stands beside it.
    await tamper(
      home,
      `UPDATE approvals SET run = ?, arguments_digest = '${createHash('sha256').update('{"text":"harmful"}').digest('hex')}' WHERE id = ?`,
      ...[runId, id],
    );
    expect(await home.decide('approve', id)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('was changed'),
    });
    expect(await home.run(['--config', home.config, 'runs', 'resume', runId])).toMatchObject({ status: 2 });
  });

  test('moved to other arguments asks again', async () => {
    const { home, of } = suspendedRuns;
    const { id, runId } = of('moved');
    await home.decide('approve', id);
    await tamper(home, "UPDATE approvals SET arguments_digest = 'x' WHERE id = ?", id);
    await home.resume(runId);
  });
});

describe('a yes for an hour', () => {
  test('stretched from a tool for an hour to another tool is worth nothing', async () => {
    using home = new LedgerHome();
    const { id } = await suspendedRun(home);
    await home.decide('approve', id, '--scope', 'hour');
    const erase = `import { erase } from '@codemode/servers/ledger'; await erase({});`;
    // Its question tells what identifies it.
    expect((await home.program(erase)).status).toBe(3);
    await tamper(
      home,
      "UPDATE grants SET tool = 'erase', tool_digest = (SELECT tool_digest FROM approvals WHERE tool = 'erase')",
    );
    expect((await home.program(erase)).status).toBe(3);
    expect(home.lines).toEqual([]);
  });

  test('for an hour is not made longer', async () => {
    using home = new LedgerHome();
    const { id } = await suspendedRun(home);
    await home.decide('approve', id, '--scope', 'hour');
    await tamper(home, 'UPDATE grants SET expires_at = expires_at + 100000000');
    expect((await home.program(WRITE)).status).toBe(3);
    expect(home.lines).toEqual([]);
  });
});

describe('a suspended program', () => {
  const suspendedRuns = sleepingPrograms('program', 'context', 'caller', 'first', 'second');

  test.each([
    ['a bit of it was changed', 'program', 'UPDATE runs SET program = CAST(zeroblob(200) AS BLOB) WHERE id = ?'],
    ['what the host knows of it was changed', 'context', 'UPDATE runs SET context = zeroblob(200) WHERE id = ?'],
    ['its caller was changed', 'caller', "UPDATE runs SET caller = 'somebody else' WHERE id = ?"],
  ] as const)('is not resumed when %s, and nothing is called', async (_, text, sql) => {
    const { home, of } = suspendedRuns;
    const { id, runId } = of(text);
    await home.decide('approve', id);
    await tamper(home, sql, runId);
    const { state, response } = await home.resume(runId);
    expect(state).toBe('failed');
    expect(JSON.stringify(response)).toMatch(/start the run again/);
  });

  test('is not resumed as another run', async () => {
    const { home, of } = suspendedRuns;
    const [first, second] = [of('first'), of('second')];
    await home.decide('approve', first.id);
    await home.decide('deny', second.id);
    await tamper(
      home,
      'UPDATE runs SET program = (SELECT program FROM runs WHERE id = ?) WHERE id = ?',
      second.runId,
      first.runId,
    );
    expect(await home.resume(first.runId)).toMatchObject({ state: 'failed' });
  });
});

test('a tool that changes what it says of itself after it was approved is asked for again', async () => {
  using home = new LedgerHome();
  const server = home.path('ledger-server.mjs');
  const source = readFileSync(new URL('../fixtures/ledger-server.mjs', import.meta.url), 'utf8');
  writeFileSync(server, source);
  home.write('codemode.config.json', {
    approvals: { grace: '50ms' },
    mcpServers: { ledger: { command: process.execPath, args: [server, home.ledger] } },
  });
  const { id } = await suspendedRun(home);
  await home.decide('approve', id, '--scope', 'hour');
  expect((await home.program(WRITE)).status).toBe(0);
  writeFileSync(server, source.replace('s the ledger', 's the ledger, and everything beside it'));
  await home.run(['--config', home.config, 'servers', '--refresh']);
  expect((await home.program(WRITE)).status).toBe(3);
});

describe('a server that is started with another environment', () => {
  const configure = (home: LedgerHome, env: Record<string, string>) =>
    home.write('codemode.config.json', {
      approvals: { grace: '50ms' },
      mcpServers: {
        ledger: { command: process.execPath, args: [fixture('ledger-server.mjs'), home.ledger], env },
      },
    });

  test('is asked about again, and a run that was suspended before is not resumed with it', async () => {
    using home = new LedgerHome();
    configure(home, { DATABASE_URL: 'postgres://test/', API_TOKEN: 'first' });
    const { id } = await suspendedRun(home);
    await home.decide('approve', id, '--scope', 'hour');
    configure(home, { DATABASE_URL: 'postgres://test/', API_TOKEN: 'second' });
    expect((await home.program(WRITE)).status).toBe(0);
    configure(home, { DATABASE_URL: 'postgres://live/', API_TOKEN: 'second' });
    const { status, runId = '' } = await home.program(WRITE);
    expect(status).toBe(3);
    configure(home, { DATABASE_URL: 'postgres://other/', API_TOKEN: 'second' });
    for (const waiting of await home.pending()) await home.decide('approve', waiting.id);
    await home.run(['--config', home.config, 'runs', 'resume', runId]);
    expect((await home.show(runId)).state).toBe('suspended');
  });

  test('resumes what an earlier version suspended, which did not look at it', async () => {
    using home = new LedgerHome();
    configure(home, { DATABASE_URL: 'postgres://test/' });
    const { runId, id } = await suspendedRun(home);
    const { command, args } = { command: process.execPath, args: [fixture('ledger-server.mjs'), home.ledger] };
    const identity = fingerprint(['stdio', command, args, undefined]);
    await tamper(
      home,
      'UPDATE runs SET setting = ? WHERE id = ?',
      settingOf('codemode', [['ledger', identity]]),
      runId,
    );
    await home.decide('approve', id);
    expect((await home.resume(runId)).state).toBe('succeeded');
  });
});
