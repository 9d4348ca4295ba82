import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.js';
import { LANGUAGES, outputDigestByPython, RunnerHome, type Sources } from '../../support/runner.js';
import { fixture } from '../../support/upstreams.js';

let home: RunnerHome;
beforeAll(() => {
  home = new RunnerHome();
});
afterAll(() => home[Symbol.dispose]());

describe.each(LANGUAGES)('codemode runner %s', needs('bubblewrap', 'python3'), (language) => {
  const run = (sources: Sources, ...words: string[]) => home.runner([language, ...words], sources[language]);

  test('prints one line with digests that can be recomputed, and everything else on stderr [B1, B2, B3]', async () => {
    const sources = {
      node: `console.log('out'); console.error('err'); globalThis.result = { z: 'grüße 🎉', a: [0.00001, 1.5, null] };`,
      python: `import sys\nprint('out'); print('err', file=sys.stderr)\nresult = { 'z': 'grüße 🎉', 'a': [0.00001, 1.5, None] }`,
    };
    const { status, envelope, line, stderr } = await run(sources);
    expect(status).toBe(0);
    expect(envelope).toEqual({
      run_id: expect.stringMatching(/^[\w-]{36}$/),
      trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      tool_name: `${language}-runner`,
      tool_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      input_digest: `sha256:${createHash('sha256').update(sources[language]).digest('hex')}`,
      output_digest: outputDigestByPython(line),
      sandbox_image: expect.stringMatching(new RegExp(`^${language}-\\d+\\.\\d+.*strict$`)),
      duration_ms: expect.any(Number),
      approval_state: 'NOT_REQUIRED',
      result: {
        ok: true,
        data: { z: 'grüße 🎉', a: [0.00001, 1.5, null] },
        metrics: { duration_ms: envelope.duration_ms },
      },
    });
    expect(stderr).toBe('out\nerr\n');
  });

  test('calls tools by modules and by the client, and gets MCP results, errors and plain values [B4, B11]', async () => {
    const { data, stderr } = await run({
      node: `import * as everyday from './servers/every_day/index.js';
        import { callTool, normalize, ToolError } from './client/mcp_client.js';
        const where: string = process.cwd();
        const added = await everyday.add({ a: 1, b: 2 });
        const named = await callTool({ serverId: 'every-day', name: 'echo', arguments: { message: 'hi' } });
        let failed: unknown;
        try { await everyday.fail({}); } catch (error) {
          failed = error instanceof ToolError && [error.type, error.message, error.retryable, error.raw.isError];
        }
        globalThis.result = { where, sum: added.structuredContent, text: named.content, failed,
          ok: (await normalize(everyday.add({ a: 2, b: 2 }))).data, not: await normalize(everyday.fail()),
          kept: (await normalize({ isError: true, content: [{ type: 'text', text: 'no' }] })).error };`,
      python: `import os
import servers.every_day as everyday
from servers.every_day import fail
from client.mcp_client import ToolError, call_tool, normalize
added = await everyday.add({'a': 1, 'b': 2})
named = await call_tool(server_id='every-day', name='echo', arguments={'message': 'hi'})
try:
    await fail({})
except ToolError as error:
    failed = [error.type, error.message, error.retryable, error.raw['isError']]
result = { 'where': os.getcwd(), 'sum': added['structuredContent'], 'text': named['content'], 'failed': failed,
  'ok': (await normalize(everyday.add({'a': 2, 'b': 2})))['data'], 'not': await normalize(everyday.fail()) }
async def kept(): return { 'isError': True, 'content': [{ 'type': 'text', 'text': 'no' }] }
result['kept'] = (await normalize(kept()))['error']`,
    });
    expect(data, stderr).toEqual({
      where: '/workspace',
      sum: { sum: 3 },
      text: [{ type: 'text', text: 'hi' }],
      failed: ['ToolError', 'it did not work', false, true],
      ok: { sum: 4 },
      kept: { type: 'ToolError', message: 'no', retryable: false },
      not: {
        ok: false,
        error: { type: 'ToolError', message: 'it did not work', retryable: false },
        raw: expect.objectContaining({ isError: true, content: [{ type: 'text', text: 'it did not work' }] }),
      },
    });
  });

  test('names a server in notes as its program does [B2]', async () => {
    const { stderr } = await run({
      node: `import { fail } from './servers/every_day/index.js';\nawait fail({}).catch(() => {});\nglobalThis.result = 1;`,
      python: `from servers.every_day import fail\ntry: await fail({})\nexcept Exception: pass\nresult = 1`,
    });
    expect(stderr).toContain('1 of 1 calls failed, and the program continued: every_day/fail (1)');
  });

  test('has a catalog: manifest first, definitions on demand, and a suggestion for a wrong name [B13]', async () => {
    const { data, stderr } = await run({
      node: `const wrong = [];
        for (const ask of [() => catalog.searchTools({ detail: 'all' }), () => catalog.getToolDefinition({ serverId: 'every-day', name: 'ad' }),
          () => catalog.getToolDefinition({ serverId: 'everyday', name: 'add' })])
          await ask().catch((error) => wrong.push([error.type, error.hint]));
        globalThis.result = { found: await catalog.searchTools({ query: 'adds numbers', serverId: 'every-day' }),
          names: await catalog.searchTools({ detail: 'name' }),
          add: await catalog.getToolDefinition({ serverId: 'every-day', name: 'add' }), wrong };`,
      python: `from client.mcp_client import ToolError
import asyncio
async def main():
    global result
    wrong = []
    for ask in (catalog.searchTools({'detail': 'all'}), catalog.getToolDefinition({'serverId': 'every-day', 'name': 'ad'}),
                catalog.get_tool_definition(server_id='everyday', name='add')):
        try:
            await ask
        except ToolError as error:
            wrong.append([error.type, error.hint])
    result = { 'found': await catalog.search_tools(query='adds numbers', server_id='every-day'),
      'names': await catalog.searchTools({'detail': 'name'}),
      'add': await catalog.getToolDefinition({'serverId': 'every-day', 'name': 'add'}), 'wrong': wrong }
asyncio.run(main())`,
    });
    const told = data as { found: object[]; names: object[]; add: object; wrong: string[][] };
    expect(told, stderr).toBeDefined();
    expect(told.found[0]).toEqual({
      ...{ serverId: 'every-day', toolName: 'add', module: 'every_day', function: 'add' },
      signature: 'add({ a: number, b: number }): { sum: number }',
      description: 'Adds two numbers.',
    });
    expect(told.names).toContainEqual({
      ...{ serverId: 'every-day', toolName: 'echo', module: 'every_day', function: 'echo' },
    });
    expect(told.add).toMatchObject({
      toolName: 'add',
      inputSchema: { required: ['a', 'b'] },
      outputSchema: { required: ['sum'] },
    });
    expect(told.wrong).toEqual([
      ['InvalidArguments', 'Pass "name" or "name+description".'],
      ['ToolNotFound', expect.stringContaining('add')],
      ['ServerNotFound', 'Did you mean every-day?'],
    ]);
  });

  test('prints the last value where there is no result; another exit status is a failure [B6]', async () => {
    const late = {
      node: `setTimeout(() => console.log('{"late":true}'), 20); console.log('working');`,
      python: `import threading\nthreading.Timer(0.02, lambda: print('{"late":true}')).start()\nprint('working')`,
    };
    expect(await run(late)).toMatchObject({ status: 0, data: { late: true } });
    const exits = {
      node: `globalThis.result = 1; process.exitCode = 3;`,
      python: `import sys\nresult = 1\nsys.exit(3)`,
    };
    expect(await run(exits)).toMatchObject({ status: 1, error: { type: 'ExitError', retryable: false } });
  });

  test('a result that is too large is an error that says its size, and longer output is cut [B7]', async () => {
    const large = await run({
      node: `console.error('x'.repeat(400_000)); globalThis.result = 'y'.repeat(100_000);`,
      python: `import sys\nprint('x' * 400_000, file=sys.stderr)\nresult = 'y' * 100_000`,
    });
    expect(large).toMatchObject({ status: 1, error: { type: 'OutputTooLarge', retryable: false } });
    expect(large.error?.message).toContain('100002 bytes');
    expect(large.line.length).toBeLessThan(2_000);
    expect(Buffer.byteLength(large.stderr)).toBeLessThanOrEqual(256 * 1024);
    expect(large.stderr.endsWith('x\n<TRUNCATED>\n')).toBe(true);
    const fits = { node: `globalThis.result = 'y'.repeat(64_000);`, python: `result = 'y' * 64_000` };
    expect(await run(fits)).toMatchObject({ status: 0, data: 'y'.repeat(64_000) });
  });

  test('secrets and personal data are redacted in all output; programs still see addresses [B8]', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const seen = {
      node: `import { echo } from './servers/every_day/index.js';
        const [{ text }] = (await echo({ message: 'jo@example.com' })).content;
        console.log('mail jo@example.com'); console.error('card 4111 1111 1111 1111 ${token}');
        globalThis.result = { length: text.length, text, phone: '+49 30 1234567', card: 4111111111111111, orderId: 4111111111111111,
          account: 'DE89 3704 0044 0532 0130 00', ssn: '123-45-6789' };`,
      python: `import sys
from servers.every_day import echo
text = (await echo({'message': 'jo@example.com'}))['content'][0]['text']
print('mail jo@example.com'); print('card 4111 1111 1111 1111 ${token}', file=sys.stderr)
result = { 'length': len(text), 'text': text, 'phone': '+49 30 1234567', 'card': 4111111111111111, 'orderId': 4111111111111111,
  'account': 'DE89 3704 0044 0532 0130 00', 'ssn': '123-45-6789' }`,
    };
    const { data, stderr, line } = await run(seen);
    expect(data).toEqual({
      length: 14,
      text: '[redacted:email]',
      phone: '[redacted:phone]',
      card: '[redacted:card]',
      orderId: 4111111111111111,
      account: '[redacted:iban]',
      ssn: '[redacted:ssn]',
    });
    expect(stderr).toMatch(
      /^(?:codemode: .* so far\n)*codemode: Redacted: .*2 card.* with runner\.redactPersonalData: false\.\nmail \[redacted:email\]\ncard \[redacted:card\] \[redacted:[\w-]+\]\n$/,
    );
    expect(outputDigestByPython(line)).toBe(JSON.parse(line).output_digest);
    const raised = await run({
      node: `throw new RangeError('no jo@example.com');`,
      python: `raise ValueError('no jo@example.com')`,
    });
    expect(raised.error?.message).toContain('no [redacted:email]');
    expect(raised.line + raised.stderr).not.toContain('jo@example.com');
  });

  test.each<[string, Sources, string[], object]>([
    ['raises', { node: 'throw new TypeError("no")', python: 'raise TypeError("no")' }, [], { type: 'TypeError' }],
    ['does not parse', { node: 'let = ;', python: 'def :' }, [], { type: 'SyntaxError' }],
    [
      'never ends',
      { node: 'for (;;);', python: 'while True: pass' },
      ['--timeout', '700'],
      { type: 'Timeout', retryable: true },
    ],
    [
      'kills itself after writing garbage to every descriptor',
      {
        node: `import { writeSync } from 'node:fs'; for (let fd = 0; fd < 20; fd++) try { writeSync(fd, '{"ok":1}\\n\\xff'); } catch {}
          process.kill(process.pid, 'SIGKILL'); await new Promise(() => setInterval(() => {}, 1000));`,
        python: `import os, signal
for fd in range(20):
    try: os.write(fd, b'{"ok":1}\\n\\xff')
    except OSError: pass
os.kill(os.getpid(), signal.SIGKILL)`,
      },
      [],
      { type: expect.stringMatching(/^(SandboxError|SignalError)$/) },
    ],
    [
      'hands over what is not JSON',
      { node: 'globalThis.result = 1n', python: 'result = {1, 2}' },
      [],
      { type: 'NotSerializable' },
    ],
    [
      'does not catch a failed call',
      {
        node: `import { callTool } from './client/mcp_client.js'; await callTool('nobody', 'x', {});`,
        python: `from client.mcp_client import call_tool\nawait call_tool('nobody', 'x', {})`,
      },
      [],
      { type: 'ToolError', message: expect.stringContaining('there is no server "nobody"') },
    ],
  ])('one that %s is one line too, with its error [B1, B3, B9]', async (_, sources, words, error) => {
    const ended = await run(sources, ...words);
    expect(ended.status).toBe(1);
    expect(ended.error).toMatchObject({ retryable: false, ...error });
  });
});

