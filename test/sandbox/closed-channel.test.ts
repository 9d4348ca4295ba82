import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex, Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadRuntimeFiles } from '../../src/sandbox/runtime-files.js';
import { encodeFrame } from '../../src/wire/frames.js';
import { PROTOCOL } from '../../src/wire/messages.js';
import { GO_ROOTS, goProgram } from '../support/go.js';
import { needs } from '../support/needs.js';
import { WORKER_FOLDER } from '../support/sandbox.js';

const { build, mounts } = loadRuntimeFiles(WORKER_FOLDER);
const addon = mounts.quickjs.find(({ from }) => from.endsWith('.node'))?.from as string;
const golden = (name: string) =>
  (JSON.parse(readFileSync(new URL(`../../src/wire/golden/${name}.json`, import.meta.url), 'utf8')) as { head: object })
    .head;

const program = (source: string) => Buffer.from(JSON.stringify({ source, files: [] }));
const RUNTIMES: Record<string, { command: string[]; isToldOnStdin?: true; frames: Uint8Array[] }> = {
  'QuickJS, computing': {
    command: [process.execPath, `${WORKER_FOLDER}/worker.js`, addon],
    isToldOnStdin: true,
    frames: encodeFrame({ ...golden('execution-start'), timeoutMs: 600_000 }, Buffer.from('for (;;) {}')),
  },
  'Node, blocked in a sleep, with a handler that never returns': {
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
  'Python, blocked in a sleep': {
    command: ['/usr/bin/python3', '-B', `${WORKER_FOLDER}/python/main.py`],
    frames: encodeFrame(golden('process-start'), program('import time; time.sleep(1e6)')),
  },
};

/** No jail, nobody who kills it: only the other end of the channel goes away. Gives the exit status. */
async function statusAfterClosing(
  command: string,
  words: readonly string[],
  frames: readonly Uint8Array[],
  isToldOnStdin = false,
) {
  const workspace = mkdtempSync(join(tmpdir(), 'codemode-closed-'));
  const child = spawn(command, [...words, workspace], {
    stdio: [isToldOnStdin ? 'pipe' : 'ignore', 'ignore', 'inherit', 'pipe'],
    cwd: workspace,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const channel = child.stdio[3] as Duplex;
  const told = isToldOnStdin ? (child.stdin as Writable) : channel;
  for (const stream of [channel, told]) stream.on('error', () => {});
  await new Promise((resolve) => channel.once('data', resolve));
  for (const part of encodeFrame({ type: 'host/hello', protocol: PROTOCOL, build })) told.write(part);
  for (const part of frames) told.write(part);
  // It is in its program a little later.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(child.exitCode).toBeNull();
  for (const stream of [channel, told]) stream.destroy();
  return ended;
}

test.each(Object.entries(RUNTIMES))(
  'a program ends by itself when its channel closes: %s',
  needs('python3'),
  async (_, { command: [command = '', ...words], frames, isToldOnStdin }) => {
    expect([0, 70]).toContain(await statusAfterClosing(command, words, frames, isToldOnStdin));
  },
);

/** One that makes no calls is not told: Go finds its own deadlocks, and for that nothing may read. Its jail ends with the host. */
const GO_STATES = {
  'blocked in a call': 'codemode.Raw(ctx, "ask", "test/ask", map[string]any{})',
  'between two calls': 'time.Sleep(600 * time.Millisecond)\n\tcodemode.Raw(ctx, "ask", "test/ask", map[string]any{})',
};
describe.each(GO_ROOTS.slice(-1))('under %s', needs('go'), (root) => {
  test.each(Object.entries(GO_STATES))(
    'a program ends by itself when its channel closes: Go, %s',
    { timeout: 180_000 },
    async (_, statements) => {
      const main = `package main

import (
	"context"
	"time"

	"codemode"
)

func run(ctx context.Context) error {
	${statements}
	time.Sleep(time.Hour)
	return nil
}

func main() {
	codemode.Main(run, ${JSON.stringify(build)})
}
`;
      const path = await goProgram(root, main);
      expect(await statusAfterClosing(path, [], encodeFrame(golden('process-start'), program('')))).toBe(70);
    },
  );
});
