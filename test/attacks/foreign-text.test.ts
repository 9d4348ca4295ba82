import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Home } from '../support/cli.js';
import { needs } from '../support/needs.js';
import { nodeServer, openHome, openStdio, ready, run, startServe } from '../support/program.js';
import { listed } from '../support/rest.js';
import { fixture } from '../support/upstreams.js';

/*
 * Rule 5: foreign text is one visible line. A server puts line breaks, terminal sequences, zero-width, bidirectional and tag
 * characters into everything that it says. At every entry point they are shown as what they are.
 */

const MARK = 'FAKE LINE';
/** A line of its own, an erased screen, reversed order, a hidden word, half a character. */
const HOSTILE = `\n${MARK}\r\u001b[2J\u009b31m\u202e\u2066x\u200b\u{e0041}\u{e0042}\u3164\ufe0e\u007f\u0000\ud800`;
/** Half a character does not survive its way through a program: such a tool can be listed, not called. */
const TOOL = `delete_thing${HOSTILE.replace('\ud800', '')}`;
/** As far as it can be typed. */
const TYPED = HOSTILE.replace(/\0|\ud800/g, '');
/** One line break is what the reader's own lines are made of; nothing else may be there that cannot be seen. */
const UNSEEN = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

function expectVisible(text: string): void {
  expect(text.replaceAll('\t', ' ')).not.toMatch(UNSEEN);
  // Where a line of the program's own could stand.
  expect(text).not.toMatch(new RegExp(`^(?:codemode: )?${MARK}`, 'm'));
}

