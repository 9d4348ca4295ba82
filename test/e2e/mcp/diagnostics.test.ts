import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Diagnostic } from '../../../src/profiles/codemode/render.js';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';
import { everyday } from '../../support/program.js';

/** What an answer says of mistakes that agents make: the place, and the one thing to write instead. */

const failed = (text: string) => ({ content: [{ type: 'text', text }], isError: true });
const replies = {
  expired: failed('Error: the access token has expired'),
  status: failed('GitHub API error: HTTP 401: {"message":"Bad credentials"}'),
  rpc: { rpcError: { code: -32001, message: 'Unauthorized' } },
  down: { rpcError: { code: -32603, message: 'the database is down' } },
  picky: { rpcError: { code: -32602, message: 'it must be green' } },
  parse: failed('SyntaxError: invalid token at line 3'),
  page: failed('invalid page token'),
  check: failed('invalid token'),
  forbidden: failed('HTTP 403: you may not do this'),
  nothing: [],
  rows: { content: [{ type: 'text', text: '[{"id":1}]' }] },
  table: { content: [{ type: 'text', text: 'id,name\n1,Ada\n2,Ben\n' }] },
};
const tools = Object.keys(replies).map((name) => ({ name, inputSchema: { type: 'object' } }));

let codemode: CodemodeClient;
beforeAll(async () => {
  codemode = await startCodemode({
    scripts: { notes: { tools, replies } },
    servers: { everyday: everyday() },
    config: { response: undefined },
  });
});
afterAll(() => codemode[Symbol.asyncDispose]());

const ECHO = `import { echo } from '@codemode/servers/everyday';\n`;

/** Diagnostics of a program besides the types of servers, which come with the first use. */
async function diagnosticsOf(code: string, more?: Record<string, unknown>): Promise<Diagnostic[]> {
  const { diagnostics } = await codemode.run(code, more);
  return diagnostics.filter(({ code: kind }) => kind !== 'SERVER_TYPES');
}

const missingAwait = async (code: string) =>
  (await diagnosticsOf(code)).filter(({ code: kind }) => kind === 'MISSING_AWAIT');

test('an error of a server blames the input only where the server does', async () => {
  const failureOf = async (tool: string) =>
    (await diagnosticsOf(`import { ${tool} } from '@codemode/servers/notes';\nawait ${tool}({});`))[0];
  const down = await failureOf('down');
  expect(down?.message).toBe('ToolCallError: notes answered with an error: the database is down');
  expect(down).not.toHaveProperty('hint');
  expect(await failureOf('picky')).toMatchObject({
    message: 'ToolCallError: notes refused the call: it must be green',
    hint: 'Look the tool up with getTool() and correct the input.',
  });
});

