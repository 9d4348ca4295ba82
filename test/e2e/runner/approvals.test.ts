import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import type { Envelope } from '../../../src/profiles/runner/envelope.js';
import { LedgerHome } from '../../support/ledger.js';
import { needs, skipped } from '../../support/needs.js';
import { type ClientOptions, type Era, type Home, openStdio, PROGRAM } from '../../support/program.js';
import { LANGUAGES, read, type Sources } from '../../support/runner.js';

const WRITE: Sources = {
  node: `import { write } from './servers/ledger/index.js'; globalThis.result = (await write({ text: 'x' })).structuredContent;`,
  python: `from servers.ledger import write\nresult = (await write({'text': 'x'}))['structuredContent']`,
};

/** One call that is allowed, and one that is not. */
const TWICE: Sources = {
  node: `import { normalize } from './client/mcp_client.js'; import { write } from './servers/ledger/index.js';
    globalThis.result = [(await normalize(write({ text: '1' }))).ok, (await normalize(write({ text: '2' }))).error.type];`,
  python: `from client.mcp_client import normalize
from servers.ledger import write
result = [(await normalize(write({'text': '1'})))['ok'], (await normalize(write({'text': '2'})))['error']['type']]`,
};
const SCRIPT = '/usr/bin/script';
const onTerminal = existsSync(SCRIPT) ? {} : skipped('script of util-linux, which makes a terminal, is not installed');

async function connect(home: LedgerHome, options: ClientOptions = {}, era: Era = 'legacy') {
  const environment = { PATH: process.env.PATH ?? '', HOME: home.folder, CODEMODE_HOME: home.path('state') };
  const place = { configFile: home.config, environment, work: home.folder } as unknown as Home;
  const session = await openStdio(place, era, options, ['--profile', 'runner']);
  const run = async (language: 'node' | 'python', code: string) => {
    const { structuredContent } = await session.client.callTool({ name: `run_${language}`, arguments: { code } });
    return structuredContent as unknown as Envelope;
  };
  return { ...session, run };
}

test(
  'a program with two calls that ask, run again after each yes, makes no call twice [B15, B21]',
  needs('bubblewrap', 'python3'),
  async () => {
    using home = new LedgerHome();
    await using session = await connect(home);
    const code = `from servers.ledger import look, write
read = await look({'text': 'r'})
first = await write({'text': '1'})
second = await write({'text': '2'})
result = [answer['structuredContent']['lines'] for answer in (read, first, second)]`;
    const run = async () => (await session.run('python', code)) as Envelope & { notes?: string[] };
    const asked = async () => (await home.pending()).map(({ id, arguments: { text } }) => ({ id, text }));
    expect(await run()).toMatchObject({ approval_state: 'PENDING' });
    const [first] = await asked();
    // Nobody has decided: the program starts from the beginning, and the same question is open once.
    expect(await run()).toMatchObject({ approval_state: 'PENDING' });
    expect(await asked()).toEqual([{ id: first?.id, text: '1' }]);
    await home.approveInStore(first?.id ?? '');
    const second = await run();
    expect(second.result).toMatchObject({ ok: false, error: { message: expect.stringContaining('"text":"2"') } });
    expect(second.notes).toContainEqual(
      expect.stringMatching(/^Continued run \S+: 1 call that it had made was answered as then, not made again\.$/),
    );
    await home.approveInStore((await asked())[0]?.id ?? '');
    expect(await run()).toMatchObject({ approval_state: 'APPROVED', result: { ok: true, data: [2, 3, 4] } });
    expect(home.lines).toEqual(['look r', 'look r', 'write 1', 'write 2']);
    // It has ended: the next run is a new one.
    expect(await run()).toMatchObject({ approval_state: 'PENDING' });
    expect(home.lines.at(-1)).toBe('look r');
  },
);

