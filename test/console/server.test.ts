import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApprovalPage, DecideAnswer, GrantView } from '../../src/domain/console/approvals.js';
import type { ConsoleEvent } from '../../src/domain/console/events.js';
import type { PlaygroundDeclarations } from '../../src/domain/console/playground.js';
import type { PolicyDiff, PolicyView } from '../../src/domain/console/policy.js';
import type { ExportedRun, OpenedRun, RunDetail, RunPage } from '../../src/domain/console/runs.js';
import type { ToolDetail } from '../../src/domain/console/tools.js';
import { needs } from '../support/needs.js';
import { nodeServer, openHome, ready, run, runProgram, startServe, until } from '../support/program.js';
import { fixture } from '../support/upstreams.js';

/* The console's server as an attacker and as its page speak to it: one `codemode serve`, and `codemode console` for its links. */

const API = '/console/api';
const ASKS = `import { update_ticket } from '@codemode/servers/tracker';
const ids = ['A-1', 'A-2', 'A-3'];
globalThis.__codemode_result__ = (await Promise.allSettled(
  ids.map((id) => update_ticket({ id, status: 'done' })))).map(({ status }) => status);`;

interface Login {
  readonly cookie: string;
  readonly key: string;
  readonly id: string;
}

describe('the server of the console', needs('bubblewrap'), () => {
  let home: ReturnType<typeof openHome>;
  let server: Awaited<ReturnType<typeof startServe>>;
  let agent: Awaited<ReturnType<(typeof server)['connect']>>;
  let owner: Login;
  let usedLink: string;

  beforeAll(async () => {
    const made = openHome({
      approvals: { grace: '20ms' },
      mcpServers: {
        shop: nodeServer(fixture('shop-server.mjs'), 'shop'),
        tracker: nodeServer(fixture('shop-server.mjs'), 'tracker'),
        hostile: nodeServer(fixture('shop-server.mjs'), 'hostile'),
      },
    });
    const settings = Object.entries(JSON.parse(readFileSync(made.configFile, 'utf8')) as object);
    const configFile = join(made.work, 'own.yaml');
    writeFileSync(
      configFile,
      `# my own words\n${settings.map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join('')}policy:
  rules:
    # reads are fine
    - tools: shop/get_*   # all of them
      decision: allow
`,
    );
    home = { ...made, configFile };
    server = await startServe(home);
    agent = await server.connect();
    await ready(agent.client, 'shop', 'tracker', 'hostile');
    usedLink = await linkOf();
    owner = await logIn(usedLink);
  }, 120_000);
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]();
    await server?.stop();
    home?.[Symbol.dispose]();
  });

  async function linkOf(...words: string[]): Promise<string> {
    const { stdout, stderr, status } = await runProgram(home, 'console', '--no-open', ...words);
    expect([status, stderr]).toEqual([0, `codemode: the host at ${server.url} serves the console already\n`]);
    return new URLSearchParams(new URL(stdout.trim()).hash.slice(1)).get('link') ?? '';
  }

  const ask = (path: string, init: RequestInit & { as?: Login | undefined } = {}) => {
    const { as = owner, headers, ...rest } = init;
    const own = as === undefined ? {} : { cookie: as.cookie, 'x-codemode-console': as.key };
    return fetch(`${server.url}${API}${path}`, { ...rest, headers: { ...own, ...headers } });
  };
  const send = (path: string, body: unknown = {}, as?: Login, headers: Record<string, string> = {}) =>
    ask(path, {
      method: 'POST',
      as,
      headers: { origin: server.url, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const get = async <Answer>(path: string, as?: Login) => (await (await ask(path, { as })).json()) as Answer;
  const codeOf = async (response: Response) => [response.status, ((await response.json()) as Failure).error.code];
  interface Failure {
    readonly error: { readonly code: string; readonly message: string };
  }

  async function logIn(link: string): Promise<Login> {
    const response = await fetch(`${server.url}${API}/login`, {
      method: 'POST',
      headers: { origin: server.url, 'content-type': 'application/json' },
      body: JSON.stringify({ link }),
    });
    expect(response.status).toBe(200);
    const set = response.headers.get('set-cookie') ?? '';
    expect(set).toMatch(
      /^codemode_console_\d+=[\w-]{43}; Path=\/console\/api; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
    );
    const { key, session } = (await response.json()) as { key: string; session: { id: string } };
    return { cookie: set.split(';')[0] as string, key, id: session.id };
  }

  test('a link works once, and a wrong or used one says how to get another', async () => {
    for (const link of [usedLink, 'no-such-link']) {
      const refused = await send('/login', { link });
      expect(refused.status).toBe(400);
      expect(((await refused.json()) as Failure).error.message).toMatch(/wrong or was used before.*codemode console/);
    }
    // A client without a link sends little, and locks nobody out.
    expect((await send('/login', { link: 'x'.repeat(5_000) })).status).toBe(413);
    for (let guess = 0; guess < 120; guess++) await send('/login', { link: `guess-${guess}` });
    expect((await logIn(await linkOf())).id).not.toBe(owner.id);
    expect((await get<{ session: { role: string } }>('/session')).session.role).toBe('owner');
    // Of links and sessions only digests are on the disk.
    const stored =
      readFileSync(join(home.state, 'codemode.db'), 'latin1') +
      readFileSync(join(home.state, 'codemode.db-wal'), 'latin1');
    for (const secret of [usedLink, owner.key, owner.cookie.split('=')[1] as string])
      expect(stored).not.toContain(secret);
  });

  test('a session needs its cookie, its key and the host that it was opened at', async () => {
    const halves = [{ cookie: owner.cookie }, { 'x-codemode-console': owner.key }, {}];
    for (const headers of halves)
      expect(await codeOf(await fetch(`${server.url}${API}/session`, { headers }))).toEqual([401, 'no_session']);
    const { port } = new URL(server.url);
    expect(await rawStatus(`localhost:${port}`, { cookie: owner.cookie, 'x-codemode-console': owner.key })).toBe(401);
    expect(await rawStatus('evil.example', { cookie: owner.cookie, 'x-codemode-console': owner.key })).toBe(403);
    expect(await rawStatus(`127.0.0.1:${port}`, { cookie: owner.cookie, 'x-codemode-console': owner.key })).toBe(200);
  });

  test('no route answers without a session, and none takes the token of an agent', async () => {
    const table = readFileSync(new URL('../../docs/security/rules.md', import.meta.url), 'utf8');
    const routes = [...table.matchAll(/^\| route (GET|POST|DELETE) (\/console\/api\/\S+)/gm)];
    expect(routes.length).toBeGreaterThan(40);
    const token = { authorization: `Bearer ${server.token}` };
    for (const headers of [{}, token])
      for (const [, method = '', path = ''] of routes) {
        if (path === '/console/api/login') continue; // takes a one-time link instead
        const sent = { method, headers: { ...headers, origin: server.url, 'content-type': 'application/json' } };
        const body = method === 'GET' ? {} : { body: '{}' };
        const { status } = await fetch(`${server.url}${path.replace(/:\w+/g, 'x')}`, { ...sent, ...body });
        expect([401, 403], `${method} ${path}`).toContain(status);
      }
  });

  /** `fetch` does not let a Host header be set. */
  function rawStatus(host: string, headers: Record<string, string>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const sent = request(`${server.url}${API}/session`, { headers: { ...headers, host } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end();
    });
  }

  test('other pages, forms and agents are refused', async () => {
    const evil = { origin: 'https://evil.example' };
    const body = JSON.stringify({ decision: 'approve', calls: [{ id: 'x', digest: '0'.repeat(16) }] });
    const decide = (headers: Record<string, string>) => ask('/approvals/decide', { method: 'POST', headers, body });
    const json = { 'content-type': 'application/json' };
    expect((await ask('/session', { headers: evil })).status).toBe(403);
    expect((await ask('/session', { headers: { 'sec-fetch-site': 'same-site' } })).status).toBe(403);
    expect((await ask('/events', { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect((await decide({ ...json, ...evil })).status).toBe(403);
    expect((await decide({ ...json, origin: server.url.replace(/:\d+$/, ':1') })).status).toBe(403);
    expect((await decide(json)).status).toBe(403);
    expect((await decide({ origin: server.url, 'content-type': 'text/plain' })).status).toBe(415);
    // An agent's token opens nothing here, and a session of a person opens nothing there.
    const token = { authorization: `Bearer ${server.token}` };
    expect((await fetch(`${server.url}${API}/approvals`, { headers: token })).status).toBe(403);
    expect((await ask('/approvals', { headers: token })).status).toBe(403);
    const session = { cookie: owner.cookie, 'x-codemode-console': owner.key };
    for (const path of ['/mcp', '/api/v1/tools', '/api/v1/approvals', '/metrics'])
      expect((await fetch(`${server.url}${path}`, { headers: session })).status).toBe(401);
  });

  test('the page has strict headers, and only its own files are served', async () => {
    const page = await fetch(`${server.url}/`);
    expect(page.status).toBe(200);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/,
      ),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    const text = await page.text();
    expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|style=|https?:\/\//);
    const asset = /assets\/[\w.-]+\.js/.exec(text)?.[0];
    const script = await fetch(`${server.url}/${asset}`);
    expect([script.status, script.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    for (const path of [
      '/assets/..%2f..%2fbin.js',
      '/assets/%2e%2e/index.html/../../main.js',
      '/main.js',
      '/worker/manifest.json',
    ])
      expect((await fetch(`${server.url}${path}`)).status).not.toBe(200);
  });

  test('of two people who decide, one decides and the other is told', async () => {
    const pending = run(agent.client, ASKS);
    const cards = async () =>
      (await get<ApprovalPage>('/approvals')).cards.filter(({ toolName }) => toolName === 'update_ticket');
    await until(async () => (await cards())[0]?.callCount === 3);
    await pending;
    const [card] = await cards();
    expect(card).toMatchObject({
      serverId: 'tracker',
      state: 'PENDING',
      scopes: ['call', 'run', 'hour'],
      callCount: 3,
    });
    expect(card?.calls.map(({ arguments: shown }) => shown)).toEqual(
      ['A-1', 'A-2', 'A-3'].map((id) => ({ id, status: 'done' })),
    );
    const [first, second, third] = card?.calls ?? [];
    const other = await logIn(await linkOf('--approver'));
    const decide = (calls: unknown[], decision: string, as?: Login) =>
      send('/approvals/decide', { decision, calls }, as);
    const both = await Promise.all([
      decide([first, second].map(named), 'approve'),
      decide([first].map(named), 'deny', other),
    ]);
    const outcomes = (await Promise.all(both.map((each) => each.json() as Promise<DecideAnswer>))).map(
      (each) => each.outcomes,
    );
    expect(outcomes.map(([each]) => each?.outcome).sort()).toEqual(['decided', 'decided_before']);
    expect(outcomes.flat().find(({ outcome }) => outcome === 'decided_before')?.message).toMatch(
      /(approved|denied) by .*console/,
    );
    const wrong = (await (await decide([{ id: third?.id, digest: 'f'.repeat(64) }], 'approve')).json()) as DecideAnswer;
    expect(wrong.outcomes[0]?.outcome).toBe('changed');
    expect(await (await decide([third].map(named), 'deny', other)).json()).toMatchObject({
      outcomes: [{ outcome: 'decided' }],
    });
    // The host resumes the run, and an approver may do no more than look and decide.
    await until(async () => (await get<RunDetail>(`/runs/${card?.runId}`)).state === 'succeeded');
    const detail = await get<RunDetail>(`/runs/${card?.runId}`, other);
    expect(detail.calls.map(({ toolName, approval }) => [toolName, approval?.state])).toContainEqual([
      'update_ticket',
      'DENIED',
    ]);
    for (const path of [
      ...['/playground/run', '/playground/check', '/policy/save', '/policy/diff', '/servers/shop/reconnect'],
      `/sessions/${owner.id}/revoke`,
    ])
      expect(await codeOf(await send(path, {}, other))).toEqual([403, 'forbidden']);
  });

  function named(call: { id: string; digest: string } | undefined) {
    return { id: call?.id, digest: call?.digest };
  }

  test('only the owner revokes a standing approval, and then the next call asks again', async () => {
    const ask = `import { update_ticket } from '@codemode/servers/tracker';
      await update_ticket({ id: 'G-1' });
      globalThis.__codemode_result__ = await update_ticket({ id: 'G-' + Math.random() });`;
    const waiting = async () => (await get<ApprovalPage>('/approvals')).cards.flatMap(({ calls }) => calls);
    const grants = async (as?: Login) => (await get<{ grants: GrantView[] }>('/grants', as)).grants;
    await run(agent.client, ask);
    const [first] = await waiting();
    const approval = { decision: 'approve', calls: [named(first)], scope: 'hour', reason: 'a <b>\u202e' };
    expect((await send('/approvals/decide', approval)).status).toBe(200);
    const other = await logIn(await linkOf('--approver'));
    const [grant] = await grants(other);
    expect(grant).toMatchObject({
      ...{ id: first?.id, serverId: 'tracker', toolName: 'update_ticket', scope: 'hour' },
      ...{ by: expect.stringContaining('console'), reason: 'a <b>\\u202e' },
    });
    expect((await run(agent.client, ask)).diagnostics).toEqual([]);

    const path = `/grants/${grant?.id}/revoke`;
    expect(await codeOf(await send(path, {}, other))).toEqual([403, 'forbidden']);
    expect(await codeOf(await send('/grants/none/revoke'))).toEqual([404, 'not_found']);
    expect(await grants()).toHaveLength(1);
    expect((await send(path)).status).toBe(200);
    expect(await grants()).toEqual([]);
    expect(await codeOf(await send(path))).toEqual([404, 'not_found']);
    await run(agent.client, ask);
    const asked = await waiting();
    expect(asked.length).toBeGreaterThan(0);
    await send('/approvals/decide', { decision: 'deny', calls: asked.map(named) });
  });

  test('a session that is revoked ends, and its stream says so', async () => {
    const other = await logIn(await linkOf());
    const events = eventsOf(await ask('/events', { as: other }));
    expect((await events.next()).value).toEqual({ type: 'refresh' });
    const sessions = async () => (await get<{ sessions: { id: string }[] }>('/sessions')).sessions.map(({ id }) => id);
    expect(await sessions()).toContain(other.id);
    expect((await send(`/sessions/${other.id}/revoke`)).status).toBe(200);
    expect(await sessions()).not.toContain(other.id);
    expect(await codeOf(await ask('/session', { as: other }))).toEqual([401, 'no_session']);
    let last: ConsoleEvent | undefined;
    for await (const event of events) last = event;
    expect(last).toMatchObject({ type: 'session_ended', message: expect.stringContaining('codemode console') });
    expect(await codeOf(await send(`/sessions/${other.id}/revoke`))).toEqual([404, 'not_found']);
  });

  async function* eventsOf(response: Response): AsyncGenerator<ConsoleEvent> {
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1];
        if (data !== undefined) yield JSON.parse(data) as ConsoleEvent;
      }
    }
  }

  test('runs come in pages, are announced as they happen, and are exported as one file', async () => {
    const events = eventsOf(await ask('/events'));
    await events.next();
    for (const number of [1, 2, 3])
      await run(agent.client, `console.log('page ${number}'); globalThis.__codemode_result__ = ${number};`);
    for await (const event of events)
      if (event.type === 'runs' && event.runs.some(({ title }) => title?.includes('page'))) break;
    const all = (await get<RunPage>('/runs?limit=200')).runs.map(({ runId }) => runId);
    const paged: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await get<RunPage>(`/runs?limit=2${cursor}`);
      paged.push(...page.runs.map(({ runId }) => runId));
      if (page.cursor === undefined) break;
      cursor = `&cursor=${page.cursor}`;
    }
    expect(paged).toEqual(all);
    const found = (await get<RunPage>('/runs?text=PAGE%202&state=succeeded')).runs;
    expect(found.map(({ title }) => title)).toEqual([expect.stringContaining('page 2')]);
    const id = found[0]?.runId;
    const { usage } = await get<RunDetail>(`/runs/${id}`);
    expect([(usage?.cpuMs ?? 0) > 0, (usage?.memoryBytes ?? 0) > 0]).toEqual([true, true]);
    const exported = await get<ExportedRun>(`/runs/${id}/export`);
    const { run: opened } = (await (await send('/runs/open', exported)).json()) as OpenedRun;
    expect(opened).toMatchObject({ runId: id, isFromFile: true, outcome: { status: 'completed', result: 2 } });
    expect(opened.program?.source).toContain('page 2');
    expect(await (await send(`/runs/${id}/replay`)).json()).toMatchObject({
      isSame: true,
      logs: [{ message: 'page 2' }],
    });
    for (const file of [{ format: 'codemode run 1', run: {} }, { some: 'file' }])
      expect(await codeOf(await send('/runs/open', file))).toEqual([400, 'bad_input']);
    const gone = await ask('/runs/00000000-0000-4000-8000-000000000000');
    expect([gone.status, ((await gone.json()) as Failure).error.message]).toEqual([
      404,
      expect.stringContaining('oldest ended runs are deleted'),
    ]);
    expect((await ask('/runs?cursor=zzz')).status).toBe(400);
  });

  test('a rule is tried against past calls, shown as a change, and saved with all comments kept', async () => {
    await run(
      agent.client,
      `import { list_issues } from '@codemode/servers/shop'; globalThis.__codemode_result__ = await list_issues({});`,
    );
    const rule = { tools: 'shop/list_*', decision: 'deny', reason: 'not now' };
    const report = await (await send('/policy/try', { rule, before: 1 })).json();
    expect(report).toMatchObject({
      hits: 1,
      changeCount: 1,
      changes: [{ toolName: 'list_issues', now: 'allow', then: 'deny' }],
    });
    expect(await codeOf(await send('/policy/try', { rule: { tools: 'x', decision: 'perhaps' } }))).toEqual([
      400,
      'bad_input',
    ]);
    for (const tools of [undefined, '', []])
      expect((await send('/policy/diff', { rule: { tools, decision: 'allow' }, before: 1 })).status).toBe(400);
    const diff = (await (await send('/policy/diff', { rule, before: 1 })).json()) as PolicyDiff;
    expect(diff.diff).toContain('+    - tools: shop/list_*');
    const before = readFileSync(home.configFile, 'utf8');
    expect(await codeOf(await send('/policy/save', { rule, before: 1, fileDigest: 'another' }))).toEqual([
      409,
      'conflict',
    ]);
    expect(readFileSync(home.configFile, 'utf8')).toBe(before);
    const saved = await send('/policy/save', { rule, before: 1, fileDigest: diff.fileDigest });
    expect([saved.status, await saved.json()]).toMatchObject([200, { note: expect.stringContaining('restart') }]);
    expect(readFileSync(home.configFile, 'utf8')).toBe(
      before.replace(
        '    # reads',
        '    - tools: shop/list_*\n      decision: deny\n      reason: not now\n    # reads',
      ),
    );
    // It is in the list at once, and said not to count yet.
    const view = await get<PolicyView>('/policy');
    expect(view.isInEffect).toBe(false);
    expect(view.rules.map(({ rule: { tools }, isInEffect, place }) => [tools, isInEffect, place])).toEqual([
      [['shop/list_*'], false, expect.stringMatching(/own\.yaml:\d+:\d+$/)],
      [['shop/get_*'], true, expect.stringMatching(/own\.yaml:\d+:\d+$/)],
    ]);
    const again = await (await send('/policy/try', { rule: { tools: 'shop/list_*', decision: 'allow' } })).json();
    expect(again).toMatchObject({ hits: 0, changeCount: 0 });
  });

  test('a run that is cancelled while suspended keeps its program and its calls, which waited', async () => {
    const pending = run(agent.client, ASKS.replace('A-1', 'B-1'));
    const waiting = async () =>
      (await get<RunPage>('/runs?state=suspended')).runs.find(({ pendingApprovals }) => pendingApprovals === 3);
    await until(async () => (await waiting()) !== undefined);
    await pending;
    const id = (await waiting())?.runId;
    const before = await get<RunDetail>(`/runs/${id}`);
    expect(before.calls.map(({ number, isWaiting, verdict }) => [number, isWaiting, verdict])).toEqual(
      [1, 2, 3].map((number) => [number, true, undefined]),
    );
    expect(await (await send(`/runs/${id}/cancel`)).json()).toMatchObject({ state: 'cancelled' });
    const after = await get<RunDetail>(`/runs/${id}`);
    expect(after.program?.source).toContain('B-1');
    expect(after.calls.map(({ number, isWaiting }) => [number, isWaiting])).toEqual(
      [1, 2, 3].map((number) => [number, undefined]),
    );
    // A file of the run says what waited too, in any console.
    const opened = (await (await send('/runs/open', await get(`/runs/${id}/export`))).json()) as OpenedRun;
    expect(opened.run.approvals).toEqual(after.approvals);
    expect(after.approvals).toHaveLength(3);
  });

  test('what a tool was seen to return is shown, with who saw it', async () => {
    const { observed } = await get<ToolDetail>('/tools/shop/list_issues');
    expect(observed).toContainEqual({
      ...{ caller: 'subject token', profile: 'codemode' },
      type: expect.stringContaining('issues'),
    });
    const { tools } = await get<PlaygroundDeclarations>('/playground/declarations?profile=codemode');
    expect(tools.find(({ exportName }) => exportName === 'update_ticket')).toMatchObject({
      signature: expect.stringContaining('status?: "open" | "done"'),
      input: expect.arrayContaining([{ name: 'id', type: 'string', isRequired: true, description: '' }]),
    });
  });

  test('what servers say arrives as data, on every screen', async () => {
    const source = `import { echo } from '@codemode/servers/hostile'; globalThis.__codemode_result__ = await echo({ size: 2000000 });`;
    const answer = (await (await send('/playground/run', { profile: 'codemode', source })).json()) as {
      runId: string;
      tokens: number;
    };
    expect(answer.tokens).toBeGreaterThan(0);
    for (const path of [
      `/runs/${answer.runId}`,
      '/servers',
      '/tools?query=echo',
      '/tools/hostile/echo',
      '/servers/hostile/log',
      '/audit',
      '/usage',
      '/connect',
      '/policy',
    ]) {
      const response = await ask(path);
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        'application/json; charset=utf-8',
      ]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect((await response.text()).length).toBeLessThan(4_000_000);
    }
    const log = await get<{ lines: string[] }>('/servers/hostile/log');
    expect(log.lines.join('\n')).toContain('<script>');
    expect(await (await send('/audit/verify')).json()).toMatchObject({ isIntact: true });
    const tried = await (await send('/tools/shop/list_issues/try', { arguments: {} })).json();
    expect(tried).toMatchObject({ state: 'answered', ok: true });
  });
});