describe.each(LANGUAGES)('the modules of %s programs', needs('bubblewrap', 'python3'), (language) => {
  const LONG = `${'long.'.repeat(24)}name-12.`;
  const NAMES = ['files.list-all', 'getHTTPUrl', 'class', 'await', 'None', '2fa.on', LONG];

  test('have every tool of every page by the name of its language, and check what goes in and out [B5, B10, B12]', async () => {
    using own = new RunnerHome();
    const integer = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const tools = [
      ...NAMES.map((name) => ({
        name,
        title: name,
        icons: [{ src: 'x' }],
        other: {},
        inputSchema: { type: 'object' },
      })),
      { name: 'typed', inputSchema: integer, outputSchema: integer },
    ];
    const replies = { typed: { content: [], structuredContent: { n: 'no' } } };
    const script = own.write('script.json', { tools, replies, pageSize: 3 });
    const server = { command: process.execPath, args: [fixture('scripted-server.mjs'), script] };
    own.write('codemode.config.json', { mcpServers: { 'Google-Drive.v2': server }, strictOutput: true });
    const sources: Sources = {
      node: `import * as drive from './servers/google_drive_v2/index.js'; import { normalize } from './client/mcp_client.js';
        const called = [];
        for (const { exportName, toolName } of drive.__meta__.tools.filter(({ toolName }) => toolName !== 'typed'))
          called.push([exportName, (await drive[exportName]({})).structuredContent.tool === toolName]);
        globalThis.result = { called: Object.fromEntries(called),
          wrong: (await normalize(drive.typed({ n: 'x' }))).error.type, answered: (await normalize(drive.typed({ n: 1 }))).error.type };`,
      python: `import servers.google_drive_v2 as drive
from client.mcp_client import normalize
called = {}
for tool in drive.__meta__['tools']:
    if tool['toolName'] != 'typed':
        answer = await getattr(drive, tool['exportName'])({})
        called[tool['exportName']] = answer['structuredContent']['tool'] == tool['toolName']
result = { 'called': called, 'wrong': (await normalize(drive.typed(n='x')))['error']['type'],
  'answered': (await normalize(drive.typed(n=1)))['error']['type'] }`,
    };
    const { data, stderr } = await own.runner([language], sources[language]);
    const long = { node: 'longLongLong', python: 'long_long_long_' }[language];
    const names = {
      node: ['filesListAll', 'getHTTPUrl', 'class_', 'await_', 'None', '_2faOn'],
      python: ['files_list_all', 'getHTTPUrl', 'class_', 'await_', 'None_', '_2fa_on'],
    }[language];
    const told = data as { called: Record<string, boolean>; wrong: string; answered: string };
    expect(told, stderr).toMatchObject({ wrong: 'InvalidArguments', answered: 'InvalidOutput' });
    expect(Object.values(told.called)).toEqual(Array(NAMES.length).fill(true));
    const found = Object.keys(told.called);
    expect(found).toEqual(expect.arrayContaining(names));
    expect(found.find((name) => name.startsWith(long))).toBeDefined();
  });
});

