import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTakenOver } from '../support/hostile-worker.js';
import { result, testJail } from '../support/sandbox.js';

/**
 * Somebody has corrupted the engine's memory and runs code of his own in a worker: here Node code with all of Node's
 * modules, started by the host in the very place, view and filter of a QuickJS worker, while programs of
 * other callers run beside it. It reports what it found as the result of the program it was given.
 */

const SECRET = `secret-${randomUUID()}`;
let connections = 0;
const listener = createServer((socket) => {
  connections++;
  socket.destroy();
});
beforeAll(async () => {
  process.env['CODEMODE_TEST_SECRET'] = SECRET;
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  delete process.env['CODEMODE_TEST_SECRET'];
  await new Promise<void>((resolve) => void listener.close(() => resolve()));
});
const port = () => {
  const address = listener.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

const LOOK_AROUND = `
  const attempt = (act) => { try { const value = act(); return value === undefined ? 'done' : value; } catch (error) { return 'refused'; } };
  const settled = (emitter, good) => new Promise((resolve) => { if (emitter === 'refused') return resolve(emitter); emitter.on('error', () => resolve('refused')).on(good, () => resolve('done')); setTimeout(() => resolve('refused'), 2_000); });
  const files = () => {
    const found = [], queue = ['/'];
    while (queue.length > 0) {
      const path = queue.pop();
      for (const entry of attempt(() => fs.readdirSync(path, { withFileTypes: true })) === 'refused' ? [] : fs.readdirSync(path, { withFileTypes: true })) {
        const inner = path === '/' ? '/' + entry.name : path + '/' + entry.name;
        if (entry.isDirectory()) queue.push(inner); else found.push(inner);
      }
    }
    return found;
  };
  const findRuntimes = async ({ port, hostPid, neighbours, secret, working }) => {
    const net = require('node:net'), child = require('node:child_process');
    const everything = files();
    return {
      unexpectedFiles: everything.filter((path) => !/^\\/(bin|lib|lib64|usr\\/lib|codemode|setup)\\//.test(path)),
      ours: everything.filter((path) => path.startsWith('/codemode/')).map((path) => path.slice(10)).sort(),
      hostFiles: [working, '/etc/passwd', '/etc/hostname', '/proc/1/environ', '/proc/self/maps', '/sys', '/dev/shm', '/tmp', '/root', '/home', '/var', '/run'].filter((path) => attempt(() => fs.statSync(path)) !== 'refused'),
      environmentHasSecret: JSON.stringify(process.env).includes(secret),
      environment: Object.keys(process.env).filter((name) => !['LD_LIBRARY_PATH', 'UV_USE_IO_URING', 'PWD'].includes(name)),
      argumentsHaveSecret: process.argv.join().includes(secret),
      writes: ['/', '/tmp', '/codemode', '/bin', '/lib', '/dev', '/dev/shm', '/proc'].filter((folder) => attempt(() => fs.writeFileSync(folder + '/x', 'x')) !== 'refused'),
      changesItself: ['/codemode/worker.js', '/codemode/hostile.cjs', '/bin/node'].filter((path) => attempt(() => fs.appendFileSync(path, 'x')) !== 'refused' || attempt(() => fs.unlinkSync(path)) !== 'refused'),
      signalsHost: attempt(() => process.kill(hostPid, 0)),
      signalsNeighbours: neighbours.map((pid) => attempt(() => process.kill(pid, 'SIGKILL'))),
      signalsGroup: attempt(() => process.kill(-hostPid, 'SIGTERM')),
      opensMemory: neighbours.map((pid) => attempt(() => fs.openSync('/proc/' + pid + '/mem', 'r+'))),
      descriptors: Array.from({ length: 256 }, (_, fd) => fd).filter((fd) => fd > 3 && attempt(() => { const stat = fs.fstatSync(fd); return stat.isFile() || stat.isDirectory() || stat.isSocket() }) === true),
      tcp: await settled(attempt(() => net.connect(port, '127.0.0.1')), 'connect'),
      tcp6: await settled(attempt(() => net.connect(port, '::1')), 'connect'),
      outside: await settled(attempt(() => net.connect(53, '192.0.2.1')), 'connect'),
      listens: await settled(attempt(() => net.createServer().listen(0)), 'listening'),
      shell: child.spawnSync('/bin/sh', ['-c', 'id'], { stdio: 'ignore' }).error === undefined ? 'done' : 'refused',
    };
  };`;

const FOUND_NOTHING = {
  unexpectedFiles: [],
  hostFiles: [],
  environmentHasSecret: false,
  environment: [],
  argumentsHaveSecret: false,
  writes: [],
  changesItself: [],
  signalsHost: 'refused',
  signalsNeighbours: ['refused', 'refused'],
  opensMemory: ['refused', 'refused'],
  signalsGroup: 'refused',
  descriptors: [],
  tcp: 'refused',
  tcp6: 'refused',
  outside: 'refused',
  shell: 'refused',
};

/** The attacker is told where to look: knowing must not help. */
const about = () => ({
  port: port(),
  hostPid: process.pid,
  neighbours: [process.pid, process.ppid],
  secret: SECRET,
  working: process.cwd(),
});
const lookingAround = (report: string) => `${LOOK_AROUND}
  findRuntimes(${JSON.stringify(about())}).then((found) => { const json = JSON.stringify(found); ${report} });`;

const { level } = await testJail();

describe('code of an attacker’s own in a worker finds nothing', () => {
  test('in place of a QuickJS worker [A13]', async () => {
    await using box = await openTakenOver(
      `hello(); const { execution } = wait('execution/start'); ${lookingAround(`end(execution, json); silence();`)}`,
    );
    const found = (await box.value(result('1'))) as { ours: string[]; listens: string };
    expect(found).toMatchObject(FOUND_NOTHING);
    expect(found.ours).toEqual([
      'hostile.cjs',
      'image.bin',
      'package.json',
      'quickjs.wasm',
      'returns.cjs',
      'transform.node',
      'worker.js',
    ]);
    if (level === 'strict') expect(found.listens).toBe('refused');
    expect(connections).toBe(0);
  });

  test('in place of a V8 process [A13]', async () => {
    await using box = await openTakenOver(
      `hello(); const { execution } = wait('execution/start'); ${lookingAround(`end(execution, json); silence();`)}`,
      { role: 'v8' },
    );
    const found = (await box.value(result('1'), { engine: 'v8' })) as { ours: string[]; listens: string };
    // The time zone is that of every program.
    expect(found).toMatchObject({ ...FOUND_NOTHING, environment: ['TZ'] });
    expect(found.ours).toEqual([
      'hostile.cjs',
      'intrinsics.json',
      'package.json',
      'returns.cjs',
      'transform.node',
      'v8-boot.js',
      'v8-main.cjs',
      'v8-worker.js',
    ]);
    if (level === 'strict') expect(found.listens).toBe('refused');
    expect(connections).toBe(0);
  });

  test('and gets no data of other callers: the host sends it its own caller’s only', async () => {
    // Every process is the attacker's. Each answers with all it has heard since it was started.
    await using box = await openTakenOver(
      `hello(); let heard = ''; for (;;) { const message = receive(); heard += JSON.stringify(message) + message.body; if (message.type === 'execution/start') end(message.execution, JSON.stringify(heard)); }`,
      { count: 1_000, pool: { max: 2 } },
    );
    const callers = ['alice', 'bob', 'carol'];
    for (let round = 0; round < 2; round++) {
      const heard = await Promise.all(
        callers.map((caller) => box.value(`const canary = 'canary-of-${caller}';`, { caller })),
      );
      heard.forEach((text, index) => {
        expect(callers.filter((caller) => String(text).includes(`canary-of-${caller}`))).toEqual([callers[index]]);
      });
    }
  });
});
