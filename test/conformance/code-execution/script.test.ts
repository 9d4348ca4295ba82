import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScriptResponse } from '../../../src/profiles/code-execution/render.js';
import { GITHUB, type Scripts, startScripts } from '../../support/code-execution.js';
import { until } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

let scripts: Scripts;
beforeAll(async () => {
  scripts = await startScripts({
    scripts: {
      github: GITHUB,
      api: { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] },
    },
    servers: { everyday: { command: process.execPath, args: [fixture('everyday-server.mjs')] } },
  });
  // On a busy machine a server may take longer to start than a run waits.
  const names = ['github', 'api', 'everyday'];
  const missing = `${JSON.stringify(names)}.filter((name) => call_tool(name, 'no such tool', {}).error.code === 'SERVER_NOT_FOUND')`;
  await until(async () => JSON.stringify(await scripts.exec(missing)) === '{"ok":true,"value":[]}');
}, 60_000);
afterAll(() => scripts[Symbol.asyncDispose]());

const exec = (code: string, more?: Record<string, unknown>): Promise<ScriptResponse> => scripts.exec(code, more);
const value = async (code: string, more?: Record<string, unknown>): Promise<unknown> => {
  const response = await exec(code, more);
  if (!response.ok) throw new Error(`${response.error.code}: ${response.error.message}`);
  return response.value;
};
const failed = (code: string, message: unknown, stack: unknown = '') => ({
  ok: false,
  error: { code, message, stack },
});

describe('what the engine has', () => {
  test.each([
    [
      'arrays',
      '[Array.isArray([]), [1, 2, 3].reduce((a, b) => a + b), (() => { let n = 0; [4, 5].forEach((x) => { n += x }); return n })()]',
      [true, 6, 9],
    ],
    [
      'strings',
      `['a,b'.split(','), ' x '.trim(), 'abc'.indexOf('c'), 'abcd'.substring(1, 3)]`,
      [['a', 'b'], 'x', 2, 'bc'],
    ],
    ['Math', '[Math.round(1.5), Math.floor(1.9), Math.max(1, 3, 2)]', [2, 1, 3]],
    ['dates', '[new Date(5).getTime(), new Date(0).toISOString()]', [5, '1970-01-01T00:00:00.000Z']],
    ['numbers of strings', `[parseInt('42', 10), parseFloat('2.5')]`, [42, 2.5]],
    ['strings of numbers', '[(42).toString(), (2.345).toFixed(1)]', ['42', '2.3']],
    ['booleans', `[Boolean(''), !!'x']`, [false, true]],
    ['kinds of values', '[typeof {} === "object", Array.isArray({}), Array.isArray([])]', [true, false, true]],
    [
      'strings of values that are none',
      '[(() => {}).toString().length > 0, new Date(0).toISOString(), /x/.toString()]',
      [true, '1970-01-01T00:00:00.000Z', '/x/'],
    ],
  ])('%s [D3, D8]', async (_, code, expected) => {
    expect(await value(code)).toEqual(expected);
  });
});

