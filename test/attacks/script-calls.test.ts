import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callScript, responseOf } from '../support/code-execution.js';
import { type Home, nodeServer, openHome, openStdio, until } from '../support/program.js';
import { fixture } from '../support/upstreams.js';

let home: Home;
let session: Awaited<ReturnType<typeof openStdio>>;
const marks = join(tmpdir(), `codemode-marks-${process.pid}`);

/** `git-hub` may be called; `git hub`, which would have its path, and `other`, which leaves marks, may not. */
beforeAll(async () => {
  const noting = nodeServer(fixture('noting-server.mjs'), marks);
  home = openHome({
    mcpServers: { 'git hub': noting, 'git-hub': nodeServer(fixture('everyday-server.mjs')), other: noting },
  });
  session = await openStdio(home, 'legacy', {}, ['--profile', 'code_execution']);
  const all = `['git hub', 'git-hub', 'other'].every((name) => call_tool(name, 'none', {}).error.code === 'TOOL_NOT_FOUND')`;
  await until(async () => JSON.stringify(responseOf(await callScript(session.client, { code: all }))).includes('true'));
}, 60_000);
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  home[Symbol.dispose]();
  rmSync(marks, { force: true });
});

const attempt = async (code: string, options: object = { allowed_servers: ['git-hub'] }) =>
  responseOf(await callScript(session.client, { code, options }));
const callsOfOthers = () => (existsSync(marks) ? readFileSync(marks, 'utf8') : '');

describe('a script that may call one server reaches no other', () => {
  test.each([
    `call_tool('other', 'note', {})`,
    `call_tool('mcp:other', 'note', {})`,
    `call_tool('git hub', 'note', {})`,
    `try { call_tool('other', 'note', {}) } catch (e) {} finally { call_tool('other', 'note', {}) }`,
    `[1].map(() => { try { return call_tool('other', 'note', {}) } catch (e) { return 'caught' } })`,
    `String.prototype.toJSON = () => 'git-hub'; Array.prototype.toJSON = () => ['git-hub', 'pid', {}]; call_tool('other', 'note', {})`,
    `JSON.stringify = () => '["git-hub","pid",{}]'; JSON.parse = () => ({ ok: true }); call_tool('other', 'note', {})`,
    `Array.prototype[0] = 'git-hub'; call_tool('other', 'note', {})`,
    `call_tool('git-hub', 'echo', { get message() { return call_tool('other', 'note', {}) } })`,
    `call_tool('git-hub', 'echo', { toJSON() { call_tool('other', 'note', {}); return { message: 'x' } } })`,
    `call_tool.call(null, 'other', 'note', {})`,
    `Reflect.apply(call_tool, {}, ['other', 'note', {}])`,
    `Promise.resolve().then(() => call_tool('other', 'note', {})).catch(() => 'caught')`,
  ])('%s', async (code) => {
    expect(await attempt(`${code}; 'survived'`)).not.toMatchObject({ value: { ok: true } });
    expect(callsOfOthers()).toBe('');
  });

  test.each([
    `call_tool({ toString: () => 'other' }, 'note', {})`,
    `call_tool(['other'], 'note', {})`,
    `call_tool(new String('other'), ['note'], {})`,
  ])('names are strings and nothing else: %s', async (code) => {
    expect(await attempt(`${code}.ok === true`)).not.toEqual({ ok: true, value: true });
    expect(callsOfOthers()).toBe('');
  });

  test('and still calls that one', async () => {
    expect(await attempt(`call_tool('git-hub', 'echo', { message: 'a' }).result`)).toEqual({ ok: true, value: 'a' });
  });
});

test('calls past the limit reach no server, however they are made', async () => {
  const code = `for (;;) { try { call_tool('other', 'note', {}) } catch (e) { } finally { continue } }`;
  expect(await attempt(code, { max_tool_calls: 3 })).toMatchObject({ error: { code: 'MAX_TOOL_CALLS_EXCEEDED' } });
  expect(callsOfOthers()).toBe('...');
});
