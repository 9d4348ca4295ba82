import { describe, expect, test } from 'vitest';
import type { LimitSetting } from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import { CallLimits } from './call-limits.js';

const NEVER = new AbortController().signal;
const limitOf = (setting: Partial<LimitSetting>): LimitSetting => ({ tools: ['*'], each: [], ...setting });
const callOf = (name: string, caller = 'me') => {
  const [serverId = '', tool = ''] = name.split('/');
  return { tool: { serverId, name: tool } satisfies Tool, serverPath: serverId, caller };
};

describe('a rate', () => {
  test('lets so many through at once, then says how long to wait, and is right about it [B19]', () => {
    let nowMs = 0;
    const limits = new CallLimits([limitOf({ rate: { calls: 4, perMs: 1_000 } })], { nowMs: () => nowMs });
    const call = callOf('a/b');
    for (let count = 0; count < 4; count++) expect(limits.takeRate(call)).toBeUndefined();
    expect(limits.takeRate(call)).toEqual({ limit: 'rate', retryAfterMs: 250 });
    nowMs += 249;
    expect(limits.takeRate(call)).toEqual({ limit: 'rate', retryAfterMs: 1 });
    nowMs += 1;
    expect(limits.takeRate(call)).toBeUndefined();
    expect(limits.takeRate(call)).toEqual({ limit: 'rate', retryAfterMs: 250 });
  });

  test('never lets more through in any span of time than it says, whenever the calls come [B19]', () => {
    let nowMs = 0;
    let seed = 7;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed / 2_147_483_648;
    };
    const limits = new CallLimits([limitOf({ rate: { calls: 10, perMs: 1_000 } })], { nowMs: () => nowMs });
    const taken: number[] = [];
    for (let count = 0; count < 5_000; count++) {
      nowMs += random() < 0.1 ? random() * 900 : random() * 20;
      if (limits.takeRate(callOf('a/b')) === undefined) taken.push(nowMs);
    }
    expect(taken.length).toBeGreaterThan(100);
    for (const [index, at] of taken.entries()) {
      const within = taken.slice(index).filter((each) => each - at < 1_000).length;
      expect(within).toBeLessThanOrEqual(20); // a full bucket, and what flows in meanwhile
    }
  });

  test.each<[LimitSetting['each'], string[][]]>([
    [[], [['a/x', 'b/y']]],
    [['server'], [['a/x', 'a/y'], ['b/x']]],
    [['tool'], [['a/x'], ['a/y'], ['b/x']]],
  ])('counts separately by each: %j [B19]', (each, groups) => {
    const limits = new CallLimits([limitOf({ each, rate: { calls: 1, perMs: 1_000 } })], { nowMs: () => 0 });
    for (const [first = '', ...others] of groups) {
      expect(limits.takeRate(callOf(first))).toBeUndefined();
      for (const other of [first, ...others]) expect(limits.takeRate(callOf(other, 'you'))).toBeDefined();
    }
  });

  test('can be of each caller, or of one [B19]', () => {
    const rate = { calls: 1, perMs: 1_000 };
    const each = new CallLimits([limitOf({ each: ['caller'], rate })], { nowMs: () => 0 });
    expect(each.takeRate(callOf('a/x', 'me'))).toBeUndefined();
    expect(each.takeRate(callOf('a/x', 'you'))).toBeUndefined();
    expect(each.takeRate(callOf('b/x', 'me'))).toBeDefined();
    const one = new CallLimits([limitOf({ caller: ['me'], rate })], { nowMs: () => 0 });
    for (const caller of ['me', 'you', 'you']) expect(one.takeRate(callOf('a/x', caller))).toBeUndefined();
    expect(one.takeRate(callOf('a/x', 'me'))).toBeDefined();
  });

  test('that refuses a call takes nothing from the others', () => {
    const tight = limitOf({ tools: ['a/x'], rate: { calls: 1, perMs: 1_000 } });
    const wide = limitOf({ tools: ['a/*'], rate: { calls: 3, perMs: 1_000 } });
    const limits = new CallLimits([wide, tight], { nowMs: () => 0 });
    for (let count = 0; count < 10; count++) void limits.takeRate(callOf('a/x'));
    expect([1, 2, 3].map(() => limits.takeRate(callOf('a/y')) === undefined)).toEqual([true, true, false]);
  });

  test('of each of very many callers is kept in bounded room', () => {
    const rate = { calls: 1, perMs: 1_000 };
    const limits = new CallLimits([limitOf({ each: ['caller'], rate })], { nowMs: () => 0 });
    for (let count = 0; count < 10_050; count++) void limits.takeRate(callOf('a/x', `caller ${count}`));
    expect(limits.takeRate(callOf('a/x', 'caller 10049'))).toBeDefined();
    expect(limits.takeRate(callOf('a/x', 'caller 0'))).toBeUndefined();
  });
});