describe("the document's examples", () => {
  test('basic request: the value of the last expression [D3]', async () => {
    expect(await exec('({ result: input.value * 2 })', { input: { value: 21 } })).toEqual({
      ok: true,
      value: { result: 42 },
    });
  });

  test('TypeScript request [D4]', async () => {
    const code = "const x: number = 42; const msg: string = 'hello'; ({ result: x, message: msg })";
    expect(await exec(code, { language: 'typescript', input: {} })).toEqual({
      ok: true,
      value: { result: 42, message: 'hello' },
    });
  });

  test('full request with options: a tool, and a return at top level [D2, D3, D6]', async () => {
    const code =
      "var res = call_tool('github', 'get_user', {username: input.username}); return res.ok ? res.result : {error: res.error};";
    const options = { timeout_ms: 30_000, max_tool_calls: 10, allowed_servers: ['github', 'gitlab'] };
    expect(await exec(code, { input: { username: 'octocat' }, options })).toEqual({
      ok: true,
      value: { login: 'octocat', name: 'The Octocat', public_repos: 8 },
    });
  });

  test('call_tool with both branches [D2, D3]', async () => {
    const code = `var res = call_tool('github', 'get_user', {username: 'octocat'});

if (res.ok) {
  return {
    name: res.result.name,
    repos: res.result.public_repos
  };
} else {
  return {
    error: 'Failed to get user: ' + res.error.message
  };
}`;
    expect(await value(code)).toEqual({ name: 'The Octocat', repos: 8 });
  });

  test('several calls in a loop, old syntax and new [D2, D3]', async () => {
    const old = `var users = ['octocat', 'torvalds'];
var results = [];
for (var i = 0; i < users.length; i++) {
  var res = call_tool('github', 'get_user', {username: users[i]});
  if (res.ok) results.push(res.result.name);
}
return {names: results};`;
    const modern = `const users = ['octocat', 'torvalds'];
const names = users
  .map(username => call_tool('github', 'get_user', {username}))
  .filter(res => res.ok)
  .map(res => res.result.name);
return {names};`;
    const names = ['The Octocat', 'The Octocat'];
    expect([await value(old), await value(modern)]).toEqual([{ names }, { names }]);
  });

  test('a syntax error [D5]', async () => {
    expect(await exec('var x = { missing bracket')).toEqual(
      failed('SYNTAX_ERROR', expect.stringMatching(/^SyntaxError: /)),
    );
  });

  test('a runtime error, with a stack [D5]', async () => {
    expect(await exec('var x = null; x.property')).toEqual(
      failed(
        'RUNTIME_ERROR',
        expect.stringMatching(/^TypeError: .*'property' of null/),
        expect.stringMatching(/:1:\d+/),
      ),
    );
    expect(await exec("throw new Error('Test error')")).toMatchObject({
      error: { code: 'RUNTIME_ERROR', message: expect.stringContaining('Test error') },
    });
  });

  test('a timeout [D5]', async () => {
    expect(await exec('while(true) {}', { options: { timeout_ms: 1000 } })).toEqual(
      failed('TIMEOUT', 'JavaScript execution timed out'),
    );
  });

  test('too many calls [D5]', async () => {
    const options = { max_tool_calls: 5 };
    expect(await exec("for(var i=0;i<10;i++){call_tool('api','ping',{})}", { options })).toEqual(
      failed('MAX_TOOL_CALLS_EXCEEDED', 'Exceeded maximum tool calls limit (5)'),
    );
  });

  test('a server that is not allowed [D5]', async () => {
    const options = { allowed_servers: ['github'] };
    expect(await exec("call_tool('gitlab', 'get_user', {username: 'test'})", { options })).toEqual(
      failed('SERVER_NOT_ALLOWED', "Server 'gitlab' is not in the allowed servers list"),
    );
  });

  test.each(['undefined', 'var a = 1;', 'return;'])('no value: %s [D5]', async (code) => {
    expect(await exec(code)).toEqual(
      failed(
        'SERIALIZATION_ERROR',
        expect.stringMatching(/^Nothing was returned: the value of the script is undefined/),
      ),
    );
  });

  const NOT_JSON = failed(
    'SERIALIZATION_ERROR',
    'Result contains non-JSON-serializable values (functions, circular references, etc.)',
  );
  test.each([
    '({fn: function() { return 42; }})',
    '(function() {})',
    'var a = {}; a.self = a; return a;',
    'new Date()',
    'new RegExp("x")',
    '({ deep: [{ at: new Date() }] })',
    '[[1, [function () {}]]]',
    'Symbol("x")',
    '10n',
  ])('a value that is not JSON, at any depth: %s [D8]', async (code) => {
    expect(await exec(code)).toEqual(NOT_JSON);
  });

  test('values that are JSON, and nested undefined as JSON has it [D8]', async () => {
    expect(await value('[null, true, 1.5, "a", [], { b: { c: [1] } }, { left: undefined }]')).toEqual([
      null,
      true,
      1.5,
      'a',
      [],
      { b: { c: [1] } },
      {},
    ]);
  });
});

test('every script of the guide runs [D2, D3]', async () => {
  const guide = readFileSync(new URL('../../../docs/guides/code-execution.md', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text]) => text as string);
  const values = await Promise.all(blocks.map((code) => value(code, { input: { words: ['a', 'bcd'] } })));
  expect(values).toEqual([{ sum: 42 }, [1, 3]]);
});

