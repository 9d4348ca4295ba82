import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GITHUB, type Scripts, startScripts } from '../../support/code-execution.js';
import { everyday } from '../../support/program.js';
import { startRefusingServer } from '../../support/refusing-server.js';

let scripts: Scripts;
let refusing: Awaited<ReturnType<typeof startRefusingServer>>;
beforeAll(async () => {
  refusing = await startRefusingServer();
  scripts = await startScripts({
    scripts: { github: GITHUB },
    servers: {
      patient: everyday(),
      hasty: { ...everyday(), timeout: '300ms' },
      web: { url: refusing.url, retryPolicy: { maxAttempts: 1 } },
    },
    config: { policy: [{ tools: 'web/*', decision: 'allow' }] },
  });
});
afterAll(async () => {
  await scripts?.[Symbol.asyncDispose]();
  await refusing?.[Symbol.asyncDispose]();
});

const failed = (code: string, message: string, stack = '') => ({ ok: false, error: { code, message, stack } });
const typescript = { language: 'typescript' };

describe('errors have the form of the document', () => {
  test('a runtime error shows its frames as <eval>:line:column [D5]', async () => {
    expect(await scripts.exec('var x = null; x.property')).toEqual(
      failed(
        'RUNTIME_ERROR',
        "TypeError: Cannot read property 'property' of null",
        "TypeError: Cannot read property 'property' of null\n    at <eval>:1:15",
      ),
    );
    expect(await scripts.exec('function f() {\n  throw new Error("no");\n}\nf()')).toEqual(
      failed('RUNTIME_ERROR', 'Error: no', 'Error: no\n    at f (<eval>:2:13)\n    at <eval>:4:1'),
    );
  });

  test('a thrown value that is not an Error has no class in front [D5]', async () => {
    expect(await scripts.exec("throw 'abc'")).toEqual(
      failed('RUNTIME_ERROR', 'the program threw a value that is not an Error: abc'),
    );
  });

  test('a syntax error says its place in the first line, and that the source ends too early [D5]', async () => {
    expect(await scripts.exec('var x = {')).toEqual(
      failed(
        'SYNTAX_ERROR',
        'SyntaxError: Unexpected end of input, expected `}` (line 1, column 10)\n1 | var x = {\n  |          ^',
      ),
    );
  });

  test('advice about memory names nothing that a request does not have [D5]', async () => {
    const { error } = (await scripts.exec("var a = []; for (;;) a.push('x'.repeat(1e6) + a.length)")) as {
      error: { message: string };
    };
    expect(error.message).toMatch(/bytes of memory\. Keep less in memory at once: filter early, work in pieces\.$/);
  });
});

describe('TypeScript', () => {
  test.each([
    [
      "import fs from 'fs'; 1",
      /^SyntaxError: import and export are not supported here \(line 1, column 1\)\. Leave out/,
    ],
    ['export const x = 1', /^SyntaxError: import and export are not supported here \(line 1, column 1\)\. Leave out/],
    ["import type { A } from './a'; 1", /This is TypeScript: set `language` to "typescript"/],
    ['const x: number = 1; x', /This is TypeScript: set `language` to "typescript"/],
  ])('is advised to JavaScript only where its types are what is wrong: %s [D4]', async (code, message) => {
    expect(await scripts.exec(code)).toMatchObject({
      error: { code: 'SYNTAX_ERROR', message: expect.stringMatching(message) },
    });
  });

  test.each([
    "import type { A } from './a'; const x: number = 1; x",
    "import type { A } from './a';\nconst x: number = 1;\nreturn x",
    'export type X = number; const x: X = 1; x',
  ])('imports and exports of types alone leave nothing behind: %s [D4]', async (code) => {
    expect(await scripts.exec(code, typescript)).toEqual({ ok: true, value: 1 });
  });

  test.each([
    ["import { A } from './a'; 1", 'import and export are not supported here'],
    ["import a from './a'; 1", 'import and export are not supported here'],
    ['const x: number = 1;\nexport const y = x;', 'import and export are not supported here'],
    ['function d(a: any, b: any) {} @d class A {} 1', 'decorators are not supported here'],
    ['function d(a: any, b: any) {} class A { @d m() {} } 1', 'decorators are not supported here'],
  ])('what a script cannot have is named, with what to do: %s [D4]', async (code, message) => {
    expect(await scripts.exec(code, typescript)).toMatchObject({
      error: {
        code: 'SYNTAX_ERROR',
        message: expect.stringMatching(new RegExp(`^SyntaxError: ${message} \\(line \\d, column \\d+\\)\\. [CL]`)),
      },
    });
  });
});

