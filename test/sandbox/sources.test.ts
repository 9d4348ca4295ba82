import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GuestCall } from '../../src/domain/run.js';
import { deferred } from '../../src/lib/async/deferred.js';
import type { Jail } from '../../src/sandbox/jail/jail.js';
import { openSandbox, result, type TestSandbox, testJail } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ min: 1, max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

test('a source that is nested too deeply is a syntax error, and its worker continues [A11, A12, A35]', async () => {
  await box.value(result('"first"'));
  const [worker] = box.sandbox.pool.workers;
  expect((await box.run(`${'('.repeat(20_000)}1${')'.repeat(20_000)}`)).outcome).toEqual({
    status: 'failed',
    failure: {
      kind: 'syntax',
      name: 'SyntaxError',
      message: 'the source is nested too deeply: at most 1000 levels can be read',
      hint: 'Flatten deeply nested parentheses, brackets or expressions.',
    },
  });
  expect(await box.value(result('"next"'))).toBe('next');
  expect(worker?.isLost).toBe(false);
});

test('a source that does not parse ends before any call is made, also where calls block [A11, A12]', async () => {
  for (const isBlocking of [false, true]) {
    const report = await box.run(`import { ask } from '@codemode/servers/test'; ask(); const x = ;`, {
      isBlocking,
      functions: { ask: () => 1 },
    });
    expect(report.outcome).toMatchObject({ failure: { kind: 'syntax', position: { line: 1, column: 64 } } });
    expect(report.journal.calls).toEqual([]);
  }
});

test('a source of more than 256 KiB is refused before it is parsed, with what to do', async () => {
  await expect(box.run(`// ${'x'.repeat(256 * 1024)}`)).rejects.toMatchObject({
    code: 'bad_input',
    message: 'the program is larger than 262144 bytes; pass data through tools, not through source',
  });
  expect(await box.value(`/* ${'x'.repeat(260_000)} */ ${result('"large"')}`)).toBe('large');
});

/** As on a machine that gives its processes no larger stack: there, the parser can still be crashed. */
describe('a source that ends its worker', () => {
  const DEADLY = `type X = ${'A<'.repeat(100_000)}`;
  const UNREADABLE = {
    status: 'failed',
    failure: {
      kind: 'syntax',
      name: 'SyntaxError',
      message: 'the source could not be parsed: it is nested too deeply, or crashes the parser in another way',
      hint: 'Flatten deeply nested parentheses, brackets or expressions.',
    },
  };
  const smallStacks = async (): Promise<Jail> => {
    const jail = await testJail();
    const limited = (stackBytes: number) => (program: Parameters<Jail['spawn']>[0]) =>
      jail.spawn({ ...program, limits: { ...program.limits, stackBytes } });
    return { ...jail, spawn: limited(8 * 1024 * 1024) };
  };

  test('is told so; the others in that worker are rebuilt, and no call is made twice [A11, A12, A35]', async () => {
    await using small = await openSandbox({ min: 1, max: 1 }, undefined, await smallStacks());
    const go = deferred<void>();
    const made: string[] = [];
    const functions = {
      wait: async (_: unknown, call: GuestCall) => {
        made.push(`${call.runId} ${call.number}`);
        await go.promise;
        return 7;
      },
    };
    const source = `import { wait } from '@codemode/servers/test'; ${result('await wait()')}`;
    const waiting = [1, 2, 3].map(() => small.value(source, { functions }));
    await expect.poll(() => made.length, { timeout: 20_000 }).toBe(3);
    const [worker] = small.sandbox.pool.workers;
    expect((await small.run(DEADLY)).outcome).toEqual(UNREADABLE);
    expect(worker?.isLost).toBe(true);
    go.resolve();
    expect(await Promise.all(waiting)).toEqual([7, 7, 7]);
    expect(new Set(made).size).toBe(made.length);
    expect((await small.run(DEADLY, { isBlocking: true })).outcome).toEqual(UNREADABLE);
  });

  test('holds up neither those behind it nor another caller [A35]', async () => {
    await using small = await openSandbox({ min: 1, max: 2 }, undefined, await smallStacks());
    const sources = [result('1'), DEADLY, result('2'), DEADLY, result('3')];
    const reports = sources.map((source) => small.run(source, { caller: 'eve' }));
    expect(await small.value(result('"mine"'), { caller: 'ada' })).toBe('mine');
    const outcomes = (await Promise.all(reports)).map(({ outcome }) =>
      outcome.status === 'completed' ? outcome.resultJson : outcome,
    );
    expect(outcomes).toEqual(['1', UNREADABLE, '2', UNREADABLE, '3']);
  });
});
