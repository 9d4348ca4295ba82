import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProcessLanguage } from '../../src/domain/process-program.js';
import { jailForTests } from '../support/jailed.js';
import { needs } from '../support/needs.js';
import { openRuntimes, type TestRuntimes } from '../support/process-runtimes.js';

/** Programs on real interpreters, which may do whatever their language can: what is left of the machine for them? */

const LOOK: Readonly<Record<ProcessLanguage, string>> = {
  node: `import fs from 'node:fs'; import net from 'node:net'; import os from 'node:os'; import dgram from 'node:dgram'; import dns from 'node:dns/promises';
    const { port, hostPid, secret } = JSON.parse(fs.readFileSync('about.json', 'utf8'));
    const attempt = (act: () => unknown) => { try { return act() ?? 'done'; } catch (error: any) { return error.code; } };
    const connect = (...to: any[]) => new Promise((resolve) => {
      try { (net.connect as any)(...to).on('error', (error: any) => resolve(error.code)).on('connect', () => resolve('done')); }
      catch (error: any) { resolve(error.code); }
    });
    globalThis.result = {
      reads: ['/etc/passwd', '/etc/shadow', '/root/.ssh', '/home', '/proc/1/environ', '/proc/self/status', '/sys/kernel', '/dev/mem', '/dev/shm', secret]
        .map((path) => attempt(() => fs.readdirSync(path)) === 'ENOENT' && attempt(() => fs.readFileSync(path)) === 'ENOENT'),
      writes: ['/new', '/lib/new', '/codemode/new', '/dev/new', '/bin/node', '/usr/new'].map((path) => attempt(() => fs.writeFileSync(path, 'x')) !== 'done'),
      links: attempt(() => { fs.symlinkSync('/etc/passwd', 'link'); return fs.readFileSync('link', 'utf8'); }),
      environment: Object.keys(process.env).sort().join(),
      hostname: os.hostname(),
      killHost: attempt(() => process.kill(hostPid, 'SIGKILL')),
      network: [await connect(port, '127.0.0.1'), await connect(53, '192.0.2.1'), await connect('/var/run/docker.sock')].every((code) => code !== 'done'),
      udp: await new Promise((resolve) => {
        const socket = dgram.createSocket('udp4').unref().on('error', (error: any) => resolve(error.code));
        socket.send('x', 53, '192.0.2.1', (error: any) => resolve(error?.code ?? 'sent'));
      }),
      name: await dns.lookup('example.com').catch((error) => error.code) !== 'done',
    };`,
  python: `import json, os, socket
about = json.load(open('about.json'))
def attempt(act):
    try: return act() or 'done'
    except OSError as error: return __import__('errno').errorcode[error.errno]
def connect(family, kind, to):
    def act():
        with socket.socket(family, kind) as s:
            s.settimeout(5); s.connect(to)
    return attempt(act)
def resolves(name):
    try: socket.getaddrinfo(name, 80); return True
    except OSError: return False
def link():
    os.symlink('/etc/passwd', 'link')
    return open('link').read()
result = {
  'reads': [attempt(lambda: os.listdir(path)) == 'ENOENT' and attempt(lambda: open(path).read()) == 'ENOENT' for path in
    ('/etc/passwd', '/etc/shadow', '/root/.ssh', '/home', '/proc/1/environ', '/proc/self/status', '/sys/kernel', '/dev/mem', '/dev/shm', about['secret'])],
  'writes': [attempt(lambda: open(path, 'w')) != 'done' for path in ('/new', '/lib/new', '/codemode/new', '/dev/new', '/usr/bin/python3', '/usr/new')],
  'links': attempt(link),
  'environment': ','.join(sorted(os.environ)),
  'hostname': socket.gethostname(),
  'killHost': attempt(lambda: os.kill(about['hostPid'], 9)),
  'network': all(code != 'done' for code in (connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', about['port'])),
    connect(socket.AF_INET, socket.SOCK_STREAM, ('192.0.2.1', 53)), connect(socket.AF_UNIX, socket.SOCK_STREAM, '/var/run/docker.sock'))),
  'udp': attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53)) and 'sent'),
  'name': resolves('example.com') is False,
}`,
};

const SEEN = {
  reads: Array(10).fill(true),
  writes: Array(6).fill(true),
  links: 'ENOENT',
  environment: 'HOME,LANG,LD_LIBRARY_PATH,PWD,TMPDIR,UV_USE_IO_URING',
  hostname: 'codemode',
  killHost: 'ESRCH',
  network: true,
  name: true,
};

