import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CodemodeHost } from '../../../src/index.js';

/** The library as somebody else uses it: what was built, with a real sandbox. */
const LIBRARY = new URL('../../../dist/index.js', import.meta.url).href;
const { attemptOf, createHost, runWithSelfCorrection } = (await import(
  LIBRARY
)) as typeof import('../../../src/index.js');

let host: CodemodeHost;
beforeAll(async () => {
  host = await createHost({ config: {} });
});
afterAll(() => host.close());

const ENDLESS = 'for (;;) {}';

/** A model that writes these programs, one after the other. */
async function correct(programs: readonly string[]) {
  const tasks: string[] = [];
  const answer = await runWithSelfCorrection('add two numbers', {
    generate: async (task, attempt) => {
      tasks.push(task);
      return programs[attempt - 1] ?? ENDLESS;
    },
    run: async (source) => attemptOf(await host.run(source, { timeoutMs: 200 })),
  });
  return { answer, tasks };
}

test('a program that timed out is written again, and the model is told why [B22]', async () => {
  const { answer, tasks } = await correct([ENDLESS, 'globalThis.__codemode_result__ = 40 + 2;']);
  expect(answer).toBe(42);
  expect(tasks[1]).toMatch(/^add two numbers\n\nPrevious error \(attempt 1\): .*200 ms/);
});

test('after three programs in all it is handed over [B22]', async () => {
  const { answer, tasks } = await correct([]);
  expect(answer).toEqual({ error: 'handoff_required' });
  expect(tasks).toHaveLength(3);
});

test('a program that fails of itself is handed over at once [B22]', async () => {
  const own = 'class Timeout extends Error { name = "Timeout" } throw new Timeout("mine");';
  for (const first of ['throw new TypeError("no");', own]) {
    const { answer, tasks } = await correct([first, 'globalThis.__codemode_result__ = 42;']);
    expect(answer).toEqual({ error: 'handoff_required' });
    expect(tasks).toHaveLength(1);
  }
});

test('a result of execute says with its code that time ran out, as the guide has it [B22]', async () => {
  const { success, error } = await host.execute(ENDLESS, { timeout: 200 });
  expect({ success, error }).toMatchObject({ success: false, error: { code: 'EXECUTION_TIMEOUT' } });
  expect(() => attemptOf({ success, error } as never)).toThrow('a result of host.run, not of execute');
});

test('an invalid attempt or result of a run is refused with a coded error [B22]', async () => {
  const generate = async () => '';
  for (const wrong of [undefined, {}, { ok: false }, { ok: false, error: { message: 'x' } }])
    await expect(runWithSelfCorrection('x', { generate, run: async () => wrong as never })).rejects.toMatchObject({
      code: 'bad_input',
    });
  for (const wrong of [{}, { generate }, { run: generate }])
    await expect(runWithSelfCorrection('x', wrong as never)).rejects.toMatchObject({ code: 'bad_input' });
  expect(() => attemptOf({ success: true } as never)).toThrow('a result of host.run');
});
