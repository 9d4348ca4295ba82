import { describe, expect, test } from 'vitest';
import { Database } from '../../../src/store/sqlite/database.js';
import { LedgerHome } from '../../support/ledger.js';
import { needs } from '../../support/needs.js';
import { LANGUAGES, read } from '../../support/runner.js';

interface Listed {
  readonly records: readonly {
    readonly verdict: string;
    readonly serverId: string;
    readonly toolName: string;
    readonly runId: string;
    readonly approval: { readonly state: string; readonly by?: string; readonly reason?: string };
    readonly redactions: Readonly<Record<string, number>>;
  }[];
}

const ASKS = `import { write } from '@codemode/servers/ledger'; await write({ text: 'x' });`;

describe('what is on record besides calls', needs('bubblewrap', 'python3'), () => {
  const audit = (home: LedgerHome) => home.json<Listed>(['--config', home.config, 'audit', '--json']);
  const verify = (home: LedgerHome) => home.run(['--config', home.config, 'audit', 'verify']);

  test('every decision is in the chain, also one that no call follows [B16, B18]', async () => {
    using home = new LedgerHome();
    await home.program(ASKS);
    const [asked] = await home.pending();
    await home.decide('deny', asked?.id ?? '', '--reason', 'not today');
    const { records } = await audit(home);
    expect(records.filter(({ verdict }) => verdict === 'decided')).toMatchObject([
      {
        ...{ serverId: 'ledger', toolName: 'write', runId: asked?.runId },
        approval: { state: 'DENIED', id: asked?.id, by: expect.stringContaining('(secret)'), reason: 'not today' },
      },
    ]);
    expect((await verify(home)).stdout).toMatch(/^whole/);
    const listed = await home.run(['--config', home.config, 'audit']);
    expect(listed.stdout).toMatch(/ledger\/write\s+decided\s+.*denied by/);
  });

  test.each(LANGUAGES)(
    'what was redacted from the output of a %s program is in the chain [B8, B18]',
    async (language) => {
      using home = new LedgerHome();
      const source = {
        node: `console.log('jo@example.com'); globalThis.result = 'ann@example.com';`,
        python: `print('jo@example.com')\nresult = 'ann@example.com'`,
      };
      const { envelope } = read(
        await home.run(['--config', home.config, 'runner', language], { input: source[language] }),
      );
      expect((await audit(home)).records).toMatchObject([
        { verdict: 'output', runId: envelope.run_id, serverId: '', redactions: { email: 2 } },
      ]);
      expect((await verify(home)).status).toBe(0);
    },
  );

  test('a yes to a call of a run that has ended is refused where it would change nothing [B16]', async () => {
    using home = new LedgerHome();
    const input = `import { write } from './servers/ledger/index.js'; await Promise.allSettled([write({ text: 'x' }), write({ text: 'y' })]);`;
    const run = () => home.run(['--config', home.config, 'runner', 'node'], { input });
    await run();
    const [asked] = await home.pending();
    const refused = await home.decide('approve', asked?.id ?? '', '--scope', 'run');
    expect(refused).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/has ended.*changes nothing.*approve \w+\. .*--scope hour/),
    });
    expect(await home.pending()).toHaveLength(2);
    // All calls of the card, each of which the next run makes once.
    const approved = await home.decideCard('approve', asked?.id ?? '');
    expect(approved).toMatchObject({ status: 0, stdout: expect.stringContaining('Run the same program again by') });
    expect(approved.stdout).not.toContain('still waits');
    await run();
    expect([...home.lines].sort()).toEqual(['write x', 'write y']);
    await run();
    const again = await home.pending();
    expect([again.length, home.lines.length]).toEqual([2, 2]);
    const hour = await home.decide('approve', again[0]?.id ?? '', '--scope', 'hour');
    expect(hour).toMatchObject({ status: 0, stdout: expect.stringContaining('it makes no more calls') });
  });

  test('cancelling a run closes the questions of its calls [B16]', async () => {
    using home = new LedgerHome();
    await home.program(ASKS);
    const [asked] = await home.pending();
    await home.run(['--config', home.config, 'runs', 'cancel', asked?.runId ?? '']);
    expect(await home.pending()).toEqual([]);
    expect((await home.decide('approve', asked?.id ?? '')).status).toBe(1);
  });

  test('verify says that calls are refused only where they are [B18]', async () => {
    using home = new LedgerHome();
    const looks = `import { look } from '@codemode/servers/ledger'; for (const n of [1, 2, 3]) await look({}); globalThis.__codemode_result__ = 1;`;
    expect(await home.program(looks)).toMatchObject({ status: 0 });
    const database = await Database.open(home.path('state'));
    database.prepare("UPDATE audit SET tool_name = 'other' WHERE number = 1").run();
    database.close();
    expect((await verify(home)).stdout).toMatch(/^changed: record 1[\s\S]*Calls are still made/);
    expect(await home.program(looks)).toMatchObject({ status: 0 });
    const again = await Database.open(home.path('state'));
    again.prepare('DELETE FROM audit WHERE number > 1').run();
    again.close();
    expect((await verify(home)).stdout).toMatch(/^changed: [\s\S]*Calls are refused/);
    expect((await home.program(looks)).status).not.toBe(0);
  });
});
