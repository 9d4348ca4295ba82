import { expect, test } from 'vitest';
import { type Attempt, MAX_ATTEMPTS, runWithSelfCorrection } from './self-correction.js';

const failing = (type: string): Attempt<string> => ({ ok: false, error: { type, message: `it was ${type}` } });

async function correct(ends: readonly Attempt<string>[]) {
  const tasks: string[] = [];
  const answer = await runWithSelfCorrection('the task', {
    generate: async (task) => {
      tasks.push(task);
      return 'code';
    },
    run: async (_, attempt) => ends[attempt - 1] as Attempt<string>,
  });
  return { answer, tasks };
}

test('a program that works is not asked for again [B22]', async () => {
  expect(await correct([{ ok: true, data: 'done' }])).toEqual({ answer: 'done', tasks: ['the task'] });
});

test.each(['Timeout', 'RateLimit', 'TransientNetwork'])(
  'after a %s it is tried again, with what went wrong [B22]',
  async (type) => {
    const { answer, tasks } = await correct([failing(type), { ok: true, data: 'done' }]);
    expect(answer).toBe('done');
    expect(tasks[1]).toBe(`the task\n\nPrevious error (attempt 1): it was ${type}`);
  },
);

test('three attempts are all there are, whatever they come to [B22]', async () => {
  const { answer, tasks } = await correct(Array.from({ length: 10 }, () => failing('Timeout')));
  expect(answer).toEqual({ error: 'handoff_required' });
  expect(tasks).toHaveLength(MAX_ATTEMPTS);
});

test.each(['TypeError', 'ToolCallError', 'Pending', ''])(
  'what would not go better is handed over at once: %s [B22]',
  async (type) => {
    const { answer, tasks } = await correct([failing(type), { ok: true, data: 'too late' }]);
    expect(answer).toEqual({ error: 'handoff_required' });
    expect(tasks).toHaveLength(1);
  },
);

test('what the runner says of an error decides, whatever its type is called [B22]', async () => {
  const said = (type: string, retryable: boolean): Attempt<string> => ({
    ok: false,
    error: { type, message: 'x', retryable },
  });
  expect((await correct([said('SlowDown', true), { ok: true, data: 'done' }])).answer).toBe('done');
  expect((await correct([said('Timeout', false), { ok: true, data: 'no' }])).answer).toEqual({
    error: 'handoff_required',
  });
});

test('the wait that a server asks for is kept, and a long one is somebody else’s [B22]', async () => {
  const waiting = (retryAfterMs: number): Attempt<string> => ({
    ok: false,
    error: { type: 'RateLimit', message: 'x', retryAfterMs },
  });
  const startedAt = performance.now();
  expect((await correct([waiting(50), { ok: true, data: 'done' }])).answer).toBe('done');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(45);
  expect(await correct([waiting(3_600_000), { ok: true, data: 'late' }])).toMatchObject({
    answer: { error: 'handoff_required' },
    tasks: { length: 1 },
  });
});