describe.each(LANGUAGES)('a call of a %s program that needs a person', needs('bubblewrap', 'python3'), (language) => {
  test('is refused at once where nobody can be asked, with the command that allows it in a new run [B2, B15, B16]', async () => {
    using home = new LedgerHome();
    const run = async (input = WRITE[language]) =>
      read(await home.run(['--config', home.config, 'runner', language], { input }));
    const pendingIds = async () => (await home.pending()).map(({ id }) => id);
    const first = await run();
    expect(first).toMatchObject({ status: 1, envelope: { approval_state: 'PENDING' }, error: { type: 'ToolError' } });
    expect(first.error?.message).toMatch(
      /ledger\.write was not called: .*; asked with \{"text":"x"\}, to be decided by \d{4}-\S+Z\. Ask the user/,
    );
    const id =
      /type: codemode approvals approve (\w+)\. Then run the same program again/.exec(
        first.error?.message ?? '',
      )?.[1] ?? '';
    expect(await pendingIds()).toEqual([id]);
    const shown = await home.run(['--config', home.config, 'approvals', 'show', id]);
    expect(shown.stdout).toContain(`called at line ${language === 'node' ? 1 : 2}`);
    expect(home.lines).toEqual([]);
    const decided = await home.decide('approve', id);
    expect(decided).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/has ended\. Run the same program again/),
    });
    // Not another program, and not another call of it.
    expect(await run(`${WRITE[language]}\n`)).toMatchObject({ status: 1, envelope: { approval_state: 'PENDING' } });
    expect(await run()).toMatchObject({
      status: 0,
      envelope: { approval_state: 'APPROVED' },
      data: { did: 'write', lines: 1 },
    });
    // Once: the next run asks again, and hears of a no that came too late for an earlier one.
    expect(await run()).toMatchObject({ status: 1, envelope: { approval_state: 'PENDING' } });
    expect(await home.decide('deny', (await pendingIds()).at(-1) ?? '', '--reason', 'enough')).toMatchObject({
      status: 0,
    });
    const denied = await run();
    expect(denied).toMatchObject({ status: 1, envelope: { approval_state: 'DENIED' } });
    expect(denied.error?.message).toContain('a person denied it: enough');
    expect(home.lines).toEqual(['write x']);
  });

  test('waits while the user of the client is asked, and its time is paused [B2, B16]', async () => {
    using home = new LedgerHome({ sandbox: { limits: { timeout: '2s' } } });
    // Each language in another era of the protocol: forms reach a client in both.
    const era = language === 'node' ? 'legacy' : 'modern';
    await using session = await connect(home, { capabilities: { elicitation: {} } }, era);
    const answers = ['approve', 'decline'];
    session.client.setRequestHandler('elicitation/create', async () => {
      const answer = answers.shift();
      // Longer than the program may take.
      if (answer === 'approve') await new Promise((resolve) => setTimeout(resolve, 2_500));
      return (
        answer === 'approve' ? { action: 'accept', content: { decision: 'approve' } } : { action: 'decline' }
      ) as never;
    });
    expect(await session.run(language, WRITE[language])).toMatchObject({
      approval_state: 'APPROVED',
      result: { ok: true, data: { did: 'write', lines: 1 } },
    });
    const denied = await session.run(language, WRITE[language]);
    expect(denied).toMatchObject({ approval_state: 'DENIED', result: { ok: false, error: { type: 'ToolError' } } });
    expect(home.lines).toEqual(['write x']);
  });

  test('is refused when the person takes longer than the configuration allows [B2]', async () => {
    using home = new LedgerHome({ runner: { approvalWait: '300ms' } });
    await using session = await connect(home, { capabilities: { elicitation: {} } });
    session.client.setRequestHandler('elicitation/create', () => new Promise<never>(() => {}));
    const caught = {
      node: `import { normalize } from './client/mcp_client.js'; import { write, look } from './servers/ledger/index.js';
        globalThis.result = [(await normalize(write({}))).error.type, (await normalize(look({}))).ok];`,
      python: `from client.mcp_client import normalize
from servers.ledger import look, write
result = [(await normalize(write({})))['error']['type'], (await normalize(look({})))['ok']]`,
    };
    expect(await session.run(language, caught[language])).toMatchObject({
      approval_state: 'PENDING',
      result: { ok: true, data: ['ApprovalRequired', true] },
    });
    expect(home.lines).toEqual(['look ']);
  });

  test(
    'waits if stderr is a terminal, and shows the command to type in another one [B2, B16]',
    onTerminal,
    async () => {
      using home = new LedgerHome({ sandbox: { limits: { timeout: '2s' } } });
      const program = home.write(`program.${language}`, TWICE[language]);
      const command = `${process.execPath} ${PROGRAM} --config ${home.config} runner ${language} < ${program} > ${home.path('line')}`;
      const env = {
        PATH: process.env.PATH,
        HOME: home.folder,
        CODEMODE_HOME: home.path('state'),
        CODEMODE_KEYRING: 'file',
      };
      const shell = spawn(SCRIPT, ['-qec', command, '/dev/null'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
      const ended = once(shell, 'close');
      let shown = '';
      shell.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text;
      });
      const asked = (count: number) =>
        vi.waitFor(
          () => {
            const ids = [...shown.matchAll(/ledger\/write waits for approval .*codemode approvals approve (\w+)/g)];
            expect(ids, shown).toHaveLength(count);
            return ids.at(-1)?.[1] ?? '';
          },
          { timeout: 30_000, interval: 50 },
        );
      expect(await home.decide('approve', await asked(1))).toMatchObject({ status: 0 });
      expect(await home.decide('deny', await asked(2))).toMatchObject({ status: 0 });
      const [status] = (await ended) as [number];
      const { envelope } = read({ status, stdout: readFileSync(home.path('line'), 'utf8'), stderr: shown });
      expect(envelope).toMatchObject({ approval_state: 'DENIED', result: { ok: true, data: [true, 'Denied'] } });
      expect(home.lines).toEqual(['write 1']);
    },
  );
});
