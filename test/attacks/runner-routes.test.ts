import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.js';
import { everyday, openHome, startServe } from '../support/program.js';
import { listed, restClient } from '../support/rest.js';

/* What callers of REST may do to each other: identity, quotas and budgets, at the routes of real interpreters and of runs. */
const RUNS = 2;
const TOKENS = [
  ...[listed('mallory'), listed('bob'), listed('reader', 'tools')],
  ...[listed('decides', 'approve'), listed('administers', 'servers')],
];

describe('callers of codemode serve --profile runner', needs('bubblewrap', 'python3'), () => {
  let home: ReturnType<typeof openHome>;
  let server: Awaited<ReturnType<typeof startServe>>;
  let rest: ReturnType<typeof restClient>;
  beforeAll(async () => {
    home = openHome({
      profile: 'runner',
      mcpServers: { everyday: everyday() },
      server: { maxRequestSize: '64KB' },
      policy: {
        preset: 'open',
        rules: [{ tools: 'everyday/echo', caller: 'subject token mallory', decision: 'deny' }],
      },
      quotas: { runs: RUNS, history: 3, memory: '1MiB' },
      security: { auth: { tokens: TOKENS } },
    });
    server = await startServe(home);
    rest = restClient(server.url, 'bob');
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    home?.[Symbol.dispose]();
  });

  const execute = (token: string, code: string) =>
    rest.post('/execute', token, { code, timeout: 20_000, capabilities: ['mcp:everyday'] });
  const onNode = (token: string, code: string) => rest.post('/runner/node', token, { code });
  const ECHO = {
    node: `import { echo } from './servers/everyday/index.js'; globalThis.result = (await echo({ message: 'x' })).content[0].text;`,
    python: `from servers.everyday import echo\nresult = (await echo({'message': 'x'}))['content'][0]['text']`,
  };

  test.each(['node', 'python'] as const)('a %s program has the rules of its token', async (language) => {
    const ran = async (token: string) => rest.post(`/runner/${language}`, token, { code: ECHO[language] });
    expect((await ran('bob')).body.result).toMatchObject({ ok: true, data: 'x' });
    expect((await ran('mallory')).body.result).toMatchObject({ ok: false });
    expect(await ran('reader')).toMatchObject({ status: 403 });
    expect(await ran('nobody')).toMatchObject({ status: 401 });
  });

  test('runs over the quota are refused by name, and another caller is served', async () => {
    const slow = `import { slow } from './servers/everyday/index.js'; await slow({ ms: 1_500 }); globalThis.result = 1;`;
    const flood = Promise.all(Array.from({ length: RUNS + 1 }, () => onNode('mallory', slow)));
    expect((await onNode('bob', 'globalThis.result = 2;')).body.result).toMatchObject({ data: 2 });
    const answers = await flood;
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.map(({ body }) => body.result)).toEqual([
      expect.objectContaining({
        error: { type: 'RateLimit', message: expect.stringContaining('quotas.runs'), retryable: true },
      }),
    ]);
    expect((await onNode('mallory', 'globalThis.result = 3;')).body.result).toMatchObject({ data: 3 });
  });

  test.each([
    ['/runner/node', 'bob'],
    ['/runner/python', 'bob'],
    ['/approvals/x/approve', 'decides'],
    ['/approvals/x/deny', 'decides'],
    ['/servers', 'administers'],
  ])('bodies for %s that are too large or too deep are refused before anything is done', async (path, token) => {
    const deep = `{"code":"1","name":"x","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const statuses = [`{"code":"${'x'.repeat(70_000)}"}`, deep].map(async (body) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return (await fetch(`${server.url}/api/v1${path}`, { method: 'POST', headers, body })).status;
    });
    expect(await Promise.all(statuses)).toEqual([413, 400]);
  });

  test('the arguments of open calls count as memory of the host', async () => {
    const large = `import { slow } from './servers/everyday/index.js';
      globalThis.result = await slow({ ms: 1_000, note: Array(20_000).fill({}) });`;
    const { body } = await onNode('mallory', large);
    expect(JSON.stringify(body.result)).toContain('quotas.memory');
    expect((await onNode('bob', 'globalThis.result = 2;')).body.result).toMatchObject({ data: 2 });
  });

  test('tools that a rule denies to a token are not listed for it', async () => {
    const toolsOf = async (token: string) => JSON.stringify((await rest.get('/tools', token)).body);
    expect(await toolsOf('bob')).toContain('"echo"');
    expect(await toolsOf('mallory')).not.toContain('"echo"');
  });

  test("runs are their caller's alone, and many of one push out none of another", async () => {
    const kept = 'kept by bob';
    await execute('bob', `return ${JSON.stringify(kept)}`);
    const runsOf = async (token: string) => (await rest.get('/runs', token)).body.runs ?? [];
    await expect.poll(async () => (await runsOf('bob')).length).toBeGreaterThan(0);
    const [{ runId } = { runId: '' }] = await runsOf('bob');
    // More than are kept of one caller, and enough for those over it to be taken away.
    for (let n = 0; n < 30; n += 1) await Promise.all([execute('mallory', 'return 1'), execute('mallory', 'return 2')]);
    for (const path of [`/runs/${runId}`, `/runs/${runId}/result`]) {
      expect(await rest.get(path, 'mallory')).toMatchObject({ status: 404 });
      expect(JSON.stringify((await rest.get(path, 'bob')).body)).toContain(kept);
    }
    expect(await rest.post(`/runs/${runId}/cancel`, 'mallory')).toMatchObject({ status: 404 });
    expect((await runsOf('mallory')).length).toBeLessThan(60);
    expect((await runsOf('mallory')).map((each) => each.runId)).not.toContain(runId);
  });

  test('without a token no route says anything', async () => {
    const routes = [
      ...[
        '/metrics',
        '/api/v1/openapi.json',
        '/api/v1/tools',
        '/api/v1/runs',
        '/api/v1/runs/x',
        '/api/v1/runs/x/result',
      ],
      ...['/api/v1/approvals', '/api/v1/approvals/x', '/api/v1/servers'],
    ];
    const asked = routes.map(async (path) => [path, (await fetch(`${server.url}${path}`)).status]);
    expect(await Promise.all(asked)).toEqual(routes.map((path) => [path, 401]));
  });
});