describe('a forgotten await', () => {
  test('in front of the result is named with its line and what to write', async () => {
    expect(await diagnosticsOf(`${ECHO}\nglobalThis.__codemode_result__ = echo({ message: 'a' });`)).toEqual([
      {
        severity: 'warning',
        code: 'MISSING_AWAIT',
        message: '`result` is a promise; not awaited: echo(...) at line 3',
        hint: 'Write: await echo(...)',
        path: expect.stringMatching(/^main\.ts:3:\d+$/),
      },
    ]);
  });

  test.each([
    [
      'inside the result',
      `${ECHO}globalThis.__codemode_result__ = { name: 'a', text: echo({ message: 'a' }) };`,
      '`result` has a promise at /text; not awaited: echo(...) at line 2',
      'Write: await echo(...)',
    ],
    [
      'in a list of calls',
      `${ECHO}globalThis.__codemode_result__ = ['a', 'b', 'c', 'd'].map((message) => echo({ message }));`,
      '`result` has 4 promises (/0, /1, /2, ...); not awaited: echo(...) at line 2, 4 times',
      'Await the whole list: await Promise.all(list).',
    ],
    [
      'of async functions of the program',
      `${ECHO}globalThis.__codemode_result__ = ['a', 'b'].map(async (message) => await echo({ message }));`,
      '`result` has 2 promises (/0, /1)',
      'Await the whole list: await Promise.all(list).',
    ],
    [
      'in a race that the program made itself',
      `${ECHO}globalThis.__codemode_result__ = await new Promise((done) => { echo({ message: 'a' }).then(done); done('late'); });`,
      '`result` was made before the answer of echo(...) at line 2; the run waited for it (not for losers of Promise.race and Promise.any)',
      'Await it before the result is made.',
    ],
    [
      'of a list that forEach goes through',
      `${ECHO}let all = '';\n['a', 'b', 'c'].forEach(async (message) => { all += await echo({ message }); });\nglobalThis.__codemode_result__ = all;`,
      '`result` was made before the answer of echo(...) at line 3, 3 times',
      'Await what makes the calls: await Promise.all(list.map(async (item) => ...)); forEach and filter do not wait.',
    ],
    [
      'of a Promise.all',
      `${ECHO}const all = Promise.all([echo({ message: 'a' })]);\nglobalThis.__codemode_result__ = Object.keys(all).length;`,
      '`result` was made before the answer of echo(...) at line 2; the run waited for it (not for losers of Promise.race and Promise.any)',
      'Await it before the result is made.',
    ],
    [
      'whose answer nothing used',
      `${ECHO}echo({ message: 'a' });\nglobalThis.__codemode_result__ = 'done';`,
      'not awaited: echo(...) at line 2',
      'Write: await echo(...)',
    ],
    [
      'whose promise was taken for the answer',
      `${ECHO}const text = echo({ message: 'a' });\nglobalThis.__codemode_result__ = { length: text.length };`,
      'not awaited: echo(...) at line 2',
      'Write: await echo(...)',
    ],
    [
      'that made the program fail',
      `${ECHO}const text = echo({ message: 'a' });\nglobalThis.__codemode_result__ = text.split(',');`,
      'not awaited: echo(...) at line 2',
      'Write: await echo(...)',
    ],
  ])('%s is named', async (_, code, message, hint) => {
    expect(await missingAwait(code)).toMatchObject([{ message, hint }]);
  });

  test.each([
    ['await', `await echo({ message: 'a' });`],
    ['then', `echo({ message: 'a' }).then((text) => { globalThis.__codemode_result__ = text; });`],
    ['Promise.all', `await Promise.all(['a', 'b'].map((message) => echo({ message })));`],
    ['Promise.race', `await Promise.race([echo({ message: 'a' }), echo({ message: 'b' })]);`],
    ['a later await', `const a = echo({ message: 'a' }); const b = echo({ message: 'b' }); await a; await b;`],
    [
      'a function that is not awaited',
      `async function main() { globalThis.__codemode_result__ = await echo({ message: 'a' }); } main();`,
    ],
    [
      'a list that callbacks fill',
      `const all = globalThis.__codemode_result__ = []; ['a', 'b'].forEach(async (message) => { all.push(await echo({ message })); });`,
    ],
    ['return', `const say = async () => echo({ message: 'a' }); await say();`],
    ['for await', `for await (const text of [echo({ message: 'a' })]) console.log(text);`],
    ['300 calls at once', `await Promise.all(Array.from({ length: 300 }, () => echo({ message: 'a' })));`],
  ])('is not seen where there is %s', async (_, code) => {
    const codes = (await diagnosticsOf(`${ECHO}${code}`)).map((each) => each.code);
    expect(codes.filter((each) => each !== 'NO_RESULT')).toEqual([]);
  });

  test('is not the reason of an error that a call or the program throws', async () => {
    const code = `${ECHO}const later = echo({ message: 'a' }); throw new Error('stop'); await later;`;
    expect(await missingAwait(code)).toEqual([]);
  });

  test('leaves promises what they are', async () => {
    const value = await codemode.value(`${ECHO}const promise = echo({ message: 'a' });
      console.log(promise);
      globalThis.__codemode_result__ = [promise instanceof Promise, promise.constructor === Promise,
        Object.prototype.toString.call(promise), Object.keys(promise), await promise, await promise.finally(() => {})];`);
    expect(value).toEqual([true, true, '[object Promise]', [], 'a', 'a']);
  });
});

