import { expect, test } from 'vitest';
import { runnableIn, runnableTasks } from './runnable-tasks.js';

test.each([
  ['0.20 0.18 0.12 1/80 11206\n', 1],
  ['13.70 12.36 11.04 17/803 40112\n', 17],
  ['', 1],
  ['something else', 1],
])('the kernel says %j', (loadavg, runnable) => {
  expect(runnableIn(loadavg)).toBe(runnable);
});

test('this process is runnable while it asks', () => {
  expect(runnableTasks()).toBeGreaterThanOrEqual(1);
});
