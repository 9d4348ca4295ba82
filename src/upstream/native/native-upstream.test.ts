import { expect, test } from 'vitest';
import { type NativeTool, NativeUpstream } from './native-upstream.js';

const upstream = (execute: NativeTool['execute']) => new NativeUpstream('own', new Map([['work', { execute }]]));
const outcome = (execute: NativeTool['execute'], options = {}) =>
  upstream(execute).call({ tool: 'work', arguments: { n: 1 }, ...options });

test('what a function gives back is the answer of its tool', async () => {
  const values = ['text', { a: [1] }, 7, null, undefined];
  const answers = await Promise.all(values.map((value) => outcome(() => value)));
  expect(answers.map((answer) => answer.status === 'answered' && answer.reply)).toEqual([
    { content: [{ type: 'text', text: 'text' }], isError: false },
    {
      content: [{ type: 'text', text: '{"a":[1]}' }],
      structuredContent: { a: [1] },
      structuredJson: '{"a":[1]}',
      isError: false,
    },
    { content: [{ type: 'text', text: '7' }], structuredContent: 7, structuredJson: '7', isError: false },
    { content: [{ type: 'text', text: 'null' }], structuredContent: null, structuredJson: 'null', isError: false },
    { content: [], isError: false },
  ]);
});

test('what it throws is the failure of its tool, without a stack', async () => {
  const answer = await outcome(() => {
    throw new Error('no such city');
  });
  expect(answer).toEqual({
    status: 'answered',
    reply: { content: [{ type: 'text', text: 'no such city' }], isError: true },
  });
});

test('an answer that is not JSON is refused', async () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const value of [circle, 1n, () => 1, Symbol('x')])
    expect(await outcome(() => value)).toMatchObject({ status: 'failed', failure: { kind: 'invalid_reply' } });
});

test('a function that does not listen is not waited for', async () => {
  const never = () => new Promise(() => {});
  expect(await outcome(never, { timeoutMs: 5 })).toMatchObject({ failure: { kind: 'timeout', mayHaveRun: true } });
  const cancel = new AbortController();
  const answer = outcome(never, { signal: cancel.signal });
  cancel.abort();
  expect(await answer).toMatchObject({ failure: { kind: 'cancelled' } });
});

test('it says what it has, and nothing of how it works', async () => {
  const { tools } = await upstream(() => 1).listTools();
  expect(tools).toEqual([{ serverId: 'own', name: 'work' }]);
});
