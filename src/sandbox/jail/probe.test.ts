import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HostError } from '../../domain/errors.js';
import { inspectJail, openJail } from './probe.js';
import { testJail } from './self-test.js';

test('no jail at all needs two keys', async () => {
  await expect(openJail({ isolation: 'none' })).rejects.toMatchObject({ code: 'jail_unavailable' });
  await expect(openJail({ isolation: 'none', unsafelyAllowNoJail: true })).resolves.toMatchObject({ level: 'none' });
});

test('the second key alone opens nothing: without a level, a real jail is taken or none', async () => {
  const opened = await openJail({ unsafelyAllowNoJail: true }).catch((error: unknown) => error);
  if (opened instanceof HostError) expect(opened.code).toBe('jail_unavailable');
  else expect(opened).toMatchObject({ level: expect.stringMatching(/^(strict|namespaces)$/) as string });
});

test('a jail that starts a worker and holds nothing back is found out', async () => {
  const open = await openJail({ isolation: 'none', unsafelyAllowNoJail: true });
  const complaint = await testJail({ ...open, level: 'strict' }, process.execPath);
  expect(complaint).toContain('the jail started but does not hold (read: done instead of ENOENT');
  expect(complaint).toContain('fork: done instead of EPERM');
});

test('a jail that does not start says why in the words of the tool that failed', async () => {
  const open = await openJail({ isolation: 'none', unsafelyAllowNoJail: true });
  const spawn = () => ({
    file: '/bin/sh',
    args: ['-c', 'echo no namespaces for you >&2; exit 1'],
    env: {},
    descriptors: [],
  });
  expect(await testJail({ ...open, level: 'strict', spawn }, process.execPath)).toBe('no namespaces for you');
});

test('the jail of a later start is the one that was seen to hold', async ({ skip }) => {
  const testedFolder = mkdtempSync(join(tmpdir(), 'codemode-tested-'));
  const remembered = () => JSON.parse(readFileSync(join(testedFolder, 'jail-tested.json'), 'utf8')) as string[];
  try {
    await openJail({ testedFolder }).catch((error: Error) => skip(error.message));
    const [first] = remembered();
    await openJail({ testedFolder });
    expect(remembered()).toEqual([first]);
  } finally {
    rmSync(testedFolder, { recursive: true });
  }
});

test('doctor reports for each level whether it works, and if not, why and what to do', async () => {
  const report = await inspectJail();
  expect(report.levels.map(({ level }) => level)).toEqual(['strict', 'namespaces', 'none']);
  for (const { works, reason, fix, description } of report.levels) {
    expect(description).not.toBe('');
    expect([reason !== undefined, fix !== undefined]).toEqual([!works, !works]);
  }
});

test('each worker of a root host is another user', async ({ skip }) => {
  if (process.getuid?.() !== 0) skip('the host is not root');
  const jail = await openJail().catch((error: Error) => skip(error.message));
  const limits = { dataBytes: 1e9, cpuSeconds: undefined, processes: 32, fileBytes: 0 };
  const program = {
    runtime: 'quickjs',
    interpreterPath: process.execPath,
    interpreterArguments: [],
    files: [],
    limits,
  } as const;
  const uids = [1, 2, 3].map(() => jail.spawn(program).args[1]);
  expect(new Set(uids).size).toBe(3);
  expect(uids.every((uid) => Number(uid) >= 10_000)).toBe(true);
});
