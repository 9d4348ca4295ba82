import { expect, test } from 'vitest';
import { commonMessage } from './common-messages.js';
import { workerToHost } from './parse.js';

const execution = 'run-1';
const usage = { cpuMs: 0.5, memoryBytes: 1 };
const USUAL = [
  { type: 'call/request', execution, call: 1, target: 'server/tool' },
  { type: 'execution/waiting', execution, wakeAtMs: null, usage },
  { type: 'execution/waiting', execution, wakeAtMs: 1.5, usage },
  { type: 'execution/end', execution, failure: null, logsCut: false, usage },
];

/** What a field may be spoilt with, at the borders of everything that is checked. */
const VALUES: readonly unknown[] = [
  ...[undefined, null, true, false, '', 'x', 'x'.repeat(64), 'x'.repeat(65), 'x'.repeat(1_024), 'x'.repeat(1_025)],
  ...[0, -0, 1, -1, 0.5, 2 ** 31, 2 ** 31 + 1, 2 ** 53 - 1, 2 ** 53, 1e300, Infinity, NaN],
  ...[[], {}, [1], usage, { ...usage, cpuMs: -1 }, { ...usage, memoryBytes: 0.5 }, { ...usage, more: 1 }],
  ...[{ cpuMs: 1 }, { cpuMs: 1, other: 1 }, 'call/request', 'execution/waiting', 'execution/end', 'execution/log'],
];

test.each(USUAL)('$type is read as it is', (message) => {
  expect(commonMessage(message)).toEqual(message);
  expect(workerToHost.parse(message)).toEqual(message);
});

test('for any mutated field, our reader and the schemas accept the same messages', () => {
  let read = 0;
  for (const message of USUAL) {
    for (const field of [...Object.keys(message), 'more', 'constructor']) {
      for (const value of VALUES) {
        const spoilt: Record<string, unknown> = { ...message, [field]: value };
        if (value === undefined) delete spoilt[field];
        const usual = commonMessage(spoilt);
        if (usual === undefined) continue;
        read++;
        expect(workerToHost.safeParse(spoilt)).toMatchObject({ success: true, data: usual });
      }
    }
  }
  expect(read).toBeGreaterThan(50);
});

test('a message with a prototype of its own is left to the schemas', () => {
  const text = JSON.stringify(USUAL[0]);
  expect(commonMessage(JSON.parse(`{"__proto__":{"admin":true},${text.slice(1)}`))).toBeUndefined();
});

test.each([null, undefined, 1, 'text', [], [1], {}])('%j is none', (value) => {
  expect(commonMessage(value)).toBeUndefined();
});
