// @ts-check
// A PostgreSQL of its own for the bench, on loopback, with the settings that a new installation has: what is committed is on disk.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RELEASES = '/usr/lib/postgresql';

export async function startDatabase() {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-bench-postgres-'));
  const asOwner = ownerOf(folder);
  const data = join(folder, 'data');
  run([...asOwner, binary('initdb'), '-D', data, '-U', 'codemode', '-A', 'trust', '-E', 'UTF8', '--no-locale']);
  const port = await freePort();
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'max_connections=200',
  ];
  const [program = '', ...args] = [
    ...asOwner,
    binary('postgres'),
    '-D',
    data,
    ...settings.flatMap((each) => ['-c', each]),
  ];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
  const exited = once(child, 'exit');
  process.once('exit', () => child.kill('SIGQUIT'));
  await new Promise((resolve, reject) => {
    let log = '';
    child.stderr.on('data', (chunk) => {
      log += chunk;
      if (log.includes('ready to accept connections')) resolve(undefined);
    });
    child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)));
  });
  const url = `postgres://codemode@127.0.0.1:${port}/postgres?sslmode=disable`;
  return {
    url,
    pid: child.pid ?? 0,
    /** The rows of a statement, one text each. @param {string} statement */
    sql: (statement) => run([binary('psql'), '-XAtq', url, '-c', statement]).trim(),
    async close() {
      child.kill('SIGQUIT');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** It refuses to run as root. @param {string} folder */
function ownerOf(folder) {
  if (process.getuid?.() !== 0) return [];
  const [uid, gid] = ['-u', '-g'].map((which) => Number(run(['id', which, 'postgres'])));
  chownSync(folder, uid ?? 0, gid ?? 0);
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
}

/** @param {readonly string[]} words */
function run([program = '', ...args]) {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], cwd: '/', maxBuffer: 1e8 });
}

/** Debian keeps each release in a folder of its own, outside of PATH. @param {string} name */
function binary(name) {
  const [newest] = readdirSync(RELEASES).sort((a, b) => Number(b) - Number(a));
  return join(RELEASES, newest ?? '', 'bin', name);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}
