import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProcessLanguage, ProcessLimits } from '../../src/domain/process-program.js';
import { needs } from '../support/needs.js';
import { openRuntimes, type TestRuntimes } from '../support/process-runtimes.js';
import { descendantsOf, expectGone } from '../support/processes.js';

/** Programs on real interpreters that take more than they may have. Each ends with one report, and leaves nothing. */

const MEGABYTE = 1024 * 1024;
/** Those of other test files of this process, which may still be leaving. */
const elsewhere = new Set(descendantsOf(process.pid));
let box: TestRuntimes;
beforeAll(async () => {
  box = await openRuntimes({ spares: { perShape: 0 } });
});
afterAll(() => box[Symbol.asyncDispose]());

type Sources = Readonly<Record<ProcessLanguage, string>>;

describe.each(['node', 'python'] as const)('a %s program', needs('bubblewrap', 'python3'), (language) => {
  const run = (sources: Sources, limits: Partial<ProcessLimits> = {}) =>
    box.run(language, sources[language], { limits });
  const limit = (name: string) => ({ outcome: { status: 'failed', failure: { kind: 'limit', limit: name } } });

  test('that computes forever is stopped by the clock [B9]', async () => {
    expect(await run({ node: 'for (;;);', python: 'while True: pass' }, { timeoutMs: 300 })).toMatchObject({
      ...limit('timeout'),
      exitCode: undefined,
    });
  });

  test('that waits forever and ignores every signal is stopped by the timeout and keeps its output', async () => {
    const report = await run(
      {
        node: `for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {}); console.log('here'); setInterval(() => {}, 1000);`,
        python: `import signal, time
for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(each, signal.SIG_IGN)
print('here')
while True: time.sleep(1)`,
      },
      { timeoutMs: 700 },
    );
    expect(report).toMatchObject({ ...limit('timeout'), stdout: { text: 'here\n' } });
  });

  test('gets no more memory in one process than it may have [B9]', async () => {
    const report = await run(
      {
        node: `const all = []; for (;;) all.push(new Array(100_000).fill(all.length));`,
        python: `all = []\nwhile True: all.append(bytearray(1024 * 1024))`,
      },
      { maxMemoryBytes: 64 * MEGABYTE, timeoutMs: 20_000 },
    );
    expect(report).toMatchObject(limit('memory'));
  });

  test('gets no more memory by spreading it over processes [B9]', async () => {
    const hold = {
      node: `import { spawn } from 'node:child_process';
        for (let n = 0; n < 6; n++) spawn(process.execPath, ['-e', 'globalThis.b = Buffer.alloc(60 * 2 ** 20, 1); setInterval(() => {}, 1000)'], { stdio: 'ignore' });
        setInterval(() => {}, 1000);`,
      python: `import os, time
for n in range(6):
    if os.fork() == 0:
        held = bytearray(b'x') * (60 * 2 ** 20)
        time.sleep(60)
time.sleep(60)`,
    };
    expect(await run(hold, { maxMemoryBytes: 96 * MEGABYTE, timeoutMs: 20_000 })).toMatchObject(limit('memory'));
  });

  test('that allocates ten gigabytes in all the processes it may have is stopped long before [B9]', async () => {
    const grab = {
      node: `import { spawn } from 'node:child_process';
        const grab = 'const all = []; try { for (;;) all.push(Buffer.alloc(2 ** 24, 1)); } catch { setInterval(() => {}, 1000); }';
        for (let n = 0; n < 40; n++) spawn(process.execPath, ['-e', grab], { stdio: 'ignore' }).on('error', () => {});
        setInterval(() => {}, 1000);`,
      python: `import os, time
for n in range(60):
    if os.fork() == 0:
        all = []
        try:
            while True: all.append(bytearray(2 ** 24))
        except MemoryError: time.sleep(60)
time.sleep(60)`,
    };
    const report = await run(grab, { maxMemoryBytes: 256 * MEGABYTE, timeoutMs: 20_000 });
    expect(report).toMatchObject(limit('memory'));
    // Two looks are 50 ms apart. Without them, sixty processes would have their own limit each: seventeen gigabytes.
    expect(report.peakMemoryBytes).toBeLessThan(2_048 * MEGABYTE);
  });

  test('that forks without end gets as many processes as it may have, and none outlives it [B9]', async () => {
    const bomb = {
      node: `import { spawn } from 'node:child_process';
        let made = 0, refused = 0;
        for (let n = 0; n < 40; n++) spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
          .on('spawn', () => made++).on('error', () => refused++);
        await new Promise((resolve) => setTimeout(resolve, 200));
        globalThis.result = [made < 40, refused > 0]; process.exit(0);`,
      python: `import os, time
made = refused = 0
for n in range(100):
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
        made += 1
    except OSError:
        refused += 1
time.sleep(0.3)
result = [made < 40, refused > 0]`,
    };
    // Forks share nearly all they have, and are not taken for more than that.
    const maxMemoryBytes = (language === 'node' ? 512 : 96) * MEGABYTE;
    const report = await run(bomb, { maxProcesses: 24, maxMemoryBytes });
    expect(report.outcome).toEqual({ status: 'completed', resultJson: '[true,true]' });
    // Nothing of any program so far: there are no spares here.
    await expectGone(descendantsOf(process.pid).filter((pid) => !elsewhere.has(pid)));
  });

  test('that starts threads without end is refused at some point, or stopped [B9]', async () => {
    const threads = {
      node: `import { Worker } from 'node:worker_threads';
        await new Promise((resolve, reject) => { for (let n = 0; n < 60; n++) new Worker('setInterval(() => {}, 1000)', { eval: true }).on('error', reject); });`,
      python: `import threading, time
for n in range(1000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()`,
    };
    const report = await run(threads, { maxProcesses: 32, timeoutMs: 5_000 });
    expect(report.outcome.status).toBe('failed');
  });

  test('that fills its disk gets an error, and can still answer [B9]', async () => {
    const fill = {
      node: `import fs from 'node:fs'; const piece = Buffer.alloc(2 ** 20); let written = 0;
        const fill = (name: string) => { try { for (;;) { fs.appendFileSync(name, piece); written++; } } catch (error: any) { return error.code; } };
        globalThis.result = [fill('a'), fill('/tmp/b'), written < 8];`,
      python: `import errno
written = 0
def fill(name):
    global written
    try:
        with open(name, 'wb', buffering=0) as file:
            while True:
                file.write(bytes(2 ** 20)); written += 1
    except OSError as error: return errno.errorcode[error.errno]
result = [fill('a'), fill('/tmp/b'), written < 16]`,
    };
    const report = await run(fill, { maxDiskBytes: 8 * MEGABYTE });
    expect(report.outcome).toEqual({ status: 'completed', resultJson: '["ENOSPC","ENOSPC",true]' });
  });

  test('that makes empty files without end is stopped [B9]', async () => {
    const litter = {
      node: `import fs from 'node:fs'; for (let n = 0; ; n++) fs.closeSync(fs.openSync('f' + n, 'w'));`,
      python: `n = 0\nwhile True:\n    open(f'f{n}', 'w').close(); n += 1`,
    };
    const report = await run(litter, { maxDiskBytes: 4 * MEGABYTE, timeoutMs: 20_000 });
    expect(report).toMatchObject(limit('disk'));
  });

  test('that opens files without end is refused at some point [B9]', async () => {
    const open = {
      node: `import fs from 'node:fs'; let n = 0; try { for (;; n++) fs.openSync('/dev/null'); } catch (error: any) { globalThis.result = [error.code, n < 256]; }`,
      python: `import errno, os
n = 0
try:
    while True: os.open('/dev/null', os.O_RDONLY); n += 1
except OSError as error: result = [errno.errorcode[error.errno], n < 256]`,
    };
    expect((await run(open)).outcome).toEqual({ status: 'completed', resultJson: '["EMFILE",true]' });
  });

  test('that prints much is cut, and one that prints without end is stopped [B7, B9]', async () => {
    const print = (count: string) => ({
      node: `const line = 'x'.repeat(65535) + '\\n'; for (let n = 0; n < ${count}; n++) process.stdout.write(line); globalThis.result = 1;`,
      python: `line = 'x' * 65535\nfor n in range(${count}): print(line)\nresult = 1`,
    });
    const much = await run(print('20'), { maxStdoutBytes: 1_000 });
    expect(much.outcome).toEqual({ status: 'completed', resultJson: '1' });
    expect(much.stdout).toEqual({ text: 'x'.repeat(1_000), isCut: true, totalBytes: 20 * 65_536 });
    expect(await run(print('10**9'), { maxStdoutBytes: 1_000, timeoutMs: 30_000 })).toMatchObject(limit('output'));
  });

  test('that is cancelled ends at once, and its calls are told', async () => {
    const stop = new AbortController();
    let told: unknown;
    const source = {
      node: `import { callTool } from './client/mcp_client.js'; await callTool('test', 'wait');`,
      python: `from client.mcp_client import call_tool\nawait call_tool('test', 'wait')`,
    }[language];
    const report = await box.run(language, source, {
      handlers: {
        signal: stop.signal,
        onCall: (_, signal) =>
          new Promise(() => {
            signal.addEventListener('abort', () => {
              told = signal.reason;
            });
            stop.abort();
          }),
      },
    });
    expect(report.outcome).toMatchObject({ status: 'failed', failure: { kind: 'cancelled' } });
    expect(told).toBeInstanceOf(Error);
  });
});
