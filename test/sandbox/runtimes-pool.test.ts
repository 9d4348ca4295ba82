import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { CallReply } from '../../src/domain/run.js';
import { jailForTests } from '../support/jailed.js';
import { needs } from '../support/needs.js';
import { openRuntimes } from '../support/process-runtimes.js';
import { descendantsOf, expectGone, isAlive } from '../support/processes.js';

const own = () => descendantsOf(process.pid);

test(
  'a process is ready before its program comes, is used once, and is gone with the runtimes',
  needs('bubblewrap'),
  async () => {
    const before = own();
    const box = await openRuntimes();
    await box.runtimes.warm('node');
    const spare = own().filter((pid) => !before.includes(pid));
    expect(spare.length).toBeGreaterThan(0);
    expect(await box.value('node', 'globalThis.result = 1;')).toBe(1);
    await expectGone(spare);
    await box.runtimes.warm('node');
    const next = own().filter((pid) => !before.includes(pid));
    expect(next.length).toBeGreaterThan(0);
    await box.runtimes.close();
    await expectGone(next);
  },
);

test('a spare that died is replaced, and the program does not notice', needs('bubblewrap'), async () => {
  await using box = await openRuntimes();
  const before = own();
  await box.runtimes.warm('node');
  const spare = own().filter((pid) => !before.includes(pid));
  for (const pid of spare) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  await expectGone(spare);
  expect(await box.value('node', 'globalThis.result = 1;')).toBe(1);
});

test('closing ends the programs that run, each with its report', needs('bubblewrap', 'python3'), async () => {
  const box = await openRuntimes();
  let called!: () => void;
  const isCalled = new Promise<void>((resolve) => {
    called = resolve;
  });
  const report = box.run('python', `from client.mcp_client import call_tool\nawait call_tool('a', 'b')`, {
    handlers: {
      onCall: () => {
        called();
        return new Promise<CallReply>(() => {});
      },
    },
  });
  await isCalled;
  await box.runtimes.close();
  expect((await report).outcome).toMatchObject({ status: 'failed', failure: { kind: 'cancelled' } });
  await expect(box.run('python', 'result = 1')).rejects.toMatchObject({ code: 'shutting_down' });
});

test('the time of a program is paused while it is held', needs('bubblewrap'), async () => {
  await using box = await openRuntimes();
  const source = `import { callTool } from './client/mcp_client.js'; globalThis.result = await callTool('a', 'b');`;
  const report = await box.run('node', source, {
    limits: { timeoutMs: 400 },
    handlers: {
      onCall: async (_call, _signal, time) => {
        time.hold();
        await new Promise((resolve) => setTimeout(resolve, 600));
        time.spend();
        return { ok: true, json: '"asked"' };
      },
    },
  });
  expect(report.outcome).toEqual({ status: 'completed', resultJson: '"asked"' });
});

test(
  'one caller cannot take every place, and one program too many is refused',
  needs('bubblewrap', 'python3'),
  async () => {
    await using box = await openRuntimes({ turns: { maxRunning: 2, maxRunningPerCaller: 1, maxQueued: 1 } });
    const order: string[] = [];
    const wait = `from client.mcp_client import call_tool\nawait call_tool('a', 'b')`;
    let release!: () => void;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const hold = (caller: string) =>
      box.run('python', wait, {
        caller,
        handlers: {
          onCall: async () => {
            order.push(caller);
            if (caller === 'other') release();
            await released;
            return { ok: true, json: 'null' };
          },
        },
      });
    const first = hold('greedy');
    const second = hold('greedy');
    await expect(hold('greedy')).rejects.toMatchObject({ code: 'sandbox_busy' });
    const other = hold('other');
    const reports = await Promise.all([first, second, other]);
    expect(reports.map(({ outcome }) => outcome.status)).toEqual(['completed', 'completed', 'completed']);
    expect(order.at(-1)).toBe('greedy');
  },
);

test(
  'a source with NUL, an oversized one and an escaping path are refused before a start',
  needs('bubblewrap'),
  async () => {
    await using box = await openRuntimes();
    const bad = { code: 'bad_input' };
    await expect(box.run('node', 'a\0b')).rejects.toMatchObject(bad);
    await expect(box.run('node', ' '.repeat(256 * 1024 + 1))).rejects.toMatchObject(bad);
    for (const path of ['../x', '/etc/x', 'a/../../x', 'a//b', 'a/', '', '..'])
      await expect(box.run('node', '1;', { files: { [path]: '' } }), path).rejects.toMatchObject({ code: 'internal' });
  },
);

test('a Python that is missing, too old or no Python is named, with what to install', needs('bubblewrap'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-python-'));
  chmodSync(folder, 0o755);
  try {
    const status = async (searchPath: string) => {
      await using box = await openRuntimes({ searchPath });
      await expect(box.run('python', 'result = 1')).rejects.toMatchObject({ code: 'not_found' });
      return box.runtimes.available().find(({ language }) => language === 'python');
    };
    expect(await status(folder)).toEqual({
      language: 'python',
      isAvailable: false,
      reason: 'python3 is not on the PATH',
      fix: expect.stringContaining('apt-get install -y python3'),
    });
    const answer = JSON.stringify(['3.9.2', 'cpython', '/usr/bin/python3.9', '/usr', '/usr/lib', '/usr/lib']);
    writeFileSync(join(folder, 'python3'), `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
    expect(await status(folder)).toMatchObject({ reason: `${folder}/python3 is Python 3.9.2: too old` });
    writeFileSync(join(folder, 'python3'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect(await status(folder)).toMatchObject({ reason: `${folder}/python3 is not a working Python` });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('without a jail programs have a folder of their own, which is gone when they are', needs('python3'), async () => {
  const { jail } = await jailForTests('none').then(async (tried) =>
    tried.jail === undefined
      ? {
          jail: await (await import('../../src/sandbox/jail/probe.js')).openJail({
            isolation: 'none',
            unsafelyAllowNoJail: true,
          }),
        }
      : tried,
  );
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('codemode-workspace-'));
  const before = folders();
  const box = await openRuntimes({ spares: { perShape: 0 } }, jail);
  const where = {
    node: `import fs from 'node:fs'; fs.writeFileSync('x', ''); globalThis.result = process.cwd();`,
    python: `import os\nopen('x', 'w').close()\nresult = os.getcwd()`,
  };
  for (const language of ['node', 'python'] as const)
    expect(await box.value(language, where[language])).toContain('codemode-workspace-');
  await box.runtimes.close();
  expect(folders()).toEqual(before);
});