describe('call_tool', () => {
  test('returns structured content, text, and parsed text, and the failure of a tool as a value [D2]', async () => {
    const code = `[call_tool('github', 'list-repos', {}), call_tool('everyday', 'echo', { message: 'plain' }),
      call_tool('everyday', 'add', { a: 1, b: 2 }), call_tool('github', 'fail', {})]`;
    expect(await value(code)).toEqual([
      { ok: true, result: { repos: ['a', 'b'] } },
      { ok: true, result: 'plain' },
      { ok: true, result: { sum: 3 } },
      { ok: false, error: { code: 'TOOL_ERROR', message: 'no such repository' } },
    ]);
  });

  test('knows the names of servers and tools as they are, and as programs import them [D2]', async () => {
    expect(
      await value(`[['github', 'list-repos'], ['github', 'list_repos'], ['mcp:github', 'list-repos']].map(
        ([server, tool]) => call_tool(server, tool).ok)`),
    ).toEqual([true, true, true]);
  });

  test.each([
    [`'githb', 'get_user', {}`, 'SERVER_NOT_FOUND', 'there is no server "githb". Did you mean "github"?'],
    [`'github', 'getuser', {}`, 'TOOL_NOT_FOUND', 'github has no tool "getuser". Did you mean "get_user"?'],
    [`'github', 'get_user', {}`, 'INVALID_ARGS', /username/],
    [`'github', 'get_user', { username: 7 }`, 'INVALID_ARGS', /username.*string/],
    [`7, 'get_user', {}`, 'INVALID_ARGS', /the first argument must be the name of a server, not 7/],
    [`'github'`, 'INVALID_ARGS', /the second argument must be the name of a tool, not nothing/],
    [`'github', 'get_user', {}, {}`, 'INVALID_ARGS', /at most three arguments, not 4/],
  ])('answers call_tool(%s) with %s [D2]', async (words, code, message) => {
    expect(await value(`call_tool(${words})`)).toEqual({
      ok: false,
      error: { code, message: typeof message === 'string' ? message : expect.stringMatching(message) },
    });
  });

  test('blocks the script until the tool has answered, whose time is over in the middle of it [D2, D5]', async () => {
    const before = await value(`call_tool('everyday', 'cancellations', {}).result`);
    const code = `try { call_tool('everyday', 'slow', { ms: 60000 }); } catch (error) { } finally { } 'survived'`;
    expect(await exec(code, { options: { timeout_ms: 500 } })).toEqual(
      // It may have taken effect: the caller has to check before the script is run again.
      failed(
        'TIMEOUT',
        expect.stringMatching(/^JavaScript execution timed out\. First check whether everyday\/slow took effect/),
      ),
    );
    const cancelled = () => value(`call_tool('everyday', 'cancellations', {}).result`);
    await expect.poll(cancelled, { timeout: 20_000 }).toBe(String(Number(before) + 1));
  });

  test.each([
    ['a limit on calls', { max_tool_calls: 1 }, 'MAX_TOOL_CALLS_EXCEEDED'],
    ['a list of servers', { allowed_servers: ['api'] }, 'SERVER_NOT_ALLOWED'],
  ])('%s cannot be swallowed [D5]', async (_, options, code) => {
    const source = `for (;;) { try { call_tool('api', 'ping', {}); call_tool('github', 'get_user', { username: 'x' }); }
      catch (error) { } finally { continue; } }`;
    expect(await exec(source, { options })).toMatchObject({ ok: false, error: { code } });
  });

  test('makes no more calls than the limit allows, and 0 means no limit [D6]', async () => {
    const code = `for (var i = 0; i < 3; i++) call_tool('api', 'ping', {}); i`;
    expect(await exec(code, { options: { max_tool_calls: 3 } })).toEqual({ ok: true, value: 3 });
    expect(await exec(code, { options: { max_tool_calls: 0 } })).toEqual({ ok: true, value: 3 });
    expect(await exec(code, { options: { allowed_servers: [] } })).toEqual({ ok: true, value: 3 });
  });
});

describe('a script', () => {
  test.each([
    ['1; if (input.yes) { 2 } else { 3 }', 2],
    ['try { 5 } finally { }', 5],
    ['"use strict"; 6', 6],
    ['function f() { return 7 } f()', 7],
    ['var out = 8; function g() {} out', 8],
    ['for (var i = 0; i < 3; i++) { if (i == 1) return i * 9; }', 9],
    ['Promise.resolve(10)', 10],
    ['(async () => 11)()', 11],
    ['undeclared = 12; undeclared', 12],
    ['with ({ a: 13 }) { a }', 13],
  ])('has the value of its last expression or its return: %s [D3]', async (code, expected) => {
    expect(await value(code, { input: { yes: true } })).toBe(expected);
  });

  test('points into the TypeScript that was sent [D4]', async () => {
    const code = 'type A = {\n  b: string;\n};\n\nconst x = null as unknown as A;\nx.b;';
    expect(await exec(code, { language: 'typescript' })).toMatchObject({
      error: { code: 'RUNTIME_ERROR', stack: expect.stringMatching(/:6:\d+/) },
    });
    expect(await exec('const x: number = 1; x')).toMatchObject({ error: { code: 'SYNTAX_ERROR' } });
  });

  test('has no modules, timers, network, files or process [D7]', async () => {
    const names = [
      'require',
      'module',
      'exports',
      'setTimeout',
      'setInterval',
      'setImmediate',
      'fetch',
      'XMLHttpRequest',
    ];
    const more = ['process', 'Buffer', 'WebSocket', 'global', '__dirname', 'eval'];
    expect(await value(`${JSON.stringify([...names, ...more])}.filter((name) => name in globalThis)`)).toEqual([]);
    for (const code of ['import fs from "fs"', 'export const a = 1'])
      expect(await exec(code)).toMatchObject({ error: { code: 'SYNTAX_ERROR' } });
    for (const code of ['require("fs")', 'setTimeout(() => {}, 1)', 'process.env', 'import("fs")'])
      expect(await exec(code)).toMatchObject({ error: { code: 'RUNTIME_ERROR' } });
  });

  test('starts fresh, and what exhausts its memory ends it alone [D5, D7]', async () => {
    expect(await value('leak = 1; Array.prototype.leak = 2; leak')).toBe(1);
    expect(await value('[typeof leak, [].leak === undefined]')).toEqual(['undefined', true]);
    const bomb = 'try { var a = []; for (;;) a.push(new Array(100000).fill(1)); } catch (error) { } 1';
    expect(await exec(bomb)).toMatchObject({ ok: false, error: { code: 'RUNTIME_ERROR', stack: '' } });
    expect(await value('1')).toBe(1);
  });
});
