import { expect, test } from 'vitest';
import { collected } from '../../test/support/collected.js';
import type { AuditEntry } from '../domain/audit.js';
import type { Store } from './store.js';

export const auditEntry = (callId: string, verdict: AuditEntry['verdict'] = 'sent'): AuditEntry => ({
  ...{ callId, atMs: Date.now(), runId: 'run', caller: 'ana', profile: 'codemode', codeDigest: 'c0de' },
  ...{ serverId: 'mail', toolName: 'send', argumentsDigest: 'd', resultBytes: null, durationMs: 0.5, verdict },
  ...{ approval: { state: 'NOT_REQUIRED' }, redactions: {} },
});

export const writerOptions = { retentionMs: 86_400_000, onProblem: () => {} };

/** What every store does besides runs and approvals. */
export function sharedSuite(open: () => Promise<Store>): void {
  test('calls are recorded in a chain that verifies, and can be listed by filter or newest first', async () => {
    const audit = await (await open()).audit();
    await audit.probe();
    const writer = await audit.openWriter('hostA', writerOptions);
    await Promise.all(
      [1, 2, 3].map(async (number) => {
        await writer.sending(auditEntry(`hostA.${number}`));
        await writer.ended({ ...auditEntry(`hostA.${number}`, 'ok'), resultBytes: number });
      }),
    );
    await writer.ended({ ...auditEntry('hostA.4', 'denied'), runId: 'other' });
    await writer.flush();
    const all = await collected(audit.each({}));
    const outcomes = all.filter(({ verdict }) => verdict !== 'sent');
    expect(outcomes.map(({ callId, verdict }) => `${callId} ${verdict}`).sort()).toEqual([
      ...['hostA.1 ok', 'hostA.2 ok', 'hostA.3 ok', 'hostA.4 denied'],
    ]);
    expect((await audit.records({ runId: 'other' }, 5)).map(({ callId }) => callId)).toEqual(['hostA.4']);
    const [newest] = await audit.before({}, undefined, 1);
    expect(newest).toMatchObject({ callId: 'hostA.4', runId: 'other', durationMs: 0.5 });
    expect((await audit.before({}, newest?.number, 1))[0]?.callId).not.toBe('hostA.4');
    expect(await audit.runIdsWith('oth', 5)).toEqual(['other']);
    expect(await audit.count()).toBeGreaterThanOrEqual(4);
    expect(await audit.verify()).toMatchObject({ isIntact: true });
    await writer.close();
    expect(await audit.verify()).toMatchObject({ isIntact: true });
    expect(await audit.isUsable()).toBe(true);
  });

  test('a day costs no more than its budget, however many spend at once', async () => {
    const spending = await (await open()).spending();
    const spent = await Promise.all(Array.from({ length: 20 }, () => spending.spendWithin('2030-01-01', 3, 10)));
    expect(spent.filter(({ isSpent }) => isSpent)).toHaveLength(3);
    expect(await spending.spent('2030-01-01')).toBe(9);
    expect(await spending.spendWithin('2030-01-01', 2, 10)).toEqual({ isSpent: false, before: 9 });
    await spending.spend('2030-01-01', 5);
    await spending.giveBack('2030-01-01', 100);
    expect(await spending.spent('2030-01-01')).toBe(0);
    expect(await spending.spendWithin('2030-01-02', 11, 10)).toEqual({ isSpent: false, before: 0 });
  });

  test('a script is stored once under its name, and can be replaced and removed', async () => {
    const scripts = await (await open()).scripts();
    const { scriptDigest } = await import('./scripts.js');
    const script = (source: string) => ({
      ...{ name: 'report', source, description: 'd', profile: 'codemode', language: 'typescript' },
      ...{ digest: scriptDigest(source), createdAtMs: 1 },
    });
    const added = await Promise.all([
      scripts.add(script('1') as never, false),
      scripts.add(script('1') as never, false),
    ]);
    expect(added.map(({ state }) => state).sort()).toEqual(['added', 'taken']);
    expect(await scripts.add(script('2') as never, true)).toEqual({ state: 'replaced', version: 2 });
    expect(await scripts.find('report')).toMatchObject({ source: '2', version: 2 });
    expect(await scripts.find('report', 1)).toMatchObject({ source: '1', version: 1, name: 'report' });
    expect((await scripts.list()).map(({ name }) => name)).toEqual(['report']);
    expect([await scripts.remove('report'), await scripts.remove('report')]).toEqual([true, false]);
    expect(await scripts.find('report', 1)).toBeUndefined();
  });

  test('a caller has no more saved scripts than allowed, however many are added at once', async () => {
    const scripts = await (await open()).scripts();
    const save = async (name: string) =>
      scripts.add({ name, source: '1', profile: 'codemode', savedBy: 'ana' } as never, false, 2);
    const added = await Promise.all(['s1', 's2', 's3', 's4'].map(save));
    expect(added.map(({ state }) => state).sort()).toEqual(['added', 'added', 'saver_full', 'saver_full']);
    await Promise.all(['s1', 's2', 's3', 's4'].map((name) => scripts.remove(name)));
  });

  test('the last ten earlier versions of a script are kept, and are none of another name', async () => {
    const scripts = await (await open()).scripts();
    const { scriptDigest } = await import('./scripts.js');
    const add = (name: string, source: string) =>
      scripts.add(
        {
          ...({ name, source, description: '', profile: 'codemode', language: 'typescript' } as const),
          ...{ digest: scriptDigest(source), createdAtMs: 1 },
        },
        true,
      );
    for (let version = 1; version <= 13; version++) await add('many', `${version}`);
    await add('many_more', '1');
    await add('many_more', '2');
    expect(await scripts.earlierVersions('many')).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
    expect(await scripts.earlierVersions('man')).toEqual([]);
    expect(await scripts.find('many', 2)).toBeUndefined();
    expect((await scripts.list()).map(({ name, version }) => `${name} ${version}`)).toEqual(['many 13', 'many_more 2']);
    await scripts.remove('many');
    expect(await scripts.earlierVersions('many_more')).toEqual([1]);
    await scripts.remove('many_more');
  });

  test('a call is undone by one process, once, and again only where the server refused it', async () => {
    const store = await open();
    const undo = await store.undo();
    const runs = await store.runs();
    const owner = { id: 'undone-run', caller: 'ana', profile: 'codemode', codeDigest: 'c0de', setting: '' };
    await runs.end([{ ...owner, createdAtMs: 1, state: 'succeeded', responseJson: 'null' }] as never, Date.now());
    const begun = await Promise.all([undo.begin('undone-run', 2), undo.begin('undone-run', 2)]);
    expect(begun.sort()).toEqual([false, true]);
    await undo.end('undone-run', 2, 'failed');
    expect(await undo.begin('undone-run', 2)).toBe(true);
    await undo.end('undone-run', 2, 'undone');
    expect(await undo.begin('undone-run', 2)).toBe(false);
    expect(await undo.begin('undone-run', 2 ** 32 + 1)).toBe(true);
    await undo.release('undone-run', 2 ** 32 + 1);
    expect(await undo.begin('undone-run', 3)).toBe(true);
    expect([...(await undo.statesOf('undone-run'))].sort()).toEqual([
      [2, 'undone'],
      [3, 'begun'],
    ]);
    await undo.begin('no-run', 1);
    await undo.begin('undone-run', 4);
    expect(await undo.statesOf('no-run')).toEqual(new Map());
  });

  test('credentials are written by who holds their lock', async () => {
    const credentials = await (await open()).credentials();
    const owner = { serverId: 'mail', url: 'https://mail.example/' };
    const [mine, theirs] = [
      { name: 'lock', holder: 'me' },
      { name: 'lock', holder: 'you' },
    ];
    expect(await credentials.takeLock(mine, 60_000)).toBe(true);
    expect(await credentials.takeLock(theirs, 60_000)).toBe(false);
    expect(await credentials.write(owner, 'grant', Buffer.from('sealed'), mine)).toBe(true);
    expect(await credentials.write(owner, 'grant', Buffer.from('forged'), theirs)).toBe(false);
    expect(Buffer.from((await credentials.read(owner, 'grant')) ?? []).toString()).toBe('sealed');
    await credentials.dropLock(mine);
    expect(await credentials.takeLock(theirs, 1)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await credentials.takeLock(mine, 60_000)).toBe(true);
    expect(await credentials.servers()).toEqual(['mail']);
    expect(await credentials.remove(owner, 'other')).toBe(false);
    expect(await credentials.removeServer('mail')).toBe(true);
    expect(await credentials.read(owner, 'grant')).toBeUndefined();
  });

  test('runs in progress and clients are known to other hosts, which can cancel them', async () => {
    const presence = await (await open()).presence();
    const run = { runId: 'live', caller: 'ana', profile: 'codemode', createdAtMs: 5, title: 'line', source: 'line;' };
    await presence.update([run], []);
    expect(await presence.find('live')).toEqual(run);
    expect(await presence.runs(5)).toEqual([run]);
    await presence.askToCancel('live');
    expect(await presence.cancelled()).toEqual(['live']);
    await presence.update([], ['live']);
    expect(await presence.runs(5)).toEqual([]);
    const client = { name: 'editor', version: '1', transport: 'http', caller: 'ana' } as const;
    await presence.clientSeen(client, 10);
    await presence.clientSeen({ ...client, version: '2' }, 20);
    expect(await presence.clients()).toEqual([
      { ...client, version: '2', firstAtMs: 10, lastAtMs: 20, isHostUp: true },
    ]);
  });

  test('a link opens one session of the console, which ends when it is revoked', async () => {
    const access = await (await open()).consoleAccess();
    const { processIdentity } = await import('../lib/files/process-identity.js');
    const at = { holder: processIdentity() as string, port: 7, host: 'codemode.example' };
    const link = await access.makeLink({ role: 'owner', name: 'ana' }, at.holder);
    const opened = await access.openSession(link, { at, browser: 'b' });
    if (typeof opened === 'string') throw new Error(opened);
    expect(await access.openSession(link, { at, browser: 'b' })).toBe('unknown');
    expect(await access.find(opened.cookie, opened.key, at)).toMatchObject({ role: 'owner', name: 'ana' });
    expect(await access.find(opened.cookie, 'wrong', at)).toBe('unknown');
    expect(await access.find(opened.cookie, opened.key, { ...at, host: 'evil.example' })).toBe('elsewhere');
    expect((await access.sessions()).map(({ id }) => id)).toEqual([opened.session.id]);
    await access.hostServes({ holder: at.holder, url: 'http://127.0.0.1:7/' });
    expect((await access.hosts()).map(({ url }) => url)).toEqual(['http://127.0.0.1:7/']);
    await access.hostStops(at.holder);
    expect(await access.hosts()).toEqual([]);
    expect([await access.revoke(opened.session.id), await access.revoke(opened.session.id)]).toEqual([true, false]);
    expect(await access.find(opened.cookie, opened.key, at)).toBe('unknown');
  });

  test('a result under a handle is found by other hosts, for its caller only', async () => {
    const { results } = await open();
    if (results === undefined) return; // Hosts of one state folder keep results in memory.
    await results.write('ana', 'result-1', '[1]');
    expect(await results.read('ana', 'result-1')).toBe('[1]');
    expect(await results.read('bob', 'result-1')).toBeUndefined();
    await results.remove('ana', 'result-1');
    expect(await results.read('ana', 'result-1')).toBeUndefined();
  });

  test('what was learned of servers, and secrets, come back', async () => {
    const { catalogCache, observedTypes, approverSecret, ...store } = await open();
    const listing = { tools: [{ serverId: 'mail', name: 'send', inputSchema: {} }], savedAtMs: 5 } as never;
    await catalogCache.write('mail', 'f', listing);
    expect(await catalogCache.read('mail', 'f')).toEqual(listing);
    expect(await catalogCache.read('mail', 'other')).toBeUndefined();
    await catalogCache.write('other', 'f', listing);
    expect(await catalogCache.read('other', 'f')).toBeUndefined();
    await catalogCache.remove('mail');
    expect(await catalogCache.read('mail', 'f')).toBeUndefined();
    await observedTypes.write({ a: ['string'] });
    expect(await observedTypes.read()).toEqual({ a: ['string'] });
    const tokens = await Promise.all([store.accessToken(), store.accessToken()]);
    expect(tokens[0]).toBe(tokens[1]);
    expect(tokens[0]).toMatch(/^[\w-]{43}$/);
    expect(await approverSecret.isMade()).toBe(false);
    const secret = await approverSecret.make();
    expect([await approverSecret.isRight(secret), await approverSecret.isRight('x')]).toEqual([true, false]);
    expect(await approverSecret.isMade()).toBe(true);
  });
}