for (const level of ['strict', 'namespaces'] as const) {
  const { jail, options } = await jailForTests(level);

  describe(`at level ${level}`, options, () => {
    let box: TestRuntimes;
    let connections = 0;
    const listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    const folder = mkdtempSync(join(tmpdir(), 'codemode-secret-'));
    beforeAll(async () => {
      box = await openRuntimes({}, jail);
      writeFileSync(join(folder, 'secret'), 'x', { mode: 0o644 });
      await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve));
    });
    afterAll(async () => {
      await box[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
      await new Promise<void>((resolve) => void listener.close(() => resolve()));
    });

    describe.each(['node', 'python'] as const)('a %s program', needs('python3'), (language) => {
      test('finds no file, process, network, name or credential of the host [B9]', async () => {
        const address = listener.address();
        const port = typeof address === 'object' ? address?.port : 0;
        const about = JSON.stringify({ port, hostPid: process.pid, secret: join(folder, 'secret') });
        const seen = (await box.value(language, LOOK[language], { files: { 'about.json': about } })) as object;
        // Without the filter a socket can be had, and leads nowhere.
        const udp = { strict: 'EPERM', namespaces: 'ENETUNREACH' }[level];
        const { udp: seenUdp, environment, ...others } = seen as { udp: string; environment: string };
        expect(others).toEqual({ ...SEEN, environment: undefined });
        // Python has the seed of its hashes, the same for everybody.
        const named = environment.replace(',PWD', '').replace(',PYTHONHASHSEED', '');
        expect(named).toBe(SEEN.environment.replace(',PWD', ''));
        expect(seenUdp).toBe(udp);
        expect(connections).toBe(0);
      });

      test('sees no file of the program before it, in the workspace or in /tmp', async () => {
        const write = {
          node: `import fs from 'node:fs'; fs.writeFileSync('left', 'x'); fs.writeFileSync('/tmp/left', 'x'); globalThis.result = fs.readdirSync('/tmp');`,
          python: `import os\nopen('left', 'w').close(); open('/tmp/left', 'w').close()\nresult = os.listdir('/tmp')`,
        }[language];
        const look = {
          node: `import fs from 'node:fs'; globalThis.result = [...fs.readdirSync('.'), ...fs.readdirSync('/tmp')].filter((name) => name === 'left');`,
          python: `import os\nresult = [name for name in [*os.listdir('.'), *os.listdir('/tmp')] if name == 'left']`,
        }[language];
        expect(await box.value(language, write)).toEqual(['left']);
        expect(await box.value(language, look)).toEqual([]);
      });

      test('that signals everything it can reach ends nobody but itself', async () => {
        const source = {
          node: `try { process.kill(1, 'SIGKILL'); } catch {} process.kill(-1, 'SIGKILL'); process.kill(process.pid, 'SIGKILL'); for (;;);`,
          python: `import os\ntry: os.kill(1, 9)\nexcept OSError: pass\ntry: os.kill(-1, 9)\nexcept OSError: pass\nos.kill(os.getpid(), 9)\nimport time; time.sleep(60)`,
        }[language];
        const [ended, other] = await Promise.all([
          box.run(language, source, { limits: { timeoutMs: 1_500 } }),
          box.value(language, { node: 'globalThis.result = 1;', python: 'result = 1' }[language]),
        ]);
        expect(ended.outcome.status).toBe('failed');
        expect(other).toBe(1);
      });
    });

    describe('native code in a python program', needs('python3'), () => {
      /** x64 and arm64 numbers differ, libc's names do not. */
      const attempt = (expression: string) => `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
result = None if (${expression}) != -1 else os.strerror(ctypes.get_errno())`;

      const ATTEMPTS = {
        ptrace: 'libc.ptrace(16, 1, 0, 0)',
        mount: `libc.mount(b'none', b'/workspace', b'tmpfs', 0, b'')`,
        unshare: 'libc.unshare(0x10000000)',
        setns: 'libc.setns(0, 0)',
        chroot: `libc.chroot(b'/workspace')`,
        process_vm_readv: 'libc.process_vm_readv(1, 0, 0, 0, 0, 1)',
        setuid: 'libc.setuid(0)',
      };

      if (level === 'namespaces') {
        test('has no right to use where there is no filter', async () => {
          for (const name of ['mount', 'setns', 'chroot'] as const)
            expect(await box.value('python', attempt(ATTEMPTS[name])), name).toMatch(/not permitted|Bad file|Invalid/);
        });
        return;
      }

      test.each(Object.entries(ATTEMPTS))('is ended at the first try of %s [B9]', async (_, expression) => {
        expect(await box.run('python', attempt(expression))).toMatchObject({
          outcome: { status: 'failed', failure: { name: 'SystemCallError' } },
          signal: 'SIGSYS',
        });
      });

      test('gets no memory that nobody counts, and no socket but a pair', async () => {
        const source = `import mmap, os, socket
def attempt(act):
    try: act(); return 'done'
    except OSError as error: return error.strerror
result = [attempt(lambda: mmap.mmap(-1, 4096)), attempt(lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)),
  attempt(lambda: os.memfd_create('x')), attempt(socket.socketpair), attempt(lambda: socket.socketpair(socket.AF_INET)),
  attempt(lambda: socket.socket(socket.AF_UNIX)), attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)), attempt(lambda: socket.socket(40))]`;
        const no = 'Operation not permitted';
        expect(await box.value('python', source)).toEqual([
          no,
          'done',
          'Function not implemented',
          'done',
          no,
          no,
          no,
          no,
        ]);
      });
    });
  });
}
