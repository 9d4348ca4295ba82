import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { computedMs } from './computed-time.js';

const SCRIPT = 'process.stdin.once("data", () => { for (;;); }); console.log("waits")';

test('a process below it that begins to compute is seen to, and one that waits is not', async () => {
  const child = spawn('/bin/sh', ['-c', `"${process.execPath}" -e '${SCRIPT}'; true`], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const pid = child.pid as number;
  const later = () => new Promise((resolve) => setTimeout(resolve, 50));
  try {
    await once(child.stdout, 'data');
    // Starting takes time of its own, which ends at some point.
    let waits = computedMs(pid);
    for (let before = -1; before !== waits; waits = computedMs(pid)) {
      before = waits;
      await later();
    }
    child.stdin.write('go\n');
    while (computedMs(pid) < waits + 20) await later();
  } finally {
    process.kill(-pid, 'SIGKILL');
    await once(child, 'exit');
  }
});

test('of a process that is not there nothing is known', () => {
  expect(computedMs(2 ** 22 + 1)).toBeNaN();
});
