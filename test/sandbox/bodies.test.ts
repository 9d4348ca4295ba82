import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/domain/json.js';
import { DEFAULT_LIMITS } from '../../src/domain/limits.js';
import type { BodyForm, CallerId, SourceLanguage, VirtualModule } from '../../src/domain/run.js';
import type { RunReport } from '../../src/sandbox/run-report.js';
import { CALLER, openSandbox, type TestSandbox, testEngine } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ min: 1, max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

const API: VirtualModule = {
  specifier: '@codemode/api',
  exports: [
    {
      kind: 'namespaces',
      name: 'mcp',
      namespaces: { test: { echo: 'test/echo', fail: 'test/fail' }, other: { echo: 'other/echo' } },
    },
    { kind: 'calls', name: 'fs', targets: { readFile: 'fs/readFile' } },
    { kind: 'fetch', name: 'fetch', target: 'net/fetch' },
  ],
};

interface BodyOptions {
  readonly context?: JsonObject;
  readonly names?: readonly string[];
  readonly language?: SourceLanguage;
}

async function run(source: string, { context = {}, names = ['mcp'], language }: BodyOptions = {}) {
  const body: BodyForm = { context, module: API.specifier, names };
  const program = {
    source,
    language: language ?? 'typescript',
    modules: [API],
    limits: { ...DEFAULT_LIMITS, timeoutMs: 5_000 },
    body,
  } as const;
  const onCall = async ({ target, argumentsJson }: { target: string; argumentsJson: string }) => {
    const input = JSON.parse(argumentsJson) as JsonValue[];
    if (target === 'test/fail')
      return { ok: false, error: { errorClass: 'ToolCallError', message: 'it failed', hint: 'Try again.' } } as const;
    const answer = { url: 'u', status: 200, headers: { 'content-type': 'x' }, body: JSON.stringify(input) };
    return { ok: true, json: JSON.stringify(target === 'net/fetch' ? answer : { target, input }) } as const;
  };
  const started = await box.sandbox.start({ caller: CALLER as CallerId, program }, { onCall });
  return started.report;
}
const endOf = ({ outcome }: RunReport): unknown =>
  outcome.status === 'completed' ? JSON.parse(outcome.resultJson) : outcome.failure;
const end = async (source: string, options?: BodyOptions) => endOf(await run(source, options));

test('a body returns its result, awaits, and sees its context [C2]', async () => {
  expect(
    await end('const n: number = await Promise.resolve(20); return n + context.more;', { context: { more: 1 } }),
  ).toBe(21);
  expect(await end('if (context.stop) return "early"; return "late"', { context: { stop: true } })).toBe('early');
  expect(await end('return 1 < 2', { language: 'javascript' })).toBe(true);
  expect(await end('const a = 1;')).toBe(null);
  expect(await end('return 7 // the last line is a comment')).toBe(7);
});

test('tools are functions of mcp, with whatever arguments [C2]', async () => {
  expect(await end('return mcp.test.echo({ a: 1 })')).toEqual({ target: 'test/echo', input: [{ a: 1 }] });
  expect(await end('return mcp.other.echo("x", 10)')).toEqual({ target: 'other/echo', input: ['x', 10] });
  expect(await end('return [Object.keys(mcp), Object.keys(mcp.test), Object.isFrozen(mcp.test)]')).toEqual([
    ['test', 'other'],
    ['echo', 'fail'],
    true,
  ]);
  expect(await end('try { await mcp.test.fail() } catch (e) { return [e.name, e.message, e.hint] }')).toEqual([
    'ToolCallError',
    'it failed',
    'Try again.',
  ]);
});

test('fetch and fs are there only where they are given [C6]', async () => {
  expect(await end('return [typeof fetch, typeof fs]')).toEqual(['undefined', 'undefined']);
  expect(await end('return fetch("https://x.example")')).toMatchObject({
    name: 'ReferenceError',
    hint: expect.stringContaining('"capabilities": ["network:'),
  });
  const names = ['mcp', 'fs', 'fetch'];
  const source = `const answer = await fetch(new URL("https://x.example/a"), { method: 'POST', headers: { A: 'b' }, body: 'c' });
    return [answer.ok, answer.status, answer.headers.get('Content-Type'), await answer.json(), await fs.readFile('/a')]`;
  expect(await end(source, { names })).toEqual([
    true,
    200,
    'x',
    [{ url: 'https://x.example/a', method: 'POST', headers: { A: 'b' }, body: 'c' }],
    { target: 'fs/readFile', input: ['/a'] },
  ]);
});

test.each([
  ['null.x', 1, 1],
  ['const a = 1;\n  null.x', 2, 3],
  ['type A = 1;\n\n(null as any).x', 3, 2],
  ['await mcp.test.fail()', 1, 16],
  ['return (', 1, 9],
  ['const a = 1;\nconst a = 2;', 2, 7],
  ['return 1 }', 1, 11],
  ['import x from "y"', 1, 8],
])('errors are where the author wrote them: %s [C13]', async (source, line, column) => {
  const failure = (await end(source)) as { position: { line: number; column: number }; stack?: string };
  // Columns are those of the engine.
  expect(failure.position).toEqual({ line, column: testEngine() === 'v8' ? expect.any(Number) : column });
  expect(failure.stack ?? '').not.toMatch(/main\.ts:0/);
});

if (testEngine() === 'quickjs')
  test('an error that the engine places nowhere is not placed on a line of ours', async () => {
    const failure = (await end('return null.x')) as { position?: unknown; stack: string };
    expect(failure.position).toBe(undefined);
    expect(failure.stack).not.toContain('main.ts');
  });

test('a body that closes the function around it gains nothing', async () => {
  expect(await end('return 1;\n})();\n(async () => {')).toBe(1);
  expect(await end('})(); export const mcp2 = typeof mcp; (() => { return 2')).toBe(null);
});

if (testEngine() === 'quickjs')
  test('what a program used is its own: its CPU time and the memory it held [C1]', async () => {
    const idle = await run('return 1');
    const busy = await run(
      'let t = 0; for (let i = 0; i < 3e6; i++) t += i; const a = new Array(1e5).fill(1).map((_, i) => ({ i })); return a.length',
    );
    expect(busy.usage.cpuMs).toBeGreaterThan(10 * idle.usage.cpuMs);
    expect(idle.usage.memoryBytes).toBeGreaterThan(0);
    expect(idle.usage.memoryBytes).toBeLessThan(200_000);
    expect(busy.usage.memoryBytes).toBeGreaterThan(2_000_000);
    expect((await run('return 1')).usage.memoryBytes).toBe(idle.usage.memoryBytes);
  });