describe('work in flight when the last line has run', () => {
  const EVERYDAY = `import { echo, slow } from '@codemode/servers/everyday';\n`;
  const limits = { timeoutMs: 1_500 };

  test.each([
    [
      'a call that lost a race',
      `const text = await Promise.race([echo({ message: 'first' }), slow({ ms: 60_000 })]);`,
      [
        expect.objectContaining({
          code: 'CALLS_UNFINISHED',
          message: expect.stringMatching(/while everyday\/slow was/),
        }),
      ],
    ],
    [
      'a call that lost a race under another name',
      `const first = Promise['ra' + 'ce'].bind(Promise);
       const text = await first([echo({ message: 'first' }), slow({ ms: 60_000 })]);`,
      [expect.objectContaining({ code: 'CALLS_UNFINISHED' })],
    ],
    [
      'the timer of a race',
      `const late = new Promise((_, reject) => setTimeout(() => reject(new Error('late')), 60_000));
       const text = await Promise.race([echo({ message: 'first' }), late]);`,
      [],
    ],
  ])('is not waited for where it is %s', async (_, code, diagnostics) => {
    const program = `${EVERYDAY}${code}\nglobalThis.__codemode_result__ = text;`;
    const begunAt = performance.now();
    const answer = await codemode.run(program, { limits: { timeoutMs: 40_000 } });
    expect([answer.result, answer.diagnostics]).toEqual(['first', diagnostics]);
    expect(performance.now() - begunAt).toBeLessThan(30_000);
  });

  test.each([
    ['only a comment races', '// Promise.race'],
    [
      'it was made after the race',
      `await Promise.race([echo({ message: 'a' }), new Promise((end) => setTimeout(end, 50))]);`,
    ],
  ])('is waited for where %s', async (_, code) => {
    const program = `${EVERYDAY}${code}\nglobalThis.__codemode_result__ = 'early';
      const main = async () => { globalThis.__codemode_result__ = await echo({ message: 'late' }); };\nmain();`;
    expect((await codemode.run(program)).result).toBe('late');
  });

  test('is cut off with the time, and the result is the answer', async () => {
    const program = `${EVERYDAY}slow({ ms: 60_000 });\nsetTimeout(() => {}, 60_000);\nglobalThis.__codemode_result__ = await echo({ message: 'kept' });`;
    const { result, diagnostics } = await codemode.run(program, { limits });
    expect(result).toBe('kept');
    expect(diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
      ['warning', 'CALLS_UNFINISHED'],
      ['warning', 'MISSING_AWAIT'],
    ]);
    expect(diagnostics[0]).toMatchObject({
      message:
        'time ran out (1500 ms) while everyday/slow and a timer was pending; the result is what the program had by then',
      hint: 'First check whether everyday/slow took effect: the answer did not come before the program ended.',
    });
  });

  test('is unawaited work of a function: without a result, running out of time is a failure', async () => {
    const program = `${EVERYDAY}(async () => { await slow({ ms: 60_000 }); globalThis.__codemode_result__ = 1; })();`;
    const { result, diagnostics } = await codemode.run(program, { limits });
    expect([result, diagnostics[0]?.code]).toEqual([null, 'SANDBOX_LIMIT']);
  });

  test('is reported with the value assigned so far if the last line has not run', async () => {
    const program = `${EVERYDAY}globalThis.__codemode_result__ = [1, 2];\nawait slow({ ms: 60_000 });`;
    const { result, diagnostics } = await codemode.run(program, { limits });
    expect([result, diagnostics.map(({ code }) => code)]).toEqual([null, ['SANDBOX_LIMIT', 'RESULT_SO_FAR']]);
  });
});