describe('whole numbers of any length', needs('bubblewrap', 'python3'), () => {
  const BIG = '1152921504606846977';

  test('go unchanged from a Python program to the line, even next to redacted text [B2, B3]', async () => {
    const source = `result = { 'id': ${BIG}, 'list': [-10**30 - 1, 9007199254740993], 'mail': 'jo@example.com' }`;
    const { line, envelope } = await home.runner(['python'], source);
    const nines = `"list":[-1${'0'.repeat(29)}1,9007199254740993]`;
    expect(line).toContain(`"data":{"id":${BIG},${nines},"mail":"[redacted:email]"}`);
    expect(outputDigestByPython(line)).toBe(envelope.output_digest);
  });

  test('come from a tool as they are, and are refused where a tool would be asked for another one [B10, B11]', async () => {
    using own = new RunnerHome();
    const script = own.write('ids.mjs', IDS_SERVER);
    own.write('codemode.config.json', { mcpServers: { ids: { command: process.execPath, args: [script] } } });
    const python = await own.runner(
      ['python'],
      `from client.mcp_client import normalize
from servers.ids import give
answer = (await give({'of': 'jo@example.com'}))['structuredContent']
result = [answer['id'] == ${BIG}, answer, (await normalize(give({'id': answer['id']})))['error'], (await give({'id': 9007199254740991}))['structuredContent']['id'] - 1]`,
    );
    const refusal = `{"type":"InvalidArguments","message":"the whole number ${BIG} cannot be passed to a tool as it is: beyond 2^53 it would be rounded","retryable":false}`;
    expect(python.line, python.stderr).toContain(`"data":[true,{"id":${BIG}},${refusal},${BigInt(BIG) - 1n}]`);
    expect(outputDigestByPython(python.line)).toBe(python.envelope.output_digest);
    // JavaScript has no such number: what is exact to it is what is passed on.
    const node = await own.runner(
      ['node'],
      `import { give } from './servers/ids/index.js'; globalThis.result = await give({ id: 2 ** 60 });`,
    );
    expect(node.data).toMatchObject({ structuredContent: { id: Number(BIG) } });
  });
});

/** Writes its number by hand: nothing that is JavaScript would. */
const IDS_SERVER = `import readline from 'node:readline';
const answer = (id, result, key = 'result') => process.stdout.write('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"' + key + '":' + result + '}\\n');
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') answer(id, '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"ids","version":"1"}}');
  else if (method === 'tools/list') answer(id, '{"tools":[{"name":"give","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}}]}');
  else if (method === 'tools/call') answer(id, '{"content":[{"type":"text","text":"1152921504606846977"}],"structuredContent":{"id":1152921504606846977}}');
  else if (id !== undefined) answer(id, '{"code":-32601,"message":"no"}', 'error');
});
process.stdin.on('end', () => process.exit(0));
`;
