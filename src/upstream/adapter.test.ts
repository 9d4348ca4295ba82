import { expect, test } from 'vitest';
import { callTimeoutOf } from './adapter.js';

test('a call has the time of its server, and that of its run where nobody configured one', () => {
  expect(callTimeoutOf({ callTimeoutMs: 60_000 }, { defaultTimeoutMs: 600_000 })).toBe(60_000);
  expect(callTimeoutOf({ callTimeoutMs: 60_000, isCallTimeoutDefault: true }, { defaultTimeoutMs: 600_000 })).toBe(
    600_000,
  );
  expect(callTimeoutOf({ callTimeoutMs: 60_000, isCallTimeoutDefault: true }, {})).toBe(60_000);
  const both = { defaultTimeoutMs: 600_000, timeoutMs: 10_000 };
  expect(callTimeoutOf({ callTimeoutMs: 60_000, isCallTimeoutDefault: true }, both)).toBe(10_000);
});
