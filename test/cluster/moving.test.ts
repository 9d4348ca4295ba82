import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CallerQuotas } from '../../src/domain/quotas.js';
import { openPostgresStore } from '../../src/store/postgres/store.js';
import { LedgerHome } from '../support/ledger.js';
import { needs } from '../support/needs.js';
import { binary, PostgresServer } from '../support/postgres.js';

const CODE = `import { write } from '@codemode/servers/ledger';
globalThis.__codemode_result__ = (await write({ text: 'moved' })).did;`;

describe('what is stored moves', needs('postgresql', 'bubblewrap'), () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server.close());

  test('a suspended run moves from a state folder to a database, through a backup of it, and back', async () => {
    using home = new LedgerHome();
    const config = ['--config', home.config];
    const suspended = await home.run([...config, 'run', '-', '--json'], { input: CODE });
    expect(suspended.status).toBe(3);
    const [approval] = await home.pending();
    const { runId = '', id = '' } = approval ?? {};

    const [first, second] = [await server.createDatabase(), await server.createDatabase()];
    const key = readFileSync(home.path('state', 'key'), 'utf8').trim();
    const shared = (database: string) => ({ CODEMODE_STORE: server.url(database), CODEMODE_KEY: key });
    const other = Buffer.alloc(32, 9).toString('base64');
    const refused = await home.run([...config, 'store', 'copy'], { env: { ...shared(first), CODEMODE_KEY: other } });
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('both need one key')]);
    const there = await home.run([...config, 'store', 'copy'], { env: shared(first) });
    expect([there.status, there.stderr]).toEqual([0, '']);
    expect(there.stdout).toMatch(/^runs +1$/m);
    expect(there.stdout).toMatch(/^approvals +1$/m);

    // A second copy changes nothing.
    const again = await home.run([...config, 'store', 'copy'], { env: shared(first) });
    expect(again.stdout).toMatch(/^runs +0$/m);

    const dump = home.path('codemode.dump');
    execFileSync(binary('pg_dump'), ['--format=custom', `--file=${dump}`, server.url(first)], { stdio: 'pipe' });
    execFileSync(binary('pg_restore'), ['--no-owner', `--dbname=${server.url(second)}`, dump], { stdio: 'pipe' });

    const env = shared(second);
    expect((await home.run([...config, 'runs', 'show', runId, '--json'], { env })).stdout).toContain('"suspended"');
    const approved = await home.run([...config, 'approvals', 'approve', id], {
      env: { ...env, CODEMODE_APPROVER_SECRET: await secretIn(server.url(second), key) },
    });
    expect(approved.status).toBe(0);
    const resumed = await home.run([...config, 'runs', 'resume', runId, '--json'], { env });
    expect(JSON.parse(resumed.stdout)).toMatchObject({ state: 'succeeded', response: { result: 'write' } });
    expect(home.lines).toEqual(['write moved']);
    expect((await home.run([...config, 'audit', 'verify'], { env })).status).toBe(0);

    // Back, into a state folder that is empty: it gets the key of the hosts.
    const back = { ...env, CODEMODE_HOME: home.path('back') };
    const returned = await home.run([...config, 'store', 'copy', '--to-state-folder'], { env: back });
    expect([returned.status, returned.stderr]).toEqual([0, '']);
    expect(readFileSync(home.path('back', 'key'), 'utf8').trim()).toBe(key);
    const alone = await home.run([...config, 'runs', 'show', runId, '--json'], {
      env: { CODEMODE_HOME: home.path('back') },
    });
    expect(JSON.parse(alone.stdout)).toMatchObject({ state: 'succeeded', response: { result: 'write' } });
  }, 120_000);
});

/** As `codemode approvals secret` makes it on a terminal. */
async function secretIn(url: string, key: string): Promise<string> {
  const store = openPostgresStore({
    ...{ url, leaseMs: 5_000, quotas: new CallerQuotas(), stateFolder: '' },
    key: async () => new Uint8Array(Buffer.from(key, 'base64url')),
  });
  try {
    return await store.approverSecret.make();
  } finally {
    await store.close();
  }
}
