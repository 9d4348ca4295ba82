import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { commandOf, descendantsOf, expectGone } from '../support/processes.js';

const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A host as somebody else would write one: two callers, each with a program that does not end by itself. */
const HOST = `
  import { createHost } from '${LIBRARY}';
  const host = await createHost({ config: {} });
  const arrive = 'console.log("here"); import { listServers } from "@codemode/discovery"; await listServers();';
  const run = (caller, source) =>
    new Promise((resolve) => void host.session({ caller }).run(arrive + source, { timeoutMs: 600_000, onLog: resolve }));
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
