import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { commandOf, descendantsOf, expectGone } from '../support/processes.js';
import { everyday, type Home, nodeServer, openHome, startProgram, until } from '../support/program.js';
import { fixture } from '../support/upstreams.js';

/*
 * Servers that heed neither the end of their input nor SIGTERM, one of them behind a shell as `npx` puts it, each with a process of
 * its own. A host that is killed has no chance to end them.
 */
const SCRIPT = fixture('awkward-server.mjs');
const SERVERS = {
  stubborn: nodeServer(SCRIPT, 'stubborn'),
  behindShell: { command: '/bin/sh', args: ['-c', `"${process.execPath}" "${SCRIPT}" stubborn; true`] },
};
/** Each has the server and what that started; the second a shell before them. */
const PROCESSES = 5;

const PROGRAM = `import * as one from '@codemode/servers/stubborn'; import * as two from '@codemode/servers/behindShell'; for (;;) {}`;

let home: Home;
beforeAll(() => {
  home = openHome({ mcpServers: SERVERS });
});
afterAll(() => home?.[Symbol.dispose]());

const ofServers = (pid: number) =>
  descendantsOf(pid).filter((each) => /awkward-server|setInterval/.test(commandOf(each)));

describe.each(['SIGKILL', 'SIGABRT'] as const)('a host that ends by %s', (signal) => {
  test.each([
    ['serve', ['serve', '--port', '0']],
    ['run', ['run', '-']],
  ])('as codemode %s leaves no server behind', async (_, words) => {
    const host = startProgram(home, ...words);
    onTestFinished(() => void host.kill('SIGKILL'));
    host.stderr?.resume();
    host.stdin?.end(PROGRAM);
    const ended = once(host, 'exit');
    const pid = host.pid as number;
    await until(() => ofServers(pid).length >= PROCESSES);
    const below = descendantsOf(pid);
    host.kill(signal);
    await ended;
    await expectGone(below);
  });
});

test('a host that is killed leaves no command of a hook behind', async () => {
  const script = `trap '' HUP INT TERM PIPE; while :; do sleep 4711; done`;
  const hooks = [{ command: '/bin/sh', args: ['-c', script], timeout: '60s' }];
  using hooked = openHome({ mcpServers: { everyday: everyday() }, hooks });
  const host = startProgram(hooked, 'run', '-');
  onTestFinished(() => void host.kill('SIGKILL'));
  host.stdin?.end(`import { add } from '@codemode/servers/everyday'; await add({ a: 1, b: 2 });`);
  const ended = once(host, 'exit');
  const pid = host.pid as number;
  await until(() => descendantsOf(pid).some((each) => commandOf(each).startsWith('sleep')));
  const below = descendantsOf(pid);
  host.kill('SIGKILL');
  await ended;
  await expectGone(below);
});

test('a process that it was told to forget is left alone', async () => {
  const { StdioGuard } = await import('../../src/upstream/mcp/stdio/stdio-guard.js');
  const { spawn } = await import('node:child_process');
  const bystander = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  const server = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  onTestFinished(() => [bystander, server].forEach((each) => void each.kill('SIGKILL')));
  const guard = new StdioGuard();
  const [pid, other] = [server.pid as number, bystander.pid as number];
  guard.add(pid, [pid, other]);
  guard.remove(other);
  const killed = once(server, 'exit');
  guard.close();
  expect(await killed).toEqual([null, 'SIGKILL']);
  expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
});

test('nothing is searched for a server whose command could not be started', async () => {
  const { ChildGroups } = await import('../../src/upstream/mcp/stdio/stdio-groups.js');
  const guards = () => descendantsOf(process.pid).filter((each) => commandOf(each).includes('CODEMODE_STARTED'));
  const others = guards();
  new ChildGroups().start(() => ({}));
  // A search takes five seconds, and much of a core.
  await expect.poll(() => guards().filter((each) => !others.includes(each)), { timeout: 3_000 }).toEqual([]);
});

test('an announced process whose pid its host never reported is found by its mark', async () => {
  const { MARK_VARIABLE, StdioGuard } = await import('../../src/upstream/mcp/stdio/stdio-guard.js');
  const { spawn } = await import('node:child_process');
  const guard = new StdioGuard();
  guard.expect('0123456789abcdef', []);
  const start = (mark: string) =>
    spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env: { ...process.env, [MARK_VARIABLE]: mark } });
  const [announced, other] = [start('0123456789abcdef'), start('0123456789abcdeF')];
  onTestFinished(() => [announced, other].forEach((each) => void each.kill('SIGKILL')));
  const killed = once(announced, 'exit');
  guard.close();
  expect(await killed).toEqual([null, 'SIGKILL']);
  expect([other.exitCode, other.signalCode]).toEqual([null, null]);
});
