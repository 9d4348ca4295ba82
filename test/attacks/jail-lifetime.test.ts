import { spawn as start } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Spawn } from '../../src/sandbox/jail/jail.js';
import { launch } from '../../src/sandbox/jail/launch.js';
import { jailForTests, nodeProgram } from '../support/jailed.js';

/** A host in its own process: starts what it is told, says when the worker is up, and never ends by itself. */
const HOST = `
  const described = JSON.parse(process.argv[1]);
  const stdio = ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'];
  const child = require('node:child_process').spawn(described.file, described.args, { stdio, env: described.env, detached: true });
  child.stdio[4].on('error', () => {}).end(Buffer.from(described.filter, 'base64'));
  child.stdio[3].once('data', () => process.stdout.write('up'));`;

/** The same, for several at once, said before any of them is up. */
const MANY = `
  const all = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
  const { spawn } = require('node:child_process');
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'];
  require('node:fs').writeSync(1, 'up');
  for (const described of all) {
    const child = spawn(described.file, described.args, { stdio, env: described.env, detached: true });
    child.stdio[3].on('error', () => {}).resume();
    child.stdio[4].on('error', () => {}).end(Buffer.from(described.filter, 'base64'));
  }`;
const JAIL_MS = 60;
/** More by command: `CODEMODE_KILLS=200 npx vitest run test/attacks/jail-lifetime`. */
const STARTING_KILLS = 4 * Number(process.env.CODEMODE_KILLS ?? 1);

for (const level of ['strict', 'namespaces'] as const) {
  const { jail, options } = await jailForTests(level);
  /** A worker that stays, does not look at its channel, and can be told from all others. */
  const describeWorker = (marker: string): Spawn | undefined =>
    jail?.spawn(nodeProgram(`require('node:fs').writeSync(3, 'up'); setInterval(() => {}, 1000); '${marker}';`));

  test(`a host killed by SIGKILL leaves no process behind at level ${level}`, options, async () => {
    const marker = randomUUID();
    const described = describeWorker(marker);
    const filter = Buffer.from(described?.descriptors[0]?.content ?? []).toString('base64');
    const host = start(process.execPath, ['-e', HOST, JSON.stringify({ ...described, filter })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => host.stdout.once('data', resolve));
    expect(processesNamed(marker, host.pid)).toBeGreaterThan(0);
    const ended = new Promise((resolve) => host.once('exit', resolve));
    host.kill('SIGKILL');
    await ended;
    await gone(marker);
  });

  const patient = { ...options, timeout: 60_000 + STARTING_KILLS * 2_000 };
  test(`a host killed while its jails are made leaves none behind at level ${level}`, patient, async () => {
    // What each runtime does first: it waits for its program, and ends where nobody is left to send one.
    const reading = nodeProgram("require('node:fs').readSync(3, Buffer.alloc(1));");
    for (let kill = 0; kill < STARTING_KILLS; kill++) {
      const marker = randomUUID();
      // Each with its own uid, as always: the limit of processes is one for each uid.
      const all = Array.from({ length: 6 }, () => {
        const described = jail?.spawn({ ...reading, interpreterArguments: [...reading.interpreterArguments, marker] });
        const filter = Buffer.from(described?.descriptors[0]?.content ?? []).toString('base64');
        return { file: described?.file, args: described?.args, env: described?.env, filter };
      });
      const host = start(process.execPath, ['-e', MANY], { stdio: ['pipe', 'pipe', 'inherit'] });
      host.stdin.end(JSON.stringify(all));
      await new Promise((resolve) => host.stdout.once('data', resolve));
      const ended = new Promise((resolve) => host.once('exit', resolve));
      // Spread over the time that it takes to make a jail.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * JAIL_MS));
      host.kill('SIGKILL');
      await ended;
      await gone(marker);
    }
  });

  test(`killing the started process ends all of the jail at level ${level}`, options, async () => {
    const marker = randomUUID();
    const described = describeWorker(marker);
    if (described === undefined) return;
    const { child, channel } = launch(described, 'ignore');
    channel.on('error', () => {});
    await new Promise((resolve) => channel.once('data', resolve));
    child.kill('SIGKILL');
    await gone(marker);
  });
}

/** The marker is part of the command line of everything that the jail consists of. */
function processesNamed(marker: string, except?: number): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === except) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(marker);
    } catch {
      return false; // ended while we looked
    }
  }).length;
}

/** The kernel ends them after their parent, not with it: waits until it has, or until the test times out. */
async function gone(marker: string): Promise<void> {
  while (processesNamed(marker) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
}
