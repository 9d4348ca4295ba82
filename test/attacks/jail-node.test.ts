import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jailForTests, nodeProgram, openFolder, ROOMY, runJailed } from '../support/jailed.js';

/** Node code with the run of the worker: what is left of the machine for it? */
const ATTACKER = `
  const fs = require('node:fs'), net = require('node:net'), os = require('node:os'), dgram = require('node:dgram');
  const { spawnSync } = require('node:child_process');
  const { port, hostPid } = JSON.parse(process.argv[1]);
  const attempt = (act) => { try { return act() ?? 'done'; } catch (error) { return error.code; } };
  const event = (emitter, good) => new Promise((resolve) => {
    emitter.on('error', (error) => resolve(error.code)).on(good, () => resolve('done'));
  });
  const descriptors = Array.from({ length: 64 }, (_, fd) => fd).filter((fd) => attempt(() => fs.fstatSync(fd).isFile()) === false);
  (async () => {
    const seen = {
      passwd: attempt(() => fs.readFileSync('/etc/passwd', 'utf8')),
      processes: attempt(() => fs.readdirSync('/proc')),
      device: attempt(() => fs.openSync('/dev/mem')),
      temporary: attempt(() => fs.readdirSync('/tmp')),
      root: fs.readdirSync('/').sort().join(' '),
      libraries: fs.readdirSync('/lib').every((name) => /\\.so(\\.|$)/.test(name)),
      environment: { ...process.env, PWD: undefined },
      hostname: os.hostname(),
      pid: process.pid,
      user: attempt(() => os.userInfo().username),
      writes: ['/new', '/tmp/new', '/lib/new', '/bin/node', '/codemode/new'].map((path) => attempt(() => fs.writeFileSync(path, 'x'))),
      removes: attempt(() => fs.unlinkSync('/bin/node')),
      mode: attempt(() => fs.chmodSync('/bin/node', 0o777)),
      killHost: attempt(() => process.kill(hostPid, 0)),
      inherited: descriptors.filter((fd) => fd > 3 && (fs.fstatSync(fd).isDirectory() || fs.fstatSync(fd).isSocket())),
      tcp: await event(net.connect(port, '127.0.0.1'), 'connect'),
      outside: await event(net.connect(53, '192.0.2.1'), 'connect'),
      unix: await event(net.connect('/run/docker.sock'), 'connect'),
      udp: await new Promise((resolve) => {
        const socket = attempt(() => dgram.createSocket('udp4'));
        if (typeof socket === 'string') return resolve(socket);
        socket.on('error', (error) => resolve(error.code));
        socket.send('x', 53, '192.0.2.1', (error) => resolve(error?.code ?? 'done'));
      }),
      shell: spawnSync('/bin/sh', ['-c', 'id'], { stdio: 'inherit' }).error?.code ?? 'done',
      again: spawnSync('/bin/node', ['-e', '0'], { stdio: 'inherit' }).error?.code ?? 'done',
    };
    fs.writeSync(3, JSON.stringify(seen));
    process.exit(0);
  })();`;

const SEEN_IN_BOTH = {
  passwd: 'ENOENT',
  processes: 'ENOENT',
  device: 'ENOENT',
  libraries: true,
  environment: { LD_LIBRARY_PATH: '/lib', UV_USE_IO_URING: '0' },
  hostname: 'codemode',
  pid: 1,
  user: 'ERR_SYSTEM_ERROR',
  inherited: [],
};

const SEEN = {
  strict: {
    ...SEEN_IN_BOTH,
    temporary: 'ENOENT',
    root: 'bin lib lib64',
    writes: ['EROFS', 'EROFS', 'EROFS', 'EROFS', 'EROFS'],
    removes: 'ENOSYS',
    mode: 'ENOSYS',
    killHost: 'EPERM',
    tcp: 'EPERM',
    outside: 'EPERM',
    unix: 'EPERM',
    udp: 'EPERM',
    shell: 'EPERM',
    again: 'EPERM',
  },
  namespaces: {
    ...SEEN_IN_BOTH,
    temporary: 'ENOENT',
    // `old` is empty, `proc` points nowhere, `setup` holds the tool that dropped the last capability.
    root: 'bin lib lib64 old proc setup',
    writes: ['EROFS', 'ENOENT', 'EROFS', 'EROFS', 'ENOENT'],
    removes: 'EROFS',
    mode: 'EROFS',
    killHost: 'ESRCH',
    tcp: 'ENETUNREACH',
    outside: 'ENETUNREACH',
    unix: 'ENOENT',
    udp: 'ENETUNREACH',
    shell: 'ENOENT',
    // A process may be started; the next test shows how many.
    again: 'done',
  },
};

/** bwrap hands the signal on as a shell would; unshare says only that something went wrong. */
const ENDED_BY_SIGKILL = { strict: 137, namespaces: 1 };

