import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.js';
import { LANGUAGES, RunnerHome, type Sources } from '../support/runner.js';

/** Every limit of programs on real interpreters, through the built program; the clock is in `e2e/runner/contract`. */

let home: RunnerHome;
beforeAll(() => {
  home = new RunnerHome({ mcpServers: {}, runner: { processes: 24, disk: '8MB', cpu: '1s' } });
});
afterAll(() => home[Symbol.dispose]());

describe.each(LANGUAGES)('a %s program', needs('bubblewrap', 'python3'), (language) => {
  const run = (sources: Sources, ...words: string[]) => home.runner([language, ...words], sources[language]);
  const refused = (type: string) => ({ status: 1, error: { type, retryable: false } });

  test('that computes in many processes is stopped by the CPU time of all of them [B9]', async () => {
    const computes = {
      node: `import { spawn } from 'node:child_process';
        for (let n = 0; n < 3; n++) spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });`,
      python: `import os\nfor n in range(3): os.fork()\nwhile True: pass`,
    };
    expect(await run(computes)).toMatchObject(refused('CpuLimit'));
  });

  test('that takes all memory is stopped [B9]', async () => {
    const takes = {
      node: 'const all = []; for (;;) all.push(new Array(100_000).fill(all.length));',
      python: 'all = []\nwhile True: all.append(bytearray(1024 * 1024))',
    };
    expect(await run(takes, '--memory', '64MB')).toMatchObject(refused('MemoryLimit'));
  });

  test('that starts processes without end is refused them [B9]', async () => {
    const forks = {
      node: `import { spawn } from 'node:child_process';
        let made = 0, refused = 0;
        for (let n = 0; n < 40; n++) spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
          .on('spawn', () => made++).on('error', () => refused++);
        await new Promise((resolve) => setTimeout(resolve, 100));
        globalThis.result = [made < 40, refused > 0]; process.exit(0);`,
      python: `import os, time
made = refused = 0
for n in range(100):
    try:
        if os.fork() == 0: time.sleep(60)
        made += 1
    except OSError: refused += 1
result = [made < 24, refused > 0]`,
    };
    expect(await run(forks, '--memory', '512MB')).toMatchObject({ status: 0, data: [true, true] });
  });

  test('that fills its disk, and opens files without end, is refused more [B9]', async () => {
    const fills = {
      node: `import fs from 'node:fs'; const piece = Buffer.alloc(2 ** 20); let written = 0, open = 0;
        const until = (act) => { try { for (;;) act(); } catch (error) { return error.code; } };
        globalThis.result = [until(() => { fs.appendFileSync('a', piece); written++; }), written < 9,
          until(() => { fs.openSync('/dev/null'); open++; }), open < 256];`,
      python: `import errno, os
def until(act):
    n = 0
    try:
        while True:
            act(); n += 1
    except OSError as error: return [errno.errorcode[error.errno], n]
file = open('a', 'wb', buffering=0)
disk, files = until(lambda: file.write(bytes(2 ** 20))), until(lambda: os.open('/dev/null', os.O_RDONLY))
result = [disk[0], disk[1] < 9, files[0], files[1] < 256]`,
    };
    expect(await run(fills)).toMatchObject({ status: 0, data: ['ENOSPC', true, 'EMFILE', true] });
  });

  test('finds no network, no Docker socket, and no file or variable of the host [B9]', async () => {
    const looks = {
      node: `import fs from 'node:fs'; import net from 'node:net';
        const connect = (...to) => new Promise((resolve) => {
          try { net.connect(...to).on('error', () => resolve(false)).on('connect', () => resolve(true)); } catch { resolve(false); }
        });
        globalThis.result = [await connect(53, '192.0.2.1'), await connect('/var/run/docker.sock'), fs.existsSync('/etc/passwd'),
          fs.existsSync('/proc/self'), process.env.SECRET_OF_HOST ?? null, fs.readdirSync('/').includes('home')];`,
      python: `import os, socket
def connect(family, to):
    try:
        with socket.socket(family) as s: s.connect(to)
        return True
    except OSError: return False
result = [connect(socket.AF_INET, ('192.0.2.1', 53)), connect(socket.AF_UNIX, '/var/run/docker.sock'), os.path.exists('/etc/passwd'),
  os.path.exists('/proc/self'), os.environ.get('SECRET_OF_HOST'), 'home' in os.listdir('/')]`,
    };
    const ended = await home.runner([language], looks[language], { env: { SECRET_OF_HOST: 'x' } });
    expect(ended, ended.stderr).toMatchObject({ status: 0, data: [false, false, false, false, null, false] });
  });
});