describe('what a program does not see', () => {
  test('calls that failed and were caught are counted, with the first message', async () => {
    const [diagnostic] = await diagnosticsOf(`import { fail } from '@codemode/servers/everyday';
      const all = await Promise.allSettled([fail({}), fail({})]);\nglobalThis.__codemode_result__ = all.length;`);
    expect(diagnostic).toMatchObject({
      code: 'CALLS_FAILED',
      message: expect.stringMatching(
        /^2 of 2 calls failed, and the program continued: everyday\/fail \(2\); first: .*it did not work/,
      ),
    });
  });

  test('a value that is not assigned to the result is not returned', async () => {
    const hint = 'Write: globalThis.__codemode_result__ = value;';
    const reads = `import { echo } from '@codemode/servers/everyday';\nawait echo({ message: 'x' });`;
    for (const code of ['export default 1;', 'const result = 1;', 'const main = () => { return 1; };\nmain();', reads])
      expect(await diagnosticsOf(code)).toMatchObject([{ severity: 'info', code: 'NO_RESULT', hint }]);
  });

  test('all missing tools of a namespace import are reported with the first failure', async () => {
    const { diagnostics } = await codemode.run(`import * as everyday from '@codemode/servers/everyday';
await everyday.fail({});
await everyday.echoo({ message: 'x' });
await everyday.make_it_fail_now({});`);
    expect(diagnostics[0]).toMatchObject({
      code: 'UNCAUGHT_EXCEPTION',
      hint: expect.stringMatching(
        /Also missing: everyday\.echoo \(echo\?\), everyday\.make_it_fail_now \(fail\b.*\?\)\.$/,
      ),
    });
  });

  test('a tool by its real name on a namespace import is answered with its name in code', async () => {
    const [diagnostic] = await diagnosticsOf(
      `import * as notes from '@codemode/servers/notes';\nawait notes["for-bidden"]({});`,
    );
    expect(diagnostic).toMatchObject({
      message: expect.stringContaining('has no such tool'),
      hint: 'Use notes.forbidden instead.',
    });
  });

  test.each([
    ['rows', 'JSON text'],
    ['table', 'CSV text'],
  ])('a TypeError on the text of %s says that it is %s, and how to parse it', async (tool, kind) => {
    const [diagnostic] = await diagnosticsOf(
      `import { ${tool} } from '@codemode/servers/notes';\nconst all = await ${tool}({});\nglobalThis.__codemode_result__ = all.filter(function (row) { return row; });`,
    );
    expect(diagnostic).toMatchObject({
      message: 'TypeError: all.filter is not a function',
      hint: `notes/${tool} returns ${kind}: parse it with: import { parse } from '@codemode/text'`,
    });
  });
});

describe('what is not there', () => {
  test.each([
    [`await fetch('https://example.com');`, /^There is no network here\. Find a tool: import \{ searchTools \}/],
    [
      `await globalThis.fetch('https://example.com');`,
      /^There is no network here\. Find a tool: import \{ searchTools \}/,
    ],
    [`const fs = require('fs');`, /^Write: import \* as server from '@codemode\/servers\/<server>'/],
    [`console.log(process.env.API_KEY);`, /^There is no environment here\. Write values into the program/],
    [`import fs from 'fs';`, /^There are no files here\. Find a tool: import \{ searchTools \}/],
    [`import { readFile } from 'node:fs/promises';`, /^There are no files here/],
    [`import axios from 'axios';`, /^There is no network here/],
    [`import path from 'node:path';`, /^Leave the import out and write it in plain JavaScript/],
    [`await everyday.echo({ message: 'a' });`, /^Write: import \* as everyday from '@codemode\/servers\/everyday';$/],
    [`await echo({ message: 'a' });`, /^Write: import \{ echo \} from '@codemode\/servers\/everyday';$/],
    [`await searchTools('words');`, /^Write: import \{ searchTools \} from '@codemode\/discovery';$/],
    [`import { echo } from 'everyday';`, /^Did you mean '@codemode\/servers\/everyday'\?$/],
    [`const x = 1;\nreturn x;`, /^Assign the result to globalThis\.__codemode_result__ instead of returning it\.$/],
  ])('%s is answered with what to write instead', async (code, hint) => {
    const [diagnostic, ...others] = await diagnosticsOf(code);
    expect(diagnostic).toMatchObject({ severity: 'error', hint: expect.stringMatching(hint) });
    expect(others).toEqual([]);
  });

  test('a huge value that is logged is cut, and the line says where to put it', async () => {
    const { logs } = await codemode.run(`console.log('x'.repeat(100_000));`);
    expect(logs.map(({ message }) => message.slice(-200)).join('\n')).toContain(
      'Assign large values to globalThis.__codemode_result__',
    );
  });
});

