import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';
import { needs } from '../../support/needs.js';
import { startRefusingServer } from '../../support/refusing-server.js';
import { LANGUAGES, RunnerHome, read } from '../../support/runner.js';

const NAMES = ['busy', 'away', 'away_write', 'lost'];

test.each(LANGUAGES)(
  '429 is RateLimit with its wait; 503 and lost read-only answers are TransientNetwork: %s [B11, B22]',
  needs('bubblewrap', 'python3'),
  async (language) => {
    await using server = await startRefusingServer();
    using home = new RunnerHome({});
    const config = home.write('refusing.json', {
      mcpServers: {
        web: { url: server.url, retryPolicy: { maxAttempts: 1 } },
        api: { openapi: home.write('api.json', server.document), baseUrl: server.url.replace('/mcp', '/api') },
      },
      policy: [{ tools: ['web/*', 'api/*'], decision: 'allow' }],
    });
    const calls = [...NAMES.map((name) => ['web', name]), ['api', 'busy'], ['api', 'away']];
    const source = {
      node: `import { callTool, normalize } from './client/mcp_client.js';
        const said = [];
        for (const [server, name] of ${JSON.stringify(calls)}) {
          const { error, raw } = await normalize(callTool(server, name, {}));
          said.push([server + '/' + name, error.type, error.retryable]);
        }
        let wait;
        try { await callTool('web', 'busy', {}); } catch (error) { wait = [error.hint, error.raw.fields?.retryAfterMs]; }
        globalThis.result = { said, wait };`,
      python: `from client.mcp_client import ToolError, call_tool, normalize
said = []
for server, name in ${JSON.stringify(calls)}:
    answer = await normalize(call_tool(server, name, {}))
    said.append([server + '/' + name, answer['error']['type'], answer['error']['retryable']])
try:
    await call_tool('web', 'busy', {})
except ToolError as error:
    wait = [error.hint, error.raw['fields'].get('retryAfterMs')]
result = {'said': said, 'wait': wait}`,
    }[language];
    const { data, stderr } = await run(home, config, language, source);
    expect(data, stderr).toEqual({
      said: [
        ['web/busy', 'RateLimit', true],
        ['web/away', 'TransientNetwork', true],
        ['web/away_write', 'OutcomeUnknown', false],
        ['web/lost', 'TransientNetwork', true],
        ['api/busy', 'RateLimit', true],
        ['api/away', 'TransientNetwork', true],
      ],
      wait: ['Wait 7 s, then make the same call again.', 7_000],
    });
    const { error } = await run(
      home,
      config,
      language,
      {
        node: `import { callTool } from './client/mcp_client.js'; await callTool('web', 'busy', {});`,
        python: `from client.mcp_client import call_tool\nawait call_tool('web', 'busy', {})`,
      }[language],
    );
    expect(error).toMatchObject({ type: 'RateLimit', retryable: true, message: expect.stringContaining('Wait 7 s') });
  },
);

describe('a server over HTTP', needs('bubblewrap'), () => {
  let server: Awaited<ReturnType<typeof startRefusingServer>>;
  let codemode: CodemodeClient;
  beforeAll(async () => {
    server = await startRefusingServer();
    codemode = await startCodemode({
      servers: { web: { url: server.url } },
      config: { policy: [{ tools: ['web/*'], decision: 'allow' }] },
    });
  });
  afterAll(async () => {
    await codemode?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });
  const call = (name: string) =>
    codemode.value(`import * as web from '@codemode/servers/web';
globalThis.__codemode_result__ = await web.${name}({}).catch((error) => [error.message, error.hint]);`);

  test('that has no room is asked again after the wait that it names, where that is short [B22]', async () => {
    expect(await call('full_once')).toBe('there is room');
    expect(await call('busy')).toEqual([
      expect.stringContaining('too many requests'),
      'Wait 7 s, then make the same call again.',
    ]);
  });

  test.each([
    ['garbled', 'the answer has no result'],
    ['half', 'the answer is not JSON'],
  ])('whose answer is none, in a stream that stays open, fails its call at once: %s', async (name, reason) => {
    expect(await call(name)).toEqual([
      expect.stringContaining(`sent an invalid answer: ${reason}`),
      expect.any(String),
    ]);
  });
});

async function run(home: RunnerHome, config: string, language: string, input: string) {
  return read(await home.run(['--config', config, 'runner', language], { input }));
}
