import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Hook } from '../../domain/hook.js';
import { ChildGroups } from '../../upstream/mcp/stdio/stdio-groups.js';
import type { BrokerCall, BrokerOutcome } from '../call.js';
import { Hooks } from './hooks.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-hooks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const PATH = process.env.PATH ?? '';

/** A hook that is a line of the shell. */
function hooksOf(script: string, more: Partial<Hook> = {}): Hooks {
  const target = { kind: 'command', command: '/bin/sh', args: ['-c', script], cwd: folder } as const;
  const hook: Hook = { tools: ['*'], when: 'before', target, timeoutMs: 20_000, onFailure: 'deny', ...more };
  return new Hooks({ hooks: [hook], environment: { PATH }, groups: new ChildGroups(), warn: () => {} });
}

function callOf(caller: string, signal = new AbortController().signal): BrokerCall {
  const tool = { serverId: 's', name: 't' };
  const run = { runId: 'r', caller, profile: 'codemode' };
  return { run, number: 1, tool, serverPath: 's', input: {}, signal } as unknown as BrokerCall;
}

test('hooks of one caller that take long hold up none of another', async () => {
  // Those of mallory wait for a file that bob's hook writes.
  const script = 'if grep -q mallory; then until [ -e done ]; do sleep 0.05; done; else touch done; fi';
  const hooks = hooksOf(script);
  const stop = new AbortController();
  const flood = Promise.all(Array.from({ length: 20 }, () => hooks.refusalOf(callOf('mallory', stop.signal))));
  expect(await hooks.refusalOf(callOf('bob'))).toBeUndefined();
  stop.abort();
  await flood;
});

test('a command that leaves its output to a process of its own group is late, and not waited for', async () => {
  const hooks = hooksOf('setsid sleep 30 & sleep 30', { timeoutMs: 300 });
  expect(await hooks.refusalOf(callOf('bob'))).toMatch(
    /^the hook sh failed for s\/t: it gave no answer within 300 ms$/,
  );
});

test("outcomes that wait for a slow hook are bounded, and other callers' hooks still run", async () => {
  const warnings: string[] = [];
  const target = {
    kind: 'command',
    command: '/bin/sh',
    args: ['-c', 'cat > /dev/null; sleep 1'],
    cwd: folder,
  } as const;
  const hook: Hook = { tools: ['*'], when: 'after', target, timeoutMs: 20_000, onFailure: 'allow' };
  const warn = (message: string) => void warnings.push(message);
  const hooks = new Hooks({ hooks: [hook], environment: { PATH }, groups: new ChildGroups(), warn });
  const outcome = { ok: true, reply: { content: ['x'.repeat(10_000_000)] } } as unknown as BrokerOutcome;
  for (let n = 0; n < 5; n += 1) hooks.tellOutcome(callOf('mallory'), outcome, 1);
  hooks.tellOutcome(callOf('bob'), outcome, 1);
  expect(warnings).toEqual(Array(2).fill(expect.stringContaining('too many outcomes of mallory wait')));
});