describe('hints', () => {
  test.each([
    ['a tool’s own error', `import { fail } from '@codemode/servers/everyday'; await fail({});`],
    ['an error of the program', `import { CodemodeError } from '@codemode/errors'; throw new CodemodeError('no');`],
    ['a syntax error', `const x = ;`],
  ])('that add nothing are left out of %s', async (_, code) => {
    const [diagnostic] = await diagnosticsOf(code);
    expect(diagnostic).toMatchObject({ severity: 'error' });
    expect(diagnostic).not.toHaveProperty('hint');
  });

  test.each([
    [
      'time, of a program that waits',
      'await new Promise((done) => setTimeout(done, 60_000));',
      { timeoutMs: 300 },
      'Raise limits.timeoutMs.',
    ],
    [
      'time, of a program that computes',
      `for (;;) {}`,
      { timeoutMs: 300 },
      'It was still computing, as in an endless loop; if it only needs longer, raise limits.timeoutMs.',
    ],
    [
      'memory',
      `const a = []; for (;;) a.push('x'.repeat(1e5) + a.length);`,
      { maxMemoryBytes: 8_000_000 },
      'Raise limits.maxMemoryBytes.',
    ],
    ['calls', `${ECHO}for (;;) await echo({ message: 'a' });`, { maxToolCalls: 1 }, 'Raise limits.maxToolCalls.'],
  ])('of the limit on %s are one action', async (_, code, limits, hint) => {
    const [diagnostic] = await diagnosticsOf(code, { limits });
    expect(diagnostic).toMatchObject({ code: 'SANDBOX_LIMIT', hint });
  });

  test.each([
    [
      'a server',
      `${ECHO}import { listTools } from '@codemode/discovery'; await listTools('warehouse');`,
      'Use one that is',
    ],
    ['a server module', `import '@codemode/servers/warehouse';`, 'Import one that is connected: '],
    ['a tool', `import { zzzzzz } from '@codemode/servers/everyday';`, 'Import one of its exports: '],
    ['a module', `import '@codemode/zzzzzz';`, 'Import one of these modules: '],
  ])('of %s that is not there say what to do', async (_, code, start) => {
    expect((await diagnosticsOf(code))[0]?.hint).toMatch(new RegExp(`^${start}`));
  });
});

