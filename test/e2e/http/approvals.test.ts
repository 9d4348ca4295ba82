import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openIssuer } from '../../support/issuer.js';
import { nodeServer, openHome, runProgram, startServe } from '../../support/program.js';
import { listed, restClient } from '../../support/rest.js';
import { fixture } from '../../support/upstreams.js';

const SECRET = 'canary-5f1c9d7e2b';
let issuer: Awaited<ReturnType<typeof openIssuer>>;
let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
let rest: ReturnType<typeof restClient>;

const ledger = () => join(home.work, 'ledger.txt');
const lines = () => (existsSync(ledger()) ? readFileSync(ledger(), 'utf8').split('\n').slice(0, -1) : []);

beforeAll(async () => {
  issuer = await openIssuer();
  home = openHome({
    approvals: { grace: '20ms' },
    mcpServers: {
      ledger: { ...nodeServer(fixture('ledger-server.mjs'), 'ledger.txt'), env: { API_KEY: SECRET } },
      crm: { ...nodeServer(fixture('ledger-server.mjs'), 'crm.txt'), labels: ['private'] },
    },
    security: {
      capabilities: {
        network: { allowedHosts: ['127.0.0.1'], allowedPorts: [9] },
        filesystem: { allowedPaths: [tmpdir()], readOnly: false },
        // Tests make calls one after the other with the same token.
        mcp: { maxCallsPerSecond: 1_000 },
      },
      auth: {
        ...issuer.settings,
        tokens: [listed('agent'), listed('other'), listed('ann', 'approve'), listed('bob', 'approve')],
      },
    },
  });
  server = await startServe(home);
  rest = restClient(server.url, 'agent');
}, 60_000);
afterAll(async () => {
  await server?.stop();
  issuer?.close();
  home?.[Symbol.dispose]();
});

/** A suspended run of the agent, and the approval that it waits for. */
async function suspendedRun(text: string, more = '', token = 'agent') {
  const code = `const { did } = await mcp.ledger.write({ text: ${JSON.stringify(text)} }); ${more} return did`;
  const context = { requestId: `request ${text}` };
  const answer = await rest.post('/execute', token, { code, capabilities: ['mcp:ledger'], context });
  const { details } = answer.body.error ?? {};
  const { runId, approvals } = details as { runId: string; approvals: { id: string }[] };
  return { answer, runId, id: approvals[0]?.id ?? '' };
}
const stateOf = async (runId: string, token = 'agent') => (await rest.get(`/runs/${runId}`, token)).body.state;

test('a run that needs a person is suspended, approved over REST, resumed, and fetched by id [B16, C1]', async () => {
  const { answer, runId, id } = await suspendedRun('one');
  expect([answer.status, answer.headers.get('location')]).toEqual([202, `/api/v1/runs/${runId}`]);
  expect(answer.body).toMatchObject({ success: false, error: { type: 'security', code: 'APPROVAL_PENDING' } });
  // What it took until it was suspended; the call that waits was not made.
  const { metrics: before } = answer.body;
  expect(before).toMatchObject({ apiCalls: 0 });
  for (const key of ['executionTime', 'memoryUsed', 'cpuTime'] as const) expect(before?.[key]).toBeGreaterThan(0);
  expect(answer.body.error?.message).toMatch(
    /ledger\/write \{"text":"one"\} .*This call was not sent yet; without a decision by 20\d\d-/,
  );
  expect(answer.body.error?.details).toMatchObject({
    approvals: [{ id, expiresAt: expect.stringMatching(/^20\d\d-/) }],
  });
  expect(await rest.get(`/runs/${runId}`, 'agent')).toMatchObject({
    status: 200,
    body: { runId, state: 'suspended', response: null, approvals: [{ id, state: 'PENDING' }] },
  });
  expect(await rest.get(`/runs/${runId}/result`, 'agent')).toMatchObject({ status: 202, body: { state: 'suspended' } });
  const question = {
    id,
    runId,
    caller: 'subject token agent',
    tool: 'ledger/write',
    arguments: { text: 'one' },
    digest: createHash('sha256').update('{"text":"one"}').digest('hex'),
    hiddenParts: 0,
    code: expect.stringContaining('mcp.ledger.write'),
    reason: expect.stringContaining('destructive'),
    state: 'PENDING',
    createdAt: expect.any(String),
    expiresAt: expect.any(String),
  };
  expect((await rest.get('/approvals', 'ann')).body).toEqual({ approvals: [question] });
  expect((await rest.get(`/approvals/${id}`, 'ann')).body).toEqual(question);
  expect(lines()).toEqual([]);
  const approved = await rest.post(`/approvals/${id}/approve`, 'ann', { reason: 'looks right' });
  const decision = { by: 'token ann', at: expect.any(String), scope: 'call', reason: 'looks right' };
  expect([approved.status, approved.body]).toEqual([200, { ...question, state: 'APPROVED', decision }]);
  await expect.poll(() => stateOf(runId)).toBe('succeeded');
  expect(lines()).toEqual(['write one']);
  const response = { success: true, result: 'write', requestId: 'request one' };
  expect((await rest.get(`/runs/${runId}`, 'agent')).body).toMatchObject({ response });
  const result = await rest.get(`/runs/${runId}/result`, 'agent');
  expect(result).toMatchObject({ status: 200, body: response });
  // The whole run, before and after its suspension.
  const { metrics: after } = result.body;
  expect(after).toMatchObject({ apiCalls: 1 });
  for (const key of ['executionTime', 'cpuTime'] as const)
    expect(after?.[key]).toBeGreaterThan(before?.[key] ?? Number.NaN);
  expect((await rest.get('/approvals', 'ann')).body).toEqual({ approvals: [] });
  expect((await rest.get('/approvals?state=all', 'ann')).body).toMatchObject({ approvals: [{ id, decision }] });
});

