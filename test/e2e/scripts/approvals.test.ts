import { expect, test } from 'vitest';
import { Database } from '../../../src/store/sqlite/database.js';
import { callScript, responseOf } from '../../support/code-execution.js';
import { LedgerHome } from '../../support/ledger.js';
import type { ClientOptions, Era, Home } from '../../support/program.js';
import { everyday, openStdio } from '../../support/program.js';

const WRITE = `call_tool('ledger', 'write', { text: 'x' })`;

async function connect(home: LedgerHome, options: ClientOptions = {}, era: Era = 'legacy') {
  const environment = { PATH: process.env.PATH ?? '', HOME: home.folder, CODEMODE_HOME: home.path('state') };
  const place = { configFile: home.config, environment, work: home.folder } as unknown as Home;
  const session = await openStdio(place, era, options, ['--profile', 'code_execution']);
  const exec = async (code: string, more: object = {}) =>
    responseOf(await callScript(session.client, { code, ...more }));
  return { ...session, exec };
}

test.each(['legacy', 'modern'] as const)(
  'a client of the %s era that can ask its user asks while the script waits [D2]',
  async (era) => {
    using home = new LedgerHome();
    await using session = await connect(home, { capabilities: { elicitation: {} } }, era);
    const questions: unknown[] = [];
    session.client.setRequestHandler('elicitation/create', async ({ params }) => {
      questions.push(params);
      return { action: 'accept', content: { decision: 'approve' } } as never;
    });
    expect(await session.exec(WRITE)).toEqual({ ok: true, value: { ok: true, result: { did: 'write', lines: 1 } } });
    expect([questions.length, home.lines]).toEqual([1, ['write x']]);
  },
);

test('a user who says no is a value that the script sees [D2]', async () => {
  using home = new LedgerHome();
  await using session = await connect(home, { capabilities: { elicitation: {} } });
  session.client.setRequestHandler('elicitation/create', async () => ({ action: 'decline' }) as never);
  expect(await session.exec(WRITE)).toMatchObject({ ok: true, value: { ok: false, error: { code: 'DENIED' } } });
  expect(home.lines).toEqual([]);
});

test('where nobody can be asked, the script gets the command to type, and then calls once [D2]', async () => {
  using home = new LedgerHome();
  await using session = await connect(home);
  const source = `var res = ${WRITE}; res.ok ? res.result : [res.error.code, res.error.message]`;
  const value = async (code = source, input = {}) =>
    (await session.exec(code, { input })) as unknown as { value: [string, string] };
  const [code, message] = (await value()).value;
  expect(code).toBe('APPROVAL_REQUIRED');
  expect(message).toMatch(/; asked with \{"text":"x"\}, to be decided by \d{4}-\S+Z\. /);
  const id = /codemode approvals approve (\w+)\. Then run the same script again, unchanged: /.exec(message)?.[1];
  expect((await home.pending()).map((each) => each.id)).toEqual([id]);
  expect(home.lines).toEqual([]);
  expect(await home.decide('approve', id ?? '')).toMatchObject({ status: 0 });
  expect((await value(source.replace("'x'", "'y'"))).value[0]).toBe('APPROVAL_REQUIRED');
  expect((await value(source, { other: 1 })).value[0]).toBe('APPROVAL_REQUIRED');
  expect(await value()).toEqual({ ok: true, value: { did: 'write', lines: 1 } });
  // Somebody who can write to the file but has no key cannot make a second call of it.
  const database = await Database.open(home.path('state'));
  database.prepare('UPDATE approvals SET used_at = NULL WHERE id = ?').run(id ?? '');
  database.close();
  expect((await value()).value[0]).toBe('APPROVAL_REQUIRED');
  expect(home.lines).toEqual(['write x']);
});

test('a person who does not answer ends the wait before the time of the script is over [D2, D5]', async () => {
  using home = new LedgerHome();
  await using session = await connect(home, { capabilities: { elicitation: {} } });
  session.client.setRequestHandler('elicitation/create', () => new Promise<never>(() => {}));
  const options = { timeout_ms: 2_500 };
  expect(await session.exec(`${WRITE}.error.code`, { options })).toEqual({ ok: true, value: 'APPROVAL_REQUIRED' });
});

test('what the policy denies is refused, and every call is on record with its verdict [D2, D5]', async () => {
  using home = new LedgerHome({
    mcpServers: { every_day: everyday() },
    policy: [
      { tools: 'ledger/erase', arguments: { text: ['all'] }, decision: 'deny' },
      { tools: 'every_day/add', decision: 'ask' },
    ],
  });
  await using session = await connect(home);
  expect(await session.exec(`call_tool('ledger', 'look', {}).ok`)).toEqual({ ok: true, value: true });
  const code = `call_tool('ledger', 'erase', { text: 'all' }).error.code`;
  expect(await session.exec(code)).toEqual({ ok: true, value: 'DENIED' });
  const named = await session.exec(`call_tool('every_day', 'add', { a: 1, b: 2 }).error.message`);
  expect(named).toEqual({ ok: true, value: expect.stringMatching(/^every_day\.add was not called/) });
  const options = { allowed_servers: ['other'] };
  expect(await session.exec(`call_tool('ledger', 'look', {})`, { options })).toMatchObject({
    error: { code: 'SERVER_NOT_ALLOWED' },
  });
  await session.client.close();
  const { stdout } = await home.run(['--config', home.config, 'audit', '--json']);
  const { records } = JSON.parse(stdout) as { records: { toolName: string; verdict: string; profile: string }[] };
  expect(records.map(({ toolName, verdict, profile }) => [toolName, verdict, profile])).toEqual(
    expect.arrayContaining([
      ['look', 'ok', 'code_execution'],
      ['erase', 'denied', 'code_execution'],
      ['look', 'denied', 'code_execution'],
    ]),
  );
});
