import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallerId } from '../../src/domain/run.js';
import { findCompiler } from '../../src/sandbox/checker/compiler.js';
import { TypeCheckers } from '../../src/sandbox/checker/type-checkers.js';
import { jailForTests } from '../support/jailed.js';

/** A few callers share a few type checkers. None of them takes that of another which is in use. */
const { jail, options } = await jailForTests('strict');
const FILES = { globals: '', module: () => undefined };
const caller = (name: string) => name as CallerId;

describe('the type checkers of several callers', options, () => {
  let checkers: TypeCheckers;

  beforeAll(() => {
    const configured = join(import.meta.dirname, '../../node_modules/typescript-native');
    const compiler = findCompiler({ configured, installFolder: '/nonexistent', from: import.meta.url });
    checkers = new TypeCheckers({ jail: jail as never, compiler, limits: { checkMs: 30_000, startMs: 60_000 } });
  });
  afterAll(() => checkers.close());

  test('a caller keeps its own, however many others come', { timeout: 90_000 }, async () => {
    const check = (name: string) =>
      checkers.check(caller(name), 'const n: number = "a";', FILES).then(
        (found) => found.map(({ code }) => code),
        (error: unknown) => String(error),
      );
    expect(await check('ada')).toEqual([2322]);
    // More than there are checkers, again and again, while ada works.
    for (let round = 0; round < 4; round++) {
      const others = ['bob', 'eve', 'mallory', 'trudy'].map((name) => check(name));
      expect(await check('ada')).toEqual([2322]);
      await Promise.all(others);
    }
    const served = await Promise.all(['bob', 'eve', 'mallory', 'trudy'].map((name) => check(name)));
    expect(served.filter((each) => typeof each !== 'string')).toHaveLength(2);
    expect(served.filter((each) => typeof each === 'string')).toEqual(
      Array(2).fill('Error: other callers use all type checkers'),
    );
  });
});