test('a call that a person denies is an error of the code, of the type security [B16, C13]', async () => {
  const before = lines();
  const { runId, id } = await suspendedRun('two');
  expect(await rest.post(`/approvals/${id}/deny`, 'ann', { reason: 'not today' })).toMatchObject({
    status: 200,
    body: { state: 'DENIED' },
  });
  await expect.poll(() => stateOf(runId)).toBe('failed');
  const { body } = await rest.get(`/runs/${runId}/result`, 'agent');
  expect(body).toMatchObject({
    success: false,
    error: {
      type: 'security',
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('a person denied it: not today'),
    },
  });
  expect(lines()).toEqual(before);
});

test('if two people decide at once, the first decides and the second gets an error [B16]', async () => {
  const { runId, id } = await suspendedRun('three');
  const answers = await Promise.all([
    rest.post(`/approvals/${id}/approve`, 'ann'),
    rest.post(`/approvals/${id}/deny`, 'bob'),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const [late] = answers.filter(({ status }) => status === 409);
  expect(late?.body.error).toMatchObject({ type: 'validation', code: 'CONFLICT' });
  expect(late?.body.error?.message).toMatch(/was (approved|denied) by token (ann|bob) at .*nothing/);
  await expect.poll(() => stateOf(runId)).toMatch(/succeeded|failed/);
  expect((await rest.post(`/approvals/${id}/approve`, 'ann')).status).toBe(409);
  expect((await rest.post('/approvals/none/approve', 'ann')).status).toBe(404);
  expect((await rest.get('/approvals/none', 'ann')).status).toBe(404);
});

test('secrets are redacted in what people are shown, over REST as on the command line [B16]', async () => {
  const { runId, id } = await suspendedRun(`key ${SECRET}`, `console.log('${SECRET}');`);
  const { body } = await rest.get(`/approvals/${id}`, 'ann');
  const secretDigest = createHash('sha256').update(SECRET).digest('hex').slice(0, 12);
  const mark = `[redacted:credential ${SECRET.length} characters sha256:${secretDigest}]`;
  expect(body).toMatchObject({ arguments: { text: `key ${mark}` }, hiddenParts: 1 });
  const { stdout } = await runProgram(home, 'approvals', 'show', id, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ arguments: body.arguments, code: body.code });
  expect(JSON.stringify(body) + stdout).not.toContain(SECRET);
  // The call is made with what the code gave.
  await rest.post(`/approvals/${id}/approve`, 'ann');
  await expect.poll(() => stateOf(runId)).toBe('succeeded');
  expect(lines().at(-1)).toBe(`write key ${SECRET}`);
});

test('a decision over REST is about what it names: a digest, or the calls that were shown [B16]', async () => {
  const code = `await Promise.all(['a', 'b'].map((text) => mcp.ledger.write({ text }))); return 1`;
  const { body } = await rest.post('/execute', 'agent', { code, capabilities: ['mcp:ledger'] });
  const details = body.error?.details as { runId: string; approvals: { id: string }[] } | undefined;
  const { runId = '', approvals = [] } = details ?? {};
  const ids = approvals.map(({ id }) => id);
  const approve = (answer: object) => rest.post(`/approvals/${ids[0]}/approve`, 'ann', answer);
  expect(await approve({ scope: 'calls' })).toMatchObject({ status: 400, body: { error: { type: 'validation' } } });
  expect(await approve({ digest: 'f'.repeat(64) })).toMatchObject({
    status: 409,
    body: { error: { code: 'CONFLICT' } },
  });
  expect(await stateOf(runId)).toBe('suspended');
  expect((await approve({ scope: 'calls', ids })).status).toBe(200);
  await expect.poll(() => stateOf(runId)).toBe('succeeded');
});

test('a request to the network and a written file are asked about once the run has private data [B15]', async () => {
  const capabilities = {
    mcp: { allowedServers: ['crm'] },
    network: { allowedHosts: ['127.0.0.1'], allowedPorts: [9] },
    filesystem: { allowedPaths: [home.work], readOnly: false },
  };
  for (const effect of [`fetch('http://127.0.0.1:9/?q=1')`, `fs.writeFile('${home.work}/out.txt', 'x')`]) {
    const code = `await mcp.crm.look({}); await ${effect}; return 1`;
    const { body } = await rest.post('/execute', 'agent', { code, capabilities });
    expect(body.error).toMatchObject({ code: 'APPROVAL_PENDING' });
    expect(body.error?.message).toContain('private data from crm');
  }
});

test('a person lists a grant over REST and revokes it, and the next call asks again [B16]', async () => {
  const { runId, id } = await suspendedRun('granted');
  await rest.post(`/approvals/${id}/approve`, 'ann', { scope: 'hour' });
  await expect.poll(() => stateOf(runId)).toBe('succeeded');
  const grants = async () => (await rest.get('/approvals/grants', 'ann')).body.grants as { id: string }[];
  expect((await grants()).filter((grant) => grant.id === id)).toMatchObject([{ id, scope: 'hour', by: 'token ann' }]);
  expect((await rest.post(`/approvals/${id}/revoke`, 'agent')).status).toBe(403);
  expect(await rest.post(`/approvals/${id}/revoke`, 'ann', { reason: 'done' })).toMatchObject({
    status: 200,
    body: { id, scope: 'hour' },
  });
  expect((await grants()).filter((grant) => grant.id === id)).toEqual([]);
  expect(await rest.post(`/approvals/${id}/revoke`, 'ann')).toMatchObject({
    status: 404,
    body: { error: { message: `"${id}" is not a grant; list them with: codemode approvals grants` } },
  });
  expect(await stateOf((await suspendedRun('granted again')).runId)).toBe('suspended');
});

describe('an agent that wants its own approval over REST', () => {
  test('is refused on every route, whatever it claims [B16, C5]', async () => {
    const { runId, id } = await suspendedRun('four');
    const agents = {
      listed: 'agent',
      'of the issuer': await issuer.token({ scope: 'execute tools' }),
      'of the issuer, with both scopes': await issuer.token({ scope: 'execute approve' }),
      'of the issuer, with both scopes in two claims': await issuer.token({ scope: 'execute', scp: ['approve'] }),
      'with a scope that only looks right': await issuer.token({ scope: 'Approve approve,execute approver' }),
      'with scopes under other names': await issuer.token({
        scope: undefined,
        roles: ['approve'],
        permissions: 'approve',
      }),
    };
    for (const [name, token] of Object.entries(agents)) {
      for (const path of ['/approvals', `/approvals/${id}`, '/approvals?scope=approve', '/approvals/grants'])
        expect([name, path, (await rest.get(path, token)).status]).toEqual([name, path, 403]);
      for (const verb of ['approve', 'deny', 'revoke']) {
        const { status, body } = await rest.post(`/approvals/${id}/${verb}?scope=approve`, token, { scope: 'hour' });
        expect([name, verb, status, body.error]).toMatchObject([name, verb, 403, { code: 'FORBIDDEN' }]);
      }
    }
    const [head, body, signature] = (await issuer.token()).split('.');
    const claims = { ...JSON.parse(Buffer.from(body ?? '', 'base64url').toString()), scope: 'approve' };
    const forged = [head, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
    expect((await rest.post(`/approvals/${id}/approve`, forged)).status).toBe(401);
    for (const path of [
      `/approvals/${id}/approve/`,
      `/Approvals/${id}/approve`,
      `/approvals/${id}%2Fapprove`,
      `/./approvals/${id}/approve`,
    ])
      expect((await rest.post(path, 'agent')).status).not.toBe(200);
    expect(await stateOf(runId)).toBe('suspended');
    // A person of the same issuer decides.
    const person = await issuer.token({ scope: 'approve' });
    expect((await rest.post(`/approvals/${id}/deny`, person)).body).toMatchObject({ decision: { by: 'user ann' } });
  });

  test('gets no yes from that of another run, and a person runs no code [B16, C5]', async () => {
    const mine = await suspendedRun('same');
    const others = await suspendedRun('same', '', 'other');
    await rest.post(`/approvals/${mine.id}/approve`, 'ann', { scope: 'calls' });
    await expect.poll(() => stateOf(mine.runId)).toBe('succeeded');
    expect(await stateOf(others.runId, 'other')).toBe('suspended');
    const again = await suspendedRun('same');
    expect(await stateOf(again.runId)).toBe('suspended');
    expect((await rest.post('/execute', 'ann', { code: 'return 1' })).status).toBe(403);
    expect((await rest.get(`/runs/${mine.runId}`, 'ann')).status).toBe(403);
  });

  test('a configuration that lists one token for both is refused with its place [C12]', async () => {
    using both = openHome({ security: { auth: { tokens: [listed('both', 'execute', 'approve')] } } });
    const { status, stderr } = await runProgram(both, 'serve', '--port', '0');
    expect([status, stderr]).toEqual([2, expect.stringContaining('execute or approve, not both')]);
    expect(stderr).toContain('security.auth.tokens[0].scopes');
  });
});

describe('runs over REST', () => {
  test('a caller sees and ends its own runs only, whatever they do, and is told when they are over [C1]', async () => {
    const { runId, id } = await suspendedRun('five');
    for (const path of [`/runs/${runId}`, `/runs/${runId}/result`])
      expect((await rest.get(path, 'other')).status).toBe(404);
    expect((await rest.post(`/runs/${runId}/cancel`, 'other')).status).toBe(404);
    const listing = (await rest.get('/runs', 'other')).body.runs;
    expect(listing?.some((run) => run.runId === runId)).toBe(false);
    const own = (await rest.get('/runs', 'agent')).body.runs;
    expect(own?.find((run) => run.runId === runId)).toMatchObject({ state: 'suspended' });
    expect((await rest.post(`/runs/${runId}/cancel`, 'agent')).body).toMatchObject({ runId, state: 'cancelled' });
    expect((await rest.get(`/runs/${runId}/result`, 'agent')).body).toMatchObject({
      success: false,
      error: { code: 'CANCELLED' },
    });
    expect(await rest.post(`/runs/${runId}/cancel`, 'agent')).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT' } },
    });
    // Its approval is closed with it: a late decision is told so, and resumes nothing.
    const before = lines();
    expect((await rest.post(`/approvals/${id}/approve`, 'ann')).status).toBe(409);
    expect(await stateOf(runId)).toBe('cancelled');
    expect(lines()).toEqual(before);
  });

  test('one that was resumed by a decision is cancelled while it runs [C1]', async () => {
    const { runId, id } = await suspendedRun('six', "await mcp.ledger.look({ text: 'endless', delayMs: 60_000 });");
    await rest.post(`/approvals/${id}/approve`, 'ann');
    await expect.poll(() => lines().at(-1)).toBe('look endless');
    expect(await stateOf(runId)).toBe('running');
    expect((await rest.post(`/runs/${runId}/cancel`, 'agent')).body).toMatchObject({ state: 'cancelled' });
    expect((await rest.get(`/runs/${runId}/result`, 'agent')).body).toMatchObject({
      error: { code: 'CANCELLED' },
      requestId: 'request six',
    });
  });
});