/** Every string of a value, names included. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, each]) => [key, ...strings(each)]);
}

function expectAllVisible(value: unknown): void {
  const all = strings(value);
  expect(
    all.some((text) => text.includes(MARK)),
    JSON.stringify(value),
  ).toBe(true);
  for (const text of all) expectVisible(text);
}

const SCHEMA = {
  type: 'object',
  title: `title${HOSTILE}`,
  description: `description${HOSTILE}`,
  properties: {
    plain: { type: 'string', description: `about${HOSTILE}`, default: `default${HOSTILE}` },
    [`property${HOSTILE}`]: { type: 'string', enum: [`value${HOSTILE}`] },
  },
};
const SCRIPT = {
  name: `server${HOSTILE}`,
  version: `1.0${HOSTILE}`,
  instructions: `instructions${HOSTILE}`,
  tools: [
    ...[TOOL, 'tame'].map((name) => ({
      ...{ name, title: `title${HOSTILE}`, description: `words${HOSTILE}`, inputSchema: SCHEMA, outputSchema: SCHEMA },
      annotations: { title: `annotated${HOSTILE}` },
    })),
    { name: 'broken', description: `broken${HOSTILE}`, inputSchema: { type: 'object' } },
  ],
  replies: { broken: { rpcError: { code: -32000, message: `failed${HOSTILE}` } } },
};

const server = (folder: string) => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'script.json');
  writeFileSync(file, JSON.stringify(SCRIPT));
  return nodeServer(fixture('scripted-server.mjs'), file);
};

describe('on the command line', () => {
  let home: Home;
  beforeAll(async () => {
    home = new Home();
    const mcpServers = { hostile: server(home.path('server')), gone: { command: 'no-such', args: [TYPED] } };
    home.write('codemode.config.json', { mcpServers });
    // A run that waits for a person, and one that failed: what the lists below show.
    const source = `import * as hostile from '@codemode/servers/hostile';
      await hostile.broken({}).catch((error) => console.log(error.message));
      await Promise.all(Object.values(hostile).map((each) => typeof each === 'function' ? each({ plain: ${JSON.stringify(HOSTILE)} }) : 0));`;
    await home.run(['run', home.write('program.ts', source)]);
  });
  afterAll(() => home[Symbol.dispose]());

  test.each(
    [
      ['tools'],
      ['tools', '--detail', 'full'],
      ['tools', '--json', '--detail', 'full'],
      ['types'],
      ['types', '--language', 'go'],
      ['prompt'],
      ['servers'],
      ['doctor'],
      ['approvals'],
      ['approvals', 'show', 'last'],
      ['audit'],
      ['audit', '--json'],
      ['runs'],
      ['runs', 'show', 'last'],
      ['policy', 'check', `hostile/delete_thing${TYPED}`],
      ['config', 'explain'],
      ['measure'],
      ['auth', 'status'],
      ['servers', TYPED],
      ['run', `no-such-file${TYPED}.ts`],
    ].map((words) => ({ name: words.join(' ').split('\n', 1)[0], words })),
  )('codemode $name shows it as what it is', async ({ words }) => {
    const { stdout, stderr } = await home.run(words);
    expect(stdout + stderr).not.toBe('');
    expectVisible(stdout);
    expectVisible(stderr);
  });
});

test('what is undone, kept of a run, and accepted shows it as what it is', async () => {
  using home = new Home();
  const undo = [{ tool: `hostile/${TOOL}`, with: 'tame', arguments: { plain: '$arguments.plain' } }];
  home.write('codemode.config.json', {
    policy: { preset: 'open', undo },
    mcpServers: { hostile: server(home.path('server')) },
  });
  const source = `import * as hostile from '@codemode/servers/hostile';
    const value = ${JSON.stringify(HOSTILE.replace('\ud800', ''))};
    for (const each of Object.values(hostile)) if (typeof each === 'function') await each({ plain: value }).catch(() => 0);
    globalThis.__codemode_result__ = value;`;
  await home.run(['run', home.write('program.ts', source)]);
  const fromRun = ['scripts', 'add', '--from-run', 'last', '--name', 'kept', '--description', TYPED];
  const shows = async (...words: string[]) => {
    const { stdout, stderr } = await home.run(words);
    expect(`${words.join(' ')}: ${stdout}${stderr}`).toContain(MARK);
    expectVisible(stdout);
    expectVisible(stderr);
  };
  await shows(...fromRun, '--dry-run');
  await shows(...fromRun, '--dry-run', '--json');
  await shows(...fromRun);
  await shows('scripts');
  await shows('runs', 'undo', 'last', '--dry-run');
  await shows('runs', 'undo', 'last', '--dry-run', '--json');
  await shows('runs', 'undo', 'last', '--yes');
  const changed = { ...SCRIPT, tools: SCRIPT.tools.map((tool) => ({ ...tool, description: 'another' })) };
  home.write('server/script.json', changed);
  await shows('scripts', 'accept', 'kept');
});

describe.each(['legacy', 'modern'] as const)('over MCP on stdio, %s era', (era) => {
  test('instructions, descriptions, direct tools, discovery and forms show it as what it is', async () => {
    using home = openHome({});
    const config = {
      mcpServers: { hostile: server(join(home.work, 'server')), code: server(join(home.work, 'other')) },
      defaults: { codeMode: { excludedTools: ['hostile/*'] } },
    };
    writeFileSync(home.configFile, JSON.stringify(config));
    const asked: unknown[] = [];
    await using session = await openStdio(home, era, { capabilities: { elicitation: {} } });
    const { client } = session;
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params);
      return { action: 'accept', content: { decision: 'deny' } } as never;
    });
    await ready(client, 'code');
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(3);
    expectAllVisible(tools);
    expectVisible(client.getInstructions() ?? '');
    const { resources } = await client.listResources();
    for (const { uri } of resources) expectAllVisible(await client.readResource({ uri }));

    const found = await run(
      client,
      `import { listTools, searchTools, getTool, getTypes, describeServer } from '@codemode/discovery';
       const all = await listTools('code', { detail: 'full' });
       const tool = await getTool('code', all.find(({ toolName }) => toolName.startsWith('delete')).toolName);
       globalThis.__codemode_result__ = [all, tool, await searchTools('thing', { detail: 'full' }), await getTypes('code'), await describeServer('code')];`,
    );
    expect(found.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expectAllVisible(found.result);

    // In the newer era a form is part of an answer, made by the same function.
    if (era === 'modern') return;
    const answer = await run(
      client,
      `import * as code from '@codemode/servers/code';
       const [name] = Object.keys(code).filter((each) => each.startsWith('delete'));
       await code[name]({ plain: 'x' });`,
    );
    expect(asked, JSON.stringify(answer)).toHaveLength(1);
    expectAllVisible(asked);
    expect((asked[0] as { message: string }).message.split('\n')).toHaveLength(3);
    expectVisible(strings(answer.diagnostics).join('\n'));
    expectVisible(strings(answer.toolTrace).join('\n'));
    expectVisible(session.stderr());
  });
});

test.each(['codemode', 'code_execution', 'unified', 'runner', 'go'])(
  'what an agent reads before its first program shows it as what it is: profile %s',
  async (profile) => {
    using home = openHome({});
    writeFileSync(home.configFile, JSON.stringify({ mcpServers: { hostile: server(join(home.work, 'server')) } }));
    await using session = await openStdio(home, 'legacy', {}, ['--profile', profile]);
    const { tools } = await session.client.listTools();
    const texts = [...strings(tools), session.client.getInstructions() ?? ''];
    expect(texts.join('\n')).toMatch(/hostile|delete/);
    for (const text of texts) expectVisible(text);
  },
);

test('over HTTP, REST and MCP of both eras list tools and refuse with everything to be seen', async () => {
  using home = openHome({});
  const codeMode = { excludedTools: ['hostile/*thing*'] };
  const mcpServers = { hostile: server(join(home.work, 'server')) };
  const config = { profile: 'unified', mcpServers, defaults: { codeMode } };
  writeFileSync(home.configFile, JSON.stringify(config));
  await using service = await startServe(home);
  const ask = async (path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/api/v1${path}`, { ...init, headers });
    return (await answer.json()) as { logs?: unknown };
  };
  expectAllVisible(await ask('/tools'));
  const refused = await ask(`/runs/${encodeURIComponent(TYPED)}`);
  for (const text of strings(refused)) expectVisible(text);
  const unknown = await ask('/execute', { [`field${HOSTILE}`]: 1, code: 'return 1' });
  for (const text of strings(unknown)) expectVisible(text);
  const failed = await ask('/execute', { code: 'return await mcp.hostile.broken({})' });
  for (const text of strings(failed.logs)) expectVisible(text);
  for (const era of ['legacy', 'modern'] as const) {
    await using connected = await service.connect(era);
    const { tools } = await connected.client.listTools();
    expect(tools.length).toBeGreaterThan(1);
    expectAllVisible(tools);
    expectVisible(connected.client.getInstructions() ?? '');
  }
  expectVisible(service.stderr());
});

describe('over REST', needs('bubblewrap', 'python3'), () => {
  let home: ReturnType<typeof openHome>;
  let service: Awaited<ReturnType<typeof startServe>>;
  let pending: Record<string, unknown>;
  const ask = async (token: string, path: string, body?: unknown) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/api/v1${path}`, { ...init, headers });
    return (await answer.json()) as Record<string, unknown>;
  };
  const expectNothingHidden = (value: unknown) => strings(value).forEach(expectVisible);
  beforeAll(async () => {
    home = openHome({});
    const tokens = [listed('runs', 'execute', 'tools'), listed('decides', 'approve'), listed('administers', 'servers')];
    const mcpServers = {
      hostile: server(join(home.work, 'server')),
      gone: { command: `no-such${TYPED.replace('\n', ' ')}` },
    };
    // It has the routes of the contract `unified` too.
    const config = { profile: 'runner', mcpServers, approvals: { grace: '20ms' }, security: { auth: { tokens } } };
    writeFileSync(home.configFile, JSON.stringify(config));
    service = await startServe(home);
    const { namespaces } = (await ask('runs', '/tools')) as { namespaces: { hostile: { tools: { name: string }[] } } };
    const name = namespaces.hostile.tools.find((tool) => tool.name.startsWith('delete'))?.name ?? '';
    pending = await ask('runs', '/execute', {
      code: `/* about${TYPED.replaceAll(/[\n\r]/g, '')} */ try { await mcp.hostile[${JSON.stringify(name)}]({ plain: 'x' }) }
        catch (error) { console.log(${JSON.stringify(HOSTILE)}); throw new Error(${JSON.stringify(`thrown${HOSTILE}`)} + error.message) }`,
      capabilities: ['mcp:hostile'],
    });
  });
  afterAll(async () => {
    await service?.stop();
    home?.[Symbol.dispose]();
  });

  test('approvals, runs and servers are listed with everything to be seen', async () => {
    expectAllVisible(pending);
    expectAllVisible(await ask('decides', '/approvals'));
    expectNothingHidden(await ask('decides', '/approvals/grants'));
    expectNothingHidden(await ask('runs', '/runs'));
    expectNothingHidden(await ask('administers', '/servers'));
  });

  test('so is one approval, the decision about it, and the result of its run', async () => {
    const { runId, approvals } = (pending.error as { details: { runId: string; approvals: { id: string }[] } }).details;
    const path = `/approvals/${approvals[0]?.id}`;
    expectAllVisible(await ask('decides', path));
    expectNothingHidden(await ask('decides', `/approvals/${encodeURIComponent(TYPED)}`));
    expectNothingHidden(await ask('decides', `/approvals/${encodeURIComponent(TYPED)}/revoke`, {}));
    expectAllVisible(await ask('decides', `${path}/deny`, { reason: `no${TYPED}` }));
    // It was decided already.
    expectNothingHidden(await ask('decides', `${path}/approve`, {}));
    expectNothingHidden(await ask('decides', `${path}/deny`, { [`field${HOSTILE}`]: 1 }));
    const ended = async () => {
      const answer = await ask('runs', `/runs/${runId}/result`);
      expect(answer.success).toBe(false);
      return answer;
    };
    const answer = await vi.waitFor(ended, { timeout: 20_000 });
    // Text of the program's own has its lines, and nothing else that cannot be seen.
    const said = strings([answer.error, answer.logs]);
    expect(said.filter((text) => text.includes(MARK)).length).toBeGreaterThan(1);
    for (const text of said) expect(text.replaceAll('\t', ' ')).not.toMatch(UNSEEN);
    expect(said.join()).not.toMatch(/denied it: no\n/);
  });

  test('what a program on a real interpreter printed and failed with has nothing but its lines', async () => {
    const text = JSON.stringify(HOSTILE.replace(/\ud800|\0/g, ''));
    const programs = {
      node: `console.log('printed' + ${text}); console.error(${text}); class E extends Error {}; throw new E('thrown' + ${text});`,
      python: `print('printed' + ${text})\nraise ValueError('thrown' + ${text})`,
    };
    for (const [language, code] of Object.entries(programs)) {
      const { result, logs, traceback } = await ask('runs', `/runner/${language}`, { code });
      expect(result).toMatchObject({ ok: false });
      for (const each of [result, logs, traceback])
        for (const shown of strings(each)) expect(shown.replaceAll('\t', ' ')).not.toMatch(UNSEEN);
    }
    expectNothingHidden(await ask('runs', '/runner/node', { code: '1', [`field${HOSTILE}`]: 1 }));
  });

  test('logs, errors and refusals over a WebSocket have nothing but their lines', async () => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/api/v1/ws`, {
      headers: { authorization: 'Bearer runs' },
    });
    const messages: { id: string; type: string; payload: unknown }[] = [];
    socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
    await once(socket, 'open');
    const text = JSON.stringify(HOSTILE);
    const code = `console.log(${text}); throw new Error('thrown' + ${text})`;
    socket.send(JSON.stringify({ id: 'run', type: 'execute', payload: { code } }));
    socket.send(JSON.stringify({ id: 'wrong', type: 'execute', payload: { code: '1', [`field${HOSTILE}`]: 1 } }));
    await vi.waitFor(() => expect(messages).toHaveLength(3), { timeout: 20_000 });
    socket.close();
    expect(JSON.stringify(messages)).toContain(MARK);
    for (const each of strings(messages)) expect(each.replaceAll('\t', ' ')).not.toMatch(UNSEEN);
  });

  test('a server that is added, or cannot be, is described with everything to be seen', async () => {
    const added = { name: 'added', command: `no-such${TYPED.replace('\n', ' ')}` };
    expectNothingHidden(await ask('administers', '/servers', added));
    for (const wrong of [
      { name: `x${HOSTILE}`, command: 'true' },
      { name: 'y', [`field${HOSTILE}`]: 1 },
      { name: 'z', url: `http://${TYPED}` },
    ])
      expectNothingHidden(await ask('administers', '/servers', wrong));
  });
});

