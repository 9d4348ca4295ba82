import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { loadRuntimeFiles } from '../../src/sandbox/runtime-files.js';
import { encodeFrame } from '../../src/wire/frames.js';
import { PROTOCOL } from '../../src/wire/messages.js';
import { needs } from '../support/needs.js';
import { WORKER_FOLDER } from '../support/sandbox.js';

const { build, mounts } = loadRuntimeFiles(WORKER_FOLDER);
const addon = mounts.quickjs.find(({ from }) => from.endsWith('.node'))?.from as string;
const golden = (name: string) =>
  (JSON.parse(readFileSync(new URL(`../../src/wire/golden/${name}.json`, import.meta.url), 'utf8')) as { head: object })
    .head;

const program = (source: string) => Buffer.from(JSON.stringify({ source, files: [] }));
const RUNTIMES = {
  'QuickJS, computing': {
    command: [process.execPath, `${WORKER_FOLDER}/worker.js`, addon],
    frames: encodeFrame({ ...golden('execution-start'), timeoutMs: 600_000 }, Buffer.from('for (;;) {}')),
  },
  'Node, asleep, with a handler that never lets go': {
    command: [process.execPath, `${WORKER_FOLDER}/node-program.js`, addon],
    frames: encodeFrame(
      golden('process-start'),
      program(`process.on('exit', () => { for (;;) {} }); await new Promise((resolve) => setTimeout(resolve, 1e9));`),
    ),
  },
  'Python, computing': {
    command: ['/usr/bin/python3', '-B', `${WORKER_FOLDER}/python/main.py`],
    frames: encodeFrame(golden('process-start'), program('while True: pass')),
  },
  'Python, asleep': {
    command: ['/usr/bin/python3', '-B', `${WORKER_FOLDER}/python/main.py`],
    frames: encodeFrame(golden('process-start'), program('import time; time.sleep(1e6)')),
  },
};

/** No jail, nobody who kills it: only the other end of the channel goes away. */
test.each(Object.entries(RUNTIMES))(
  'a program ends by itself when its channel closes: %s',
  needs('python3'),
  async (_, runtime) => {
    const [command = '', ...words] = runtime.command;
    const workspace = mkdtempSync(join(tmpdir(), 'codemode-closed-'));
    const child = spawn(command, [...words, workspace], {
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
      cwd: workspace,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const channel = child.stdio[3] as Duplex;
    channel.on('error', () => {});
    await new Promise((resolve) => channel.once('data', resolve));
    for (const part of encodeFrame({ type: 'host/hello', protocol: PROTOCOL, build })) channel.write(part);
    for (const part of runtime.frames) channel.write(part);
    // It is in its program a little later.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(child.exitCode).toBeNull();
    channel.destroy();
    expect([0, 70]).toContain(await ended);
  },
);
