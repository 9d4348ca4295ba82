import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { omitUndefined } from '../../../src/lib/omit-undefined.js';
import type { Envelope } from '../../../src/profiles/runner/envelope.js';
import { LedgerHome } from '../../support/ledger.js';
import { needs } from '../../support/needs.js';
import { type Home, startServe } from '../../support/program.js';
import { LANGUAGES, outputDigestByPython, type Sources } from '../../support/runner.js';

/** Programs on real interpreters over REST, on one host that serves them. */

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const TOKENS = [
  { name: 'narrow', sha256: sha256('narrow'), capabilities: ['mcp:ledger/look'] },
  { name: 'reader', sha256: sha256('reader'), scopes: ['tools'] },
  { name: 'ann', sha256: sha256('ann'), scopes: ['approve'] },
];
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const WRITE: Sources = {
  node: `import { write } from './servers/ledger/index.js'; globalThis.result = (await write({ text: 'x' })).structuredContent.did;`,
  python: `from servers.ledger import write\nresult = (await write({'text': 'x'}))['structuredContent']['did']`,
};

describe('codemode serve --profile runner', needs('bubblewrap', 'python3'), () => {
  let home: LedgerHome;
  let server: Awaited<ReturnType<typeof startServe>>;
  beforeAll(async () => {
    home = new LedgerHome({ security: { auth: { tokens: TOKENS } }, sandbox: { limits: { timeout: '5s' } } });
    const state = home.path('state');
    const environment = { PATH: process.env.PATH ?? '', CODEMODE_HOME: state, CODEMODE_KEYRING: 'file' };
    const place = { configFile: home.config, environment, work: home.folder, state } as unknown as Home;
    server = await startServe(place, '--profile', 'runner');
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    home?.[Symbol.dispose]();
  });

  const ask = async (path: string, body?: unknown, token = server.token, signal?: AbortSignal) => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...omitUndefined({ signal }),
    });
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> };
  };
  const soon = <Value>(look: () => Promise<Value>) => vi.waitFor(look, { timeout: 30_000, interval: 50 });
  const waiting = () =>
    soon(async () => {
      const { approvals } = (await ask('/approvals', undefined, 'ann')).body as { approvals: { id: string }[] };
      expect(approvals).toHaveLength(1);
      return approvals[0]?.id ?? '';
    });

  describe.each(LANGUAGES)('a %s program', (language) => {
    const run = (code: string, more: object = {}, token?: string) =>
      ask(`/runner/${language}`, { code, ...more }, token);

    test('is answered with its envelope, and a wrong request by name [B2, B3, B7]', async () => {
      const source = {
        node: `console.log('jo@example.com'); globalThis.result = { a: 'ü' };`,
        python: `print('x')\nresult = { 'a': 'ü', 'id': 2**60 + 1 }`,
      };
      const { status, text, body } = await run(source[language]);
      expect(status).toBe(200);
      expect(body).toMatchObject({ tool_name: `${language}-runner`, result: { ok: true, data: { a: 'ü' } } });
      expect((body as unknown as Envelope).output_digest).toBe(outputDigestByPython(text));
      if (language === 'python') expect(text).toContain('"id":1152921504606846977');
      expect((body as unknown as Envelope).trace_id).toBe(TRACE);
      const wrong = await run(source[language], { timeout: 1 });
      const { input_digest } = body as unknown as Envelope;
      expect(wrong).toMatchObject({ status: 400, body: { input_digest, result: { error: { type: 'InvalidInput' } } } });
      const none = await ask(`/runner/${language}`, { source: 'x' });
      expect(none).toMatchObject({
        status: 400,
        body: { input_digest: expect.stringMatching(/^sha256:e3b0c44298fc/) },
      });
      const late = await run({ node: 'for (;;);', python: 'while True: pass' }[language], { timeout_ms: 300 });
      expect(late).toMatchObject({ status: 200, body: { result: { error: { type: 'Timeout', retryable: true } } } });
    });

    test('brings what it printed and its traceback, redacted [B7, B8]', async () => {
      const source = {
        node: `console.log('to jo@example.com'); console.error('noted');\nthrow new RangeError('too far');`,
        python: `import sys\nprint('to jo@example.com'); print('noted', file=sys.stderr)\nraise IndexError('too far')`,
      };
      const { body } = await run(source[language]);
      expect(body).toMatchObject({
        result: { ok: false },
        logs: expect.stringMatching(/^to \[redacted:email\]\nnoted\n[\s\S]*Error: too far/),
        notes: [expect.stringMatching(/^Redacted: \d email\. .*runner\.redactPersonalData/)],
        traceback: expect.stringContaining('too far'),
      });
    });

    test('has only the rights of its token, and none without one [B15]', async () => {
      expect((await run('1', {}, 'nobody')).status).toBe(401);
      expect((await run('1', {}, 'reader')).status).toBe(403);
      const looks = {
        node: `import { normalize } from './client/mcp_client.js'; import * as ledger from './servers/ledger/index.js';
          globalThis.result = [(await normalize(ledger.look({}))).ok, 'write' in ledger];`,
        python: `from client.mcp_client import normalize
import servers.ledger as ledger
result = [(await normalize(ledger.look({})))['ok'], hasattr(ledger, 'write')]`,
      };
      const { body } = await run(looks[language], {}, 'narrow');
      expect(body).toMatchObject({ result: { ok: true, data: [true, false] } });
    });

    test('waits while somebody decides elsewhere: by the command line, and over REST [B2, B16]', async () => {
      const before = home.lines.length;
      const first = run(WRITE[language]);
      expect(await home.decide('approve', await waiting())).toMatchObject({ status: 0 });
      expect((await first).body).toMatchObject({ approval_state: 'APPROVED', result: { ok: true, data: 'write' } });
      const second = run(WRITE[language]);
      const id = await waiting();
      expect((await ask(`/approvals/${id}/deny`, {})).status).toBe(403);
      expect((await ask(`/approvals/${id}/deny`, {}, 'ann')).status).toBe(200);
      expect((await second).body).toMatchObject({ approval_state: 'DENIED', result: { error: { type: 'ToolError' } } });
      expect(home.lines.slice(before)).toEqual(['write x']);
    });

    test('is seen and ended by its caller, and ends when its client has gone [B9]', async () => {
      const source = { node: 'setInterval(() => {}, 1000);', python: 'import time\ntime.sleep(60)' }[language];
      const live = async () => {
        const { runs } = (await ask('/runs')).body as { runs: { runId: string; state: string }[] };
        return runs.filter(({ state }) => state === 'running');
      };
      const ended = run(source);
      const [found] = await soon(async () => {
        const running = await live();
        expect(running).toHaveLength(1);
        return running;
      });
      await ask(`/runs/${found?.runId}/cancel`, {});
      expect((await ended).body).toMatchObject({ run_id: found?.runId, result: { error: { type: 'Cancelled' } } });
      const gone = new AbortController();
      const left = ask(`/runner/${language}`, { code: source }, server.token, gone.signal);
      await soon(async () => expect(await live()).toHaveLength(1));
      gone.abort();
      await expect(left).rejects.toThrow();
      await soon(async () => expect(await live()).toHaveLength(0));
    });
  });

  test('is described in the OpenAPI document', async () => {
    const { paths } = (await ask('/openapi.json')).body as {
      paths: Record<string, { post?: { operationId: string } }>;
    };
    expect(LANGUAGES.map((language) => paths[`/runner/${language}`]?.post?.operationId)).toEqual([
      'run_node',
      'run_python',
    ]);
  });
});