describe('secrets in addresses', () => {
  const KEY = 'aB3dE5fG7hI9kL1mN2';
  const UUID = '0b1c2d3e-1111-4222-8333-444455556666';

  test('in the path are masked in config explain, servers, doctor, add and init', async () => {
    using home = new Home();
    const url = `http://127.0.0.1:1/s/${KEY}/${UUID}/mcp`;
    const file = home.write('codemode.config.json', {
      mcpServers: {
        remote: { url },
        proxied: { command: 'no-such-program', args: ['mcp-remote', url] },
        api: { openapi: `http://127.0.0.1:1/${KEY}/openapi.json`, baseUrl: `http://127.0.0.1:1/${UUID}` },
        wrong: { url: `ftp://x.example/${KEY}/${UUID}` },
      },
    });
    home.write('.cursor/mcp.json', { mcpServers: { hooked: { url } } });
    for (const words of [
      ['config', 'explain'],
      ['config', 'explain', '--json'],
      ['servers'],
      ['servers', '--json'],
      ['doctor'],
      ['doctor', '--json'],
      ['tools'],
      ['auth', 'login', 'remote', '--no-browser'],
      ['add', 'more', '--url', url],
      ['init', '--dry-run'],
    ]) {
      const { stdout, stderr } = await home.run(words, { env: { CODEMODE_CONFIG: file } });
      expect([words, `${stdout}${stderr}`.includes(KEY), `${stdout}${stderr}`.includes(UUID)]).toEqual([
        words,
        false,
        false,
      ]);
    }
  });
});

describe('a state folder or a configuration that others can write', () => {
  const findingsOf = async (home: Home) => {
    const { findings } = await home.json<{ findings: { name: string; state: string; message: string }[] }>([
      'doctor',
      '--json',
    ]);
    return findings.filter(({ message }) => message.includes('can change'));
  };

  test.each([
    ['the state folder and the configuration', ['state', 'codemode.config.json'], ['Configuration', 'State folder']],
    ['a folder above them', [''], ['State folder']],
    ['neither', [], []],
  ])('is what doctor objects to: %s', async (_, paths, names) => {
    using home = new Home();
    home.write('codemode.config.json', {});
    mkdirSync(home.path('state'), { mode: 0o700 });
    for (const path of paths) chmodSync(home.path(path), 0o777);
    const found = await findingsOf(home);
    expect(found.filter(({ state }) => state === 'missing').map(({ name }) => name)).toEqual(
      expect.arrayContaining(names),
    );
    if (names.length === 0) expect(found).toEqual([]);
  });
});
