import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Begun, type Races, watchRaces } from './races.js';

const { race, any } = Promise;
let begun: Begun;
let races: Races;
const NOTHING = { call: 0, timer: 0 };
const never = new Promise(() => {});

beforeEach(() => {
  begun = { call: 2, timer: 1 };
  races = watchRaces(() => begun);
});
afterEach(() => {
  Object.assign(Promise, { race, any });
});

describe('what a program left open', () => {
  test('is no race where there was none', () => {
    expect(races.areOver(NOTHING)).toBe(false);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['race', () => Promise.race([never, 'first'])],
    ['race that is lost by rejection', () => Promise.race([never, Promise.reject(new Error('no'))]).catch(() => {})],
    ['any', () => Promise.any([never, Promise.reject(new Error('no')), 'first'])],
    ['any under another name', () => Promise.any.bind(Promise)([never, 'first'])],
  ])('lost a decided %s', async (_, run) => {
    await run();
    expect(races.areOver({ call: 2, timer: 1 })).toBe(true);
  });

  test('did not lose a race that is undecided', async () => {
    void Promise.race([never]);
    await Promise.resolve();
    expect(races.areOver(NOTHING)).toBe(false);
  });

  test('did not lose a race that left nothing behind', async () => {
    await Promise.race([1]);
    await Promise.any([Promise.reject(new Error('no'))]).catch(() => {});
    expect(races.areOver(NOTHING)).toBe(false);
  });

  test.each([
    { call: 3, timer: 1 },
    { call: 2, timer: 2 },
  ])('did not lose a race that was decided before it: %j', async (newest) => {
    await Promise.race([never, 1]);
    expect(races.areOver(newest)).toBe(false);
  });

  test('is waited for while a later race is undecided', async () => {
    await Promise.race([never, 1]);
    void Promise.race([never]);
    expect(races.areOver(NOTHING)).toBe(false);
  });

  test('may hold a race of its own that is undecided', async () => {
    const work = async () => Promise.race([never]);
    await Promise.race([work(), 1]);
    expect(races.areOver(NOTHING)).toBe(true);
  });
});

describe('a race that is watched', () => {
  test('gives what the language gives', async () => {
    let asked = 0;
    const thenable = { then: (settle: (value: number) => void) => settle(++asked) };
    const outcomes = await Promise.allSettled([
      Promise.race([thenable]),
      Promise.race(new Set(['a', 'b'])),
      Promise.race(5 as never),
      Promise.any([]),
      Promise.any([Promise.reject(new Error('no')), 'yes']),
    ]);
    expect(outcomes.map((each) => (each.status === 'fulfilled' ? each.value : each.reason.name))).toEqual([
      1,
      'a',
      'TypeError',
      'AggregateError',
      'yes',
    ]);
    expect(asked).toBe(1);
  });

  test('leaves classes of promises alone', async () => {
    class Own extends Promise<unknown> {}
    const first = Own.race([never, 1]);
    expect(first).toBeInstanceOf(Own);
    await first;
    expect(races.areOver(NOTHING)).toBe(false);
  });
});
