import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_SOURCE_BYTES } from '../../src/domain/limits.js';
import type { VirtualModule } from '../../src/domain/run.js';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/** Too much of everything that is allowed. The flood ends, is cut, or is handled; other programs succeed in the meantime. */

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 3 });
});
afterAll(() => box[Symbol.asyncDispose]());

const MANY: VirtualModule = {
  specifier: '@codemode/servers/bomb',
  exports: Array.from({ length: 20_000 }, (_, index) => ({
    kind: 'call',
    name: `tool${index}`,
    target: `test/echo`,
  })),
};
const HUGE: VirtualModule = {
  specifier: '@codemode/servers/huge',
  exports: [{ kind: 'value', name: 'data', value: { text: 'x'.repeat(5_000_000) } }],
};
const DEEP: VirtualModule = {
  specifier: '@codemode/servers/deep',
  exports: [{ kind: 'value', name: 'data', value: JSON.parse('['.repeat(3_000) + ']'.repeat(3_000)) }],
};

const TEST: VirtualModule = {
  specifier: '@codemode/servers/test',
  exports: [
    { kind: 'call', name: 'echo', target: 'test/echo' },
    { kind: 'call', name: 'never', target: 'test/never' },
  ],
};

const FLOODS: readonly (readonly [flood: string, source: string, expected: unknown])[] = [
  [
    '2,000 calls one after the other',
    `import { echo } from '@codemode/servers/test'; let sum = 0; for (let n = 0; n < 2_000; n++) sum += await echo(1); ${result('sum')}`,
    { resultJson: '2000' },
  ],
  [
    '10,000 calls at once',
    `import { echo } from '@codemode/servers/test'; const all = await Promise.all(Array.from({ length: 10_000 }, (_, n) => echo(n))); ${result('all.every((each, n) => each === n)')}`,
    { resultJson: 'true' },
  ],
  [
    '10,000 calls that nobody waits for',
    `import { echo } from '@codemode/servers/test'; for (let n = 0; n < 10_000; n++) echo(n); ${result('1')}`,
    { resultJson: '1' },
  ],
  [
    '25,000 calls that nobody answers',
    `import { never } from '@codemode/servers/test'; for (let n = 0; n < 25_000; n++) never(n);`,
    { failure: expect.objectContaining({ kind: 'limit', limit: 'output' }) },
  ],
  [
    'log lines without end',
    `for (let n = 0; n < 20_000; n++) console.log('line', n); ${result('1')}`,
    { resultJson: '1' },
  ],
  [
    'large log lines',
    `const big = 'x'.repeat(1e6); for (let n = 0; n < 20; n++) console.log(big, [big]); ${result('1')}`,
    { resultJson: '1' },
  ],
  ['a result of ten megabytes', result(`'x'.repeat(10 * 2 ** 20)`), { resultJson: expect.stringMatching(/^"x+"$/) }],
  [
    'a module with 20,000 exports',
    `import * as bomb from '@codemode/servers/bomb'; ${result('[Object.keys(bomb).length, await bomb.tool19999(7)]')}`,
    { resultJson: '[20000,7]' },
  ],
  [
    'a misspelt export of 20,000',
    `import { tool2000O } from '@codemode/servers/bomb';`,
    { failure: expect.objectContaining({ kind: 'import' }) },
  ],
  [
    'a constant of five megabytes',
    `import { data } from '@codemode/servers/huge'; ${result('data.text.length')}`,
    { resultJson: '5000000' },
  ],
  [
    'timers by the thousand',
    `let fired = 0; for (let n = 0; n < 2_000; n++) setTimeout(() => { fired++ }, 1); await new Promise((resolve) => setTimeout(resolve, 5)); ${result('fired')}`,
    { resultJson: '2000' },
  ],
  [
    'promises by the ten thousand',
    `let sum = 0; await Promise.all(Array.from({ length: 30_000 }, async () => { await 0; sum++ })); ${result('sum')}`,
    { resultJson: '30000' },
  ],
  [
    'rejections by the ten thousand',
    `for (let n = 0; n < 30_000; n++) Promise.reject(n); await 0;`,
    { failure: expect.objectContaining({ kind: 'exception' }) },
  ],
  [
    'an error with a message of a megabyte',
    `throw new Error('x'.repeat(1e6))`,
    { failure: expect.objectContaining({ message: expect.stringMatching(/^x{7000}/) }) },
  ],
  [
    'imports of what is not there',
    `let missed = 0; for (let n = 0; n < 500; n++) await import('missing' + n).catch(() => missed++); ${result('missed')}`,
    { resultJson: '500' },
  ],
];

test.each(FLOODS)(
  '%s: it comes to a fitting end, and another caller’s programs to their right one [A35]',
  async (_, source, expected) => {
    const flood = box.run(source, {
      caller: 'mallory',
      modules: [MANY, HUGE, TEST].filter(({ specifier }) => source.includes(specifier)),
      functions: { echo: (input) => input, never: () => new Promise(() => {}) },
      limits: { timeoutMs: 60_000, maxMemoryBytes: 256 * 1024 * 1024 },
    });
    const others: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      others.push(
        await box.value(`import { twice } from '@codemode/servers/test'; ${result(`await twice(${round})`)}`, {
          caller: 'alice',
          functions: { twice: (input) => (input as number) * 2 },
        }),
      );
    }
    expect(others).toEqual([0, 2, 4]);
    const { outcome, logs } = await flood;
    expect(outcome).toMatchObject(expected as object);
    expect(logs.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0)).toBeLessThanOrEqual(256 * 1024);
  },
);

describe('floods of programs', () => {
  test('forty loops of one caller at once: another caller is served all the same [A35]', async () => {
    const hogs = Array.from({ length: 40 }, () =>
      box
        .run('for (;;);', { caller: 'mallory', limits: { timeoutMs: 50 } })
        .catch((error: { code: string }) => error.code),
    );
    expect(await box.value(result('"served"'), { caller: 'alice' })).toBe('served');
    for (const hog of await Promise.all(hogs)) {
      if (typeof hog === 'string') expect(hog).toBe('sandbox_busy');
      else expect(hog.outcome).toMatchObject({ failure: { limit: 'timeout' } });
    }
  });

  test('the longest sources, more of them than there are places: each is run, or refused by name', async () => {
    await using small = await openSandbox({ max: 1, maxRunsPerWorker: 20, maxQueued: 20 });
    const source = `// ${'x'.repeat(MAX_SOURCE_BYTES - 100)}\n${result('1')}`;
    const all = await Promise.allSettled(Array.from({ length: 80 }, () => small.run(source, { caller: 'mallory' })));
    const refused = all.filter((each) => each.status === 'rejected');
    expect(refused.length).toBeGreaterThan(5);
    for (const each of refused) expect(each.reason).toMatchObject({ code: 'sandbox_busy' });
    expect(all.length - refused.length).toBeGreaterThanOrEqual(20);
  });

  test('a constant nested too deeply fails where it is imported, and nowhere else', async () => {
    const { outcome } = await box.run(
      `import { data } from '@codemode/servers/deep'; ${result('Array.isArray(data)')}`,
      {
        modules: [DEEP],
      },
    );
    expect(outcome.status === 'completed' || ['exception', 'limit'].includes(outcome.failure.kind)).toBe(true);
    expect(await box.value(result('1'))).toBe(1);
  });
});