describe('call_tool', () => {
  test('an answer that is lost is OUTCOME_UNKNOWN only where the tool may have changed something', async () => {
    const source = "['lost', 'away_write'].map((tool) => call_tool('web', tool, {}).error)";
    expect(await scripts.exec(source)).toMatchObject({
      value: [
        { code: 'CALL_FAILED', message: expect.stringMatching(/This call changes nothing\. Wait a while/) },
        { code: 'OUTCOME_UNKNOWN', message: expect.stringMatching(/Check whether it has taken effect/) },
      ],
    });
  });

  test.each([
    ["call_tool('github', 'get_user', 1n)", /BigInt/],
    ["var a = {}; a.a = a; call_tool('github', 'get_user', a)", /circular/],
    ["call_tool('github', 'get_user', { get username() { throw new Error('mine') } })", /mine/],
    ["call_tool('github', 'get_user', { toJSON() { throw 1 } })", /toJSON/],
    ['call_tool({ toJSON() { throw { get message() { throw 1 } } } })', /toJSON/],
    ["var a = {}; for (var i = 0; i < 1e5; i++) a = { a: a }; call_tool('github', 'get_user', a)", /nested too deeply/],
    ['call_tool(Symbol())', /a symbol is not JSON/],
    ["call_tool('github', 'get_user', 'octocat')", /expected object/],
    ["call_tool('github', 'get_user', [1])", /expected object/],
    ['call_tool()', /first argument must be the name of a server/],
    ["call_tool('github', 'get_user', {}, 4)", /at most three arguments/],
  ])('never throws for bad arguments: %s [D2]', async (code, message) => {
    expect(await scripts.exec(code)).toEqual({
      ok: true,
      value: { ok: false, error: { code: 'INVALID_ARGS', message: expect.stringMatching(message) } },
    });
  });

  test('a timeout of its server holds, and where none is configured timeout_ms does [D6]', async () => {
    const code = "[call_tool('hasty', 'slow', { ms: 3000 }).error.code, call_tool('patient', 'slow', { ms: 600 }).ok]";
    expect(await scripts.exec(code)).toEqual({ ok: true, value: ['TOOL_TIMEOUT', true] });
    expect(
      await scripts.exec("call_tool('patient', 'slow', { ms: 3000 })", { options: { timeout_ms: 700 } }),
    ).toMatchObject({ error: { code: 'TIMEOUT' } });
  });
});

describe('a script in the other language', () => {
  test('is told to say so [D4]', async () => {
    const { error } = (await scripts.exec('const x: number = 42; x')) as { error: { code: string; message: string } };
    expect([error.code, error.message]).toEqual([
      'SYNTAX_ERROR',
      expect.stringMatching(
        /^SyntaxError: .* \(line 1, column 7\)\. This is TypeScript: set `language` to "typescript"\.\n/,
      ),
    ]);
    expect(JSON.stringify(await scripts.exec('var x = {;'))).not.toContain('TypeScript');
  });
});

describe('the request', () => {
  test('takes fractions, and arguments that it does not know and that resemble none [D6]', async () => {
    const options = { timeout_ms: 20_000.5, max_tool_calls: 1.5 };
    const once = "call_tool('github', 'list-repos', {}).ok";
    expect(await scripts.exec(once, { options, explanation: 'to see' })).toEqual({ ok: true, value: true });
    expect(await scripts.exec(`${once}; ${once}`, { options })).toMatchObject({
      error: { code: 'MAX_TOOL_CALLS_EXCEEDED', message: 'Exceeded maximum tool calls limit (1)' },
    });
    expect(await scripts.exec(once, { options: { max_tool_calls: 0.5 } })).toMatchObject({
      error: { code: 'MAX_TOOL_CALLS_EXCEEDED', message: 'Exceeded maximum tool calls limit (less than 1)' },
    });
  });

  test('refuses what looks like a misplaced or misspelt option [D6]', async () => {
    expect(await scripts.exec('1', { timeout_ms: 5 })).toEqual(
      failed('INVALID_REQUEST', 'timeout_ms: belongs in options: {"options": {"timeout_ms": ...}}'),
    );
  });
});
