import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AS_SHIPPED, openHome, openStdio } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

/** What a model reads of an answer, in tokens: the figures are pins, so that nobody makes them grow unseen. */

const mcpServers = { everyday: { command: process.execPath, args: [fixture('everyday-server.mjs')] } };

type Stdio = Awaited<ReturnType<typeof openStdio>>;

interface Answer {
  readonly tokens: number;
  readonly text: string;
  readonly result: unknown;
  readonly logs: readonly { level: string; message: string }[];
  readonly diagnostics: readonly { code: string; message: string; hint?: string }[];
  readonly toolTrace?: readonly { toolName: string; ok: boolean }[];
}

async function answerOf(program: Stdio, code: string, more: object = {}): Promise<Answer> {
  const { content } = await program.client.callTool({ name: 'codemode_run', arguments: { code, ...more } });
  const text = (content as { text: string }[]).map((block) => block.text).join('\n');
  return { ...(JSON.parse(text) as Answer), tokens: countTokens(text), text };
}

const ECHO = `import { echo } from '@codemode/servers/everyday';`;
const ROWS = `Array.from({ length: 3000 }, (_, id) => ({ id, name: 'customer ' + id, total: id * 17 % 1000, city: 'Berlin' }))`;

describe('an answer', () => {
  const home = openHome({ ...AS_SHIPPED, mcpServers });
  const code = `${ECHO} globalThis.__codemode_result__ = await echo({ message: 'hello' });`;
  let program: Stdio;
  /** The first answer about the server. */
  let first: Answer;
  beforeAll(async () => {
    program = await openStdio(home);
    first = await answerOf(program, code);
  });
  afterAll(async () => {
    await program?.[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });

  test('of a program with one call costs no more than 150 tokens', () => {
    expect(first.result).toBe('hello');
    expect(first.tokens, first.text).toBeLessThanOrEqual(150);
  });

  test('names the other functions of a server once, in some 60 tokens', async () => {
    const [others = ''] = first.diagnostics.flatMap(({ message }) => message.match(/^\/\/ also: .*$/m) ?? []);
    expect(others).toMatch(/^\/\/ also: (?:\w+(?:\(.*?\))?(?: @asks)?, ){3,}/);
    expect(others).not.toContain('echo');
    expect(countTokens(others)).toBeLessThanOrEqual(75);
    expect((await answerOf(program, code)).diagnostics).toEqual([]);
  });

  test('has a picture as a content block, wherever the result has it, and not as text', async () => {
    const code = `const picture = { type: 'image', data: 'iVBORw0K'.repeat(500), mimeType: 'image/png' };
      globalThis.__codemode_result__ = { weather: 'sunny', seen: { content: [picture] } };`;
    const { content } = await program.client.callTool({ name: 'codemode_run', arguments: { code } });
    const [text, picture, ...others] = content as { type: string; text: string; data: string }[];
    expect(JSON.parse(text?.text ?? '').result).toEqual({
      weather: 'sunny',
      seen: { content: [{ type: 'image', data: '(in separate content block 1)', mimeType: 'image/png' }] },
    });
    expect([picture?.type, picture?.data.length, others]).toEqual(['image', 4_000, []]);
    expect(countTokens(text?.text ?? '')).toBeLessThanOrEqual(80);
  });

  test('after 900 successful calls costs no more than 300 tokens, and lists all of them on request', async () => {
    const code = (count: number) => `${ECHO} const all = Array.from({ length: ${count} }, (_, at) => 'm' + at);
      for (let at = 0; at < all.length; at += 20) await Promise.all(all.slice(at, at + 20).map((message) => echo({ message })));
      globalThis.__codemode_result__ = 'done';`;
    const limits = { timeoutMs: 120_000 };
    const { tokens, result, toolTrace } = await answerOf(program, code(900), { limits });
    expect(result).toBe('done');
    expect(toolTrace).toBeUndefined();
    expect(tokens).toBeLessThanOrEqual(300);
    const all = await answerOf(program, code(200), { limits, response: { toolTrace: 'all' } });
    expect(all.toolTrace).toHaveLength(200);
  });

  test('after a failure lists the calls that failed, and the others in one line', async () => {
    const { toolTrace, diagnostics } = await answerOf(
      program,
      `${ECHO} import * as everyday from '@codemode/servers/everyday';
       for (let at = 0; at < 5; at++) await echo({ message: 'm' });
       await echo({ message: 1 });`,
    );
    expect(toolTrace).toMatchObject([{ toolName: 'echo', ok: false }]);
    expect(diagnostics.find(({ code }) => code === 'CALLS_MADE')?.message).toMatch(
      /^5 calls succeeded: everyday\/echo 5 \(\d+ ms\)$/,
    );
  });

  test('with 3,000 rows as its result has the first ones, their shape, and the way to the rest', async () => {
    const { tokens, result, diagnostics } = await answerOf(program, `globalThis.__codemode_result__ = ${ROWS};`);
    expect(tokens).toBeLessThanOrEqual(6_000);
    expect((result as unknown[]).slice(0, 2)).toMatchObject([{ id: 0 }, { id: 1 }]);
    const { message, hint } = diagnostics[0] ?? {};
    expect(message).toContain('3000 rows of { id: number, name: string, total: number, city: string }');
    const handle = /load\("([^"]+)"\)/.exec(hint ?? '')?.[1];
    const load = `import { load } from '@codemode/results';`;
    const rest = await answerOf(
      program,
      `${load} const whole = await load('${handle}'); const part = await load('${handle}', { from: 10, to: 12 });
       const one = await load('${handle}', { path: '5.name' });
       const wrong = await load('${handle}', { path: 'x' }).catch((error) => error.message);
       globalThis.__codemode_result__ = [whole.length, part.map(({ id }) => id), one, wrong];`,
    );
    expect(rest.result).toEqual([3000, [10, 11], 'customer 5', expect.stringContaining('a list of 3000')]);
  });

  test.each([
    ['3,000 rows logged at once', `console.log(${ROWS});`],
    ['20,000 short log lines', `for (let at = 0; at < 20000; at++) console.log('line ' + at);`],
    ['characters of two units', `console.log('😀'.repeat(30000)); console.log('end');`],
  ])('with %s costs no more than 6,000 tokens and says what is left out', async (_, code) => {
    const { tokens, text, logs } = await answerOf(program, code);
    expect(tokens).toBeLessThanOrEqual(6_000);
    expect(text).toMatch(
      /logs were truncated: (lines [\d]+ to \d+ of \d+ are left out|long lines are shortened); await load\(/,
    );
    expect(logs.at(-1)).toMatchObject({
      level: 'warn',
      message: expect.stringMatching(/truncated: .* The logs of this answer may have \d+ characters\./),
    });
    for (const { message } of logs) expect(message).not.toMatch(/\p{Surrogate}/u);
  });

  test('keeps the first and the last lines of a long log', async () => {
    const { logs } = await answerOf(program, `for (let at = 0; at < 2000; at++) console.log('line ' + at);`);
    const handle = /load\("([^"]+)"\)/.exec(logs.at(-1)?.message ?? '')?.[1];
    const part = await answerOf(
      program,
      `import { load } from '@codemode/results'; const lines = await load('${handle}');
       globalThis.__codemode_result__ = [lines.length, lines[1000]];`,
    );
    expect(part.result).toEqual([2000, 'line 1000']);
    expect(logs[0]?.message).toBe('line 0');
    expect(logs.at(-2)?.message).toBe('line 1999');
    expect(logs.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  test('has the budget and the list of calls that the configuration sets', async () => {
    using own = openHome({ ...AS_SHIPPED, mcpServers, response: { toolTrace: 'all', maxTokens: 100_000 } });
    await using other = await openStdio(own);
    const { result, toolTrace } = await answerOf(
      other,
      `${ECHO} await echo({ message: 'x' }); globalThis.__codemode_result__ = ${ROWS};`,
    );
    expect(result).toHaveLength(3000);
    expect(toolTrace).toMatchObject([{ toolName: 'echo', ok: true }]);
  });
});