describe('concurrency', () => {
  test('is never exceeded, and calls come in their order [B19]', async () => {
    const limits = new CallLimits([limitOf({ concurrency: 3 }), limitOf({ tools: ['a/*'], concurrency: 2 })]);
    let inside = 0;
    let most = 0;
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const place = await limits.enter(callOf('a/b'), NEVER);
        if (place.kind !== 'entered') throw new Error(place.kind);
        order.push(index);
        most = Math.max(most, ++inside);
        await new Promise(setImmediate);
        inside--;
        place.leave();
        place.leave();
      }),
    );
    expect({ most, inside }).toEqual({ most: 2, inside: 0 });
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  test('10,000 waiting calls of one program cost one timer and one listener, and can be cancelled', async () => {
    const limits = new CallLimits([limitOf({ concurrency: 1 })]);
    const program = new AbortController();
    const holder = await limits.enter(callOf('a/b'), NEVER);
    const waiting = Array.from({ length: 10_000 }, () => limits.enter(callOf('a/b'), program.signal));
    const one = await limits.enter(callOf('a/b'), NEVER);
    expect(one).toMatchObject({ kind: 'busy', busy: { limit: 'concurrency' } });
    program.abort();
    const kinds = new Set((await Promise.all(waiting)).map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['cancelled']));
    if (holder.kind === 'entered') holder.leave();
    expect(await limits.enter(callOf('a/b'), NEVER)).toMatchObject({ kind: 'entered' });
    expect(await limits.enter(callOf('a/b'), program.signal)).toEqual({ kind: 'cancelled' });
  });

  test('refuses a call that has waited too long, with the time to wait [B19]', async () => {
    const limits = new CallLimits([limitOf({ concurrency: 1 })], { maxWaitMs: 20 });
    await limits.enter(callOf('a/b'), NEVER);
    const [first, second] = await Promise.all([1, 2].map(() => limits.enter(callOf('a/b'), NEVER)));
    expect([first, second]).toEqual([
      { kind: 'busy', busy: { limit: 'concurrency', retryAfterMs: expect.any(Number) } },
      { kind: 'busy', busy: { limit: 'concurrency', retryAfterMs: expect.any(Number) } },
    ]);
  });

  test('of one limit is given back when another one refuses', async () => {
    const limits = new CallLimits([limitOf({ concurrency: 1 }), limitOf({ tools: ['a/x'], concurrency: 1 })], {
      maxWaitMs: 20,
    });
    const rooms = new CallLimits([limitOf({ tools: ['a/x'], concurrency: 1 }), limitOf({ concurrency: 2 })], {
      maxWaitMs: 20,
    });
    const held = await rooms.enter(callOf('a/x'), NEVER);
    expect((await rooms.enter(callOf('a/x'), NEVER)).kind).toBe('busy');
    expect((await rooms.enter(callOf('a/y'), NEVER)).kind).toBe('entered');
    expect((await rooms.enter(callOf('a/z'), NEVER)).kind).toBe('busy');
    if (held.kind === 'entered') held.leave();
    expect((await rooms.enter(callOf('a/x'), NEVER)).kind).toBe('entered');
    expect((await limits.enter(callOf('a/y'), NEVER)).kind).toBe('entered');
  });
});

test('of several timeouts the shortest counts', () => {
  const limits = new CallLimits([limitOf({ timeoutMs: 500 }), limitOf({ tools: ['a/*'], timeoutMs: 200 })]);
  expect(limits.timeoutMs(callOf('a/x'))).toBe(200);
  expect(limits.timeoutMs(callOf('b/x'))).toBe(500);
  expect(new CallLimits([]).timeoutMs(callOf('a/x'))).toBeUndefined();
});