describe('a long program that fails', () => {
  test('says which calls succeeded, and keeps what it had assigned', async () => {
    const diagnostics = await diagnosticsOf(`${ECHO}import { fail } from '@codemode/servers/everyday';
      globalThis.__codemode_result__ = [];
      for (let at = 0; at < 3; at++) globalThis.__codemode_result__.push({ at, text: await echo({ message: 'm'.repeat(60) + at }) });
      await fail({});`);
    expect(diagnostics).toMatchObject([
      { code: 'UNCAUGHT_EXCEPTION', message: expect.stringContaining('it did not work') },
      { code: 'RESULT_SO_FAR', message: expect.stringContaining('3 rows of { at: number, text: string }') },
      { code: 'CALLS_MADE', message: expect.stringMatching(/^3 calls succeeded: everyday\/echo 3 \(\d+ ms\)$/) },
    ]);
    const handle = /load\("([^"]+)"\)/.exec(diagnostics[1]?.hint ?? '')?.[1];
    const load = `import { load } from '@codemode/results'; globalThis.__codemode_result__ = await load('${handle}');`;
    expect(await codemode.value(load)).toEqual([0, 1, 2].map((at) => ({ at, text: `${'m'.repeat(60)}${at}` })));
  });

  test('shows what it had assigned where that is short', async () => {
    expect(await diagnosticsOf(`globalThis.__codemode_result__ = { page: 7 }; throw new Error('stop');`)).toMatchObject(
      [{ code: 'UNCAUGHT_EXCEPTION' }, { code: 'RESULT_SO_FAR', message: '__codemode_result__ held: {"page":7}' }],
    );
  });

  test.each([
    ['stopped', `await slow({ ms: 60_000 });`, { timeoutMs: 700 }, 'SANDBOX_LIMIT'],
    [
      'that throws',
      `slow({ ms: 60_000 }).catch(() => {}); await echo({ message: 'a' }); throw new Error('stop');`,
      {},
      'UNCAUGHT_EXCEPTION',
    ],
  ])('%s lists a call that was under way, and says to check it first', async (_, code, limits, kind) => {
    const { diagnostics, toolTrace } = await codemode.run(
      `${ECHO}import { slow } from '@codemode/servers/everyday';\n${code}`,
      { limits },
    );
    const hint = 'First check whether everyday/slow took effect: the answer did not come before the program ended.';
    expect(diagnostics[0]).toMatchObject({ code: kind, hint });
    expect(toolTrace).toEqual([
      {
        serverId: 'everyday',
        toolName: 'slow',
        durationMs: expect.any(Number),
        ok: false,
        error: expect.stringContaining('the call may have taken effect'),
      },
    ]);
  });

  test('with a value that is no Error says so once', async () => {
    expect(await diagnosticsOf('throw null;')).toMatchObject([
      { message: 'the program threw a value that is not an Error: null' },
    ]);
  });

  test.each([
    ['nothing', `throw new Error('stop');`],
    ['what JSON cannot say', `globalThis.__codemode_result__ = 1n; throw new Error('stop');`],
    [
      'what throws',
      `globalThis.__codemode_result__ = { toJSON() { throw new Error('mine') } }; throw new Error('stop');`,
    ],
  ])('with %s assigned fails as it did', async (_, code) => {
    expect(await diagnosticsOf(code)).toMatchObject([{ code: 'UNCAUGHT_EXCEPTION', message: 'stop' }]);
    expect(await diagnosticsOf(code)).toHaveLength(1);
  });

  test('whose value never ends to be written fails as it did, at its time limit', async () => {
    const code = `globalThis.__codemode_result__ = { toJSON() { for (;;) {} } }; throw new Error('stop');`;
    expect(await diagnosticsOf(code, { limits: { timeoutMs: 500 } })).toHaveLength(1);
  });

  test('keeps no secret that was redacted from answers', async () => {
    const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}`;
    const diagnostics = await diagnosticsOf(
      `globalThis.__codemode_result__ = ['ghp_', '${token.slice(4)}'].join(''); throw new Error('stop');`,
    );
    const soFar = diagnostics.find(({ code }) => code === 'RESULT_SO_FAR')?.message;
    expect(soFar).toBe('__codemode_result__ held: "[redacted:github-token]"');
    const long = await diagnosticsOf(
      `globalThis.__codemode_result__ = ['x'.repeat(200), 'ghp_', '${token.slice(4)}'].join(' ').replace('_ ', '_'); throw new Error('stop');`,
    );
    const handle = /load\("([^"]+)"\)/.exec(long.find(({ code }) => code === 'RESULT_SO_FAR')?.hint ?? '')?.[1];
    const load = `import { load } from '@codemode/results'; globalThis.__codemode_result__ = (await load('${handle}')).length;`;
    expect(await codemode.value(load)).not.toBe(token.length + 201);
  });
});

test('an answer that is not a result fails its call at once', async () => {
  const message = await codemode.value(`import { nothing } from '@codemode/servers/notes';
    globalThis.__codemode_result__ = await nothing({}).catch((error) => error.message);`);
  expect(message).toBe('notes.nothing sent an invalid answer: the answer has no result');
});

describe('a call without a valid credential', () => {
  const caught = (call: string) =>
    codemode.value(`import * as notes from '@codemode/servers/notes'; import { AuthenticationError } from '@codemode/errors';
      globalThis.__codemode_result__ = await notes.${call}.catch((error) => [error.name, error instanceof AuthenticationError, error.hint]);`);

  test.each(['expired({})', 'status({})', 'rpc({})'])(
    '%s is an AuthenticationError with the setting to check',
    async (call) => {
      const hint = 'Ask the user to check the credential of this server: mcpServers.notes.env';
      expect(await caught(call)).toEqual(['AuthenticationError', true, hint]);
    },
  );

  test.each(['parse({})', 'page({})', 'forbidden({})', `check({ token: 'mine' })`])(
    '%s is a ToolCallError',
    async (call) => {
      expect(await caught(call)).toEqual(['ToolCallError', false, expect.any(String)]);
    },
  );

  test('is listed without the words of the server', async () => {
    const { toolTrace } = await codemode.run(
      `import { expired } from '@codemode/servers/notes'; await expired({}).catch(() => {});`,
      { response: { toolTrace: 'all' } },
    );
    expect(toolTrace).toMatchObject([{ error: 'AuthenticationError: the server asks for a valid credential' }]);
  });
});

describe('failed calls in a result', () => {
  test('say what went wrong, as Promise.allSettled gives them', async () => {
    const { result, diagnostics } = await codemode.run(`import * as notes from '@codemode/servers/notes';
      globalThis.__codemode_result__ = await Promise.allSettled([notes.forbidden(), notes.rows()]);`);
    expect(result).toEqual([
      {
        status: 'rejected',
        reason: expect.objectContaining({ name: 'ToolCallError', message: expect.stringContaining('HTTP 403') }),
      },
      { status: 'fulfilled', value: '[{"id":1}]' },
    ]);
    expect(diagnostics.map(({ code }) => code)).not.toContain('RESULT_NOT_JSON');
  });
});
