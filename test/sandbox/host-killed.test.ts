import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { commandOf, descendantsOf, expectGone } from '../support/processes.js';

const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A host as somebody else would write one: two callers, each with a program that does not end by itself. */
const HOST = `
  import { codemodePresentation, createHost, DEFAULT_LIMITS } from '${LIBRARY}';
  const { host } = await createHost({});
  const limits = { ...DEFAULT_LIMITS, timeoutMs: 600_000 };
  const run = (caller, source) =>
    new Promise((resolve) => {
      const codeMode = { enabled: true, excludedTools: [] };
      const session = host.openSession({ caller, profile: 'codemode', presentation: codemodePresentation, codeMode, reservedNames: [], maxResultBytes: 1e6 });
      const arrive = 'console.log("here"); import { listServers } from "@codemode/discovery"; await listServers();';
      void session.run({ source: arrive + source, language: 'typescript', limits, onLog: resolve });
    });
  await Promise.all([
    run('computing', 'for (;;) {}'),
    run('waiting', 'await new Promise((resolve) => setTimeout(resolve, 1e9))'),
  ]);
  await host.warm();
  process.stdout.write('up');`;

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'a host that ends by %s leaves no worker or jail behind',
  async (signal) => {
    const host = spawn(process.execPath, ['--input-type=module', '-e', HOST], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void host.kill('SIGKILL'));
    await new Promise((resolve) => host.stdout.once('data', resolve));
    const below = descendantsOf(host.pid as number);
    const commands = below.map(commandOf);
    expect(commands.filter((command) => / \/codemode\/worker\.js \S+ *$/.test(command)).length).toBeGreaterThanOrEqual(
      3,
    );
    const ended = new Promise((resolve) => host.once('exit', resolve));
    host.kill(signal);
    await ended;
    await expectGone(below);
  },
);