for (const level of ['strict', 'namespaces'] as const) {
  const { jail, options } = await jailForTests(level);

  describe(`Node code in a jail of level ${level}`, options, () => {
    let connections = 0;
    const listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    beforeAll(() => new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve)));
    afterAll(() => new Promise<void>((resolve) => void listener.close(() => resolve())));

    test('finds no file, process, network, name or descriptor of the host', async () => {
      const address = listener.address();
      const about = JSON.stringify({ port: typeof address === 'object' ? address?.port : 0, hostPid: process.pid });
      const program = nodeProgram(ATTACKER, { interpreterArguments: ['-e', ATTACKER, about] });
      const { answer, stderr } = await runJailed(need(jail).spawn(program));
      expect(stderr).toBe('');
      expect(JSON.parse(answer.toString())).toEqual(SEEN[level]);
      expect(hostname()).not.toBe('codemode');
      expect(connections).toBe(0);
    });

    test('gets no more memory than RLIMIT_DATA, as buffers or as WebAssembly', async () => {
      const code = `const attempt = (act) => { try { act(); return 'done'; } catch (error) { return error.constructor.name; } };
        const pages = (bytes) => ({ initial: bytes / 65536 });
        const seen = [
          attempt(() => new WebAssembly.Memory(pages(64 * 2 ** 20))),
          attempt(() => new WebAssembly.Memory(pages(512 * 2 ** 20))),
          attempt(() => new ArrayBuffer(512 * 2 ** 20)),
        ];
        require('node:fs').writeSync(3, JSON.stringify(seen));`;
      const limits = { ...ROOMY, dataBytes: 256 * 1024 * 1024 };
      const { answer } = await runJailed(need(jail).spawn(nodeProgram(code, { limits })));
      expect(JSON.parse(answer.toString())).toEqual(['done', 'RangeError', 'RangeError']);
    });

    test('that computes past RLIMIT_CPU is killed, although it is process 1', async () => {
      const limits = { ...ROOMY, cpuSeconds: 1 };
      const { code } = await runJailed(need(jail).spawn(nodeProgram('for (;;);', { limits })));
      expect(code).toBe(ENDED_BY_SIGKILL[level]);
    });

    test('that runs out of heap ends, although process 1 ignores its own abort', async () => {
      const program = nodeProgram('', {
        interpreterArguments: [
          '--max-old-space-size=20',
          '-e',
          'const all = []; for (;;) all.push(new Array(1000).fill(all.length));',
        ],
      });
      const { code } = await runJailed(need(jail).spawn(program));
      expect(code).toBeGreaterThan(128);
    });

    test("can do a QuickJS worker's work: WebAssembly, and the channel as descriptor and as stream", async () => {
      const wasm = join(dirname(createRequire(import.meta.url).resolve('quickjs-wasi/package.json')), 'quickjs.wasm');
      const code = `const fs = require('node:fs'), net = require('node:net'), zlib = require('node:zlib');
        const bytes = fs.readFileSync('/codemode/quickjs.wasm');
        const first = Buffer.alloc(5);
        fs.readSync(3, first);
        WebAssembly.compile(bytes).then((module) => zlib.deflateRaw(bytes.subarray(0, 1e5), () => setTimeout(() => {
          const channel = new net.Socket({ fd: 3, readable: true, writable: true });
          channel.end(first + ' ' + (WebAssembly.Module.exports(module).length > 0), () => process.exit(0));
        }, 5)));`;
      const program = nodeProgram(code, { runtime: 'quickjs', files: [{ from: wasm, to: '/codemode/quickjs.wasm' }] });
      const { answer, stderr } = await runJailed(need(jail).spawn(program), 'hello');
      expect({ answer: answer.toString(), stderr }).toEqual({ answer: 'hello true', stderr: '' });
    });

    test('can strip types with the native addon', async () => {
      const scope = join(
        dirname(createRequire(import.meta.url).resolve('oxc-transform/package.json')),
        '../@oxc-transform',
      );
      const addon = readdirSync(scope)
        .flatMap((folder) => readdirSync(join(scope, folder)).map((name) => join(scope, folder, name)))
        .find((path) => path.endsWith('.node'));
      const code = `const addon = { exports: {} };
        process.dlopen(addon, '/codemode/oxc.node');
        require('node:fs').writeSync(3, addon.exports.transformSync('a.ts', 'let a: number = 1', {}).code);`;
      const program = nodeProgram(code, {
        runtime: 'quickjs',
        files: [{ from: need(addon), to: '/codemode/oxc.node' }],
      });
      const { answer, stderr } = await runJailed(need(jail).spawn(program));
      expect({ answer: answer.toString(), stderr }).toEqual({ answer: 'let a = 1;\n', stderr: '' });
    });

    test('does not start when one file of its view is missing', async () => {
      const program = nodeProgram("require('node:fs').writeSync(3, 'started')");
      let spawn = need(jail).spawn(program);
      {
        using folder = openFolder();
        const from = folder.write('soon-gone.js', '');
        spawn = need(jail).spawn({ ...program, files: [{ from, to: '/codemode/soon-gone.js' }] });
      }
      const { answer, code } = await runJailed(spawn);
      expect({ answer: answer.toString(), failed: code !== 0 }).toEqual({ answer: '', failed: true });
    });
  });
}

const strict = await jailForTests('strict');
test('a filter that did not arrive stops the worker', strict.options, async () => {
  const spawn = need(strict.jail).spawn(nodeProgram("require('node:fs').writeSync(3, 'started')"));
  for (const content of [
    new Uint8Array(0),
    new Uint8Array(4),
    spawn.descriptors[0]?.content.subarray(0, 12) ?? new Uint8Array(1),
  ]) {
    const { answer, code } = await runJailed({ ...spawn, descriptors: [{ fd: 4, content }] });
    expect({ answer: answer.toString(), failed: code !== 0 }).toEqual({ answer: '', failed: true });
  }
});

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('this test should have been skipped');
  return value;
}
