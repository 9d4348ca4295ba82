import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isProcessAlive, processIdentity } from './process-identity.js';

test('a process is known by its number and the moment it started', () => {
  const identity = processIdentity() ?? '';
  expect(identity).toMatch(new RegExp(`^${process.pid}:\\d+$`));
  expect(isProcessAlive(identity)).toBe(true);
  expect(isProcessAlive(`${process.pid}:1`)).toBe(false);
  expect(isProcessAlive('no number')).toBe(false);
});

test('one that was killed is gone, also while its parent has not asked for it', async () => {
  // The shell becomes a program that never waits for the child that it has inherited.
  const parent = spawn('sh', ['-c', 'sleep 100 & echo $!; exec sleep 100'], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
    const child = Number(chunk.toString());
    // Until then it is the shell, which would ask.
    while (!readFileSync(`/proc/${parent.pid}/comm`, 'utf8').startsWith('sleep'))
      await new Promise((resolve) => setTimeout(resolve, 10));
    const identity = processIdentity(child) ?? '';
    expect(isProcessAlive(identity)).toBe(true);
    process.kill(child, 'SIGKILL');
    while (!/\) Z /.test(readFileSync(`/proc/${child}/stat`, 'utf8')))
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(isProcessAlive(identity)).toBe(false);
  } finally {
    parent.kill('SIGKILL');
  }
});
