import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Postgres } from '../../src/store/postgres/database/connection.js';

export interface PostgresServerOptions {
  /** Where it listens besides its socket; the addresses must exist already. Loopback without it. */
  readonly addresses?: readonly string[];
  /** Lines of `postgresql.conf`, such as `max_connections = 5`. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** The folder for its data, which must be empty; a new one in the temporary folder without it. */
  readonly dataFolder?: string;
  /** Words before the command, such as `ip netns exec NAME`. It is reached by `host` then. */
  readonly through?: readonly string[];
  /** Lines for the head of `pg_hba.conf`. Without any, everybody on the machine is let in. */
  readonly access?: readonly string[];
}

/** The owner of every database of the server. */
export const OWNER = 'codemode';
/** For tests that are not about time: on a machine under load a new connection may take longer than hosts wait for one. */
export const PATIENT = { timeouts: { connectMs: 60_000 } };
const BINARIES = '/usr/lib/postgresql';
/** A page that the system loses power over is not what these tests are about; a process that dies is, and loses nothing. */
const FAST = { fsync: 'off', full_page_writes: 'off', shared_buffers: '32MB', max_connections: 60, jit: 'off' };

/**
 * A PostgreSQL of its own, with its data in a temporary folder. It refuses to run as root, so root starts it as the user that
 * its package made. It is a child of the test and dies with it.
 */
export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #data: string;
  readonly #options: PostgresServerOptions;
  #process: ChildProcess | undefined;
  #databases = 0;

  private constructor(port: number, options: PostgresServerOptions) {
    this.port = port;
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), 'codemode-postgres-'));
    this.#data = options.dataFolder ?? join(this.#folder, 'data');
    mkdirSync(this.#data, { recursive: true, mode: 0o700 });
    for (const path of [this.#folder, this.#data])
      if (UNPRIVILEGED) chownSync(path, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  }

  static async start(options: PostgresServerOptions = {}): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort(), options);
    const [initdb = '', ...args] = asOwner(binary('initdb'));
    execFileSync(
      initdb,
      [...args, '-D', server.#data, '-U', OWNER, '-A', 'trust', '--no-sync', '-E', 'UTF8', '--no-locale'],
      {
        stdio: 'pipe',
        cwd: '/',
      },
    );
    if (options.access !== undefined) server.#setAccess(options.access);
    await server.start();
    return server;
  }

  /** Starts it again after `stop`. */
  async start(): Promise<void> {
    const { addresses = ['127.0.0.1'], settings = {} } = this.#options;
    const values = {
      ...FAST,
      ...settings,
      port: this.port,
      listen_addresses: addresses.join(','),
      unix_socket_directories: this.#folder,
    };
    const [program = '', ...args] = [...(this.#options.through ?? []), ...asOwner(binary('postgres'))];
    const flags = Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(program, [...args, '-D', this.#data, ...flags], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: '/',
    });
    this.#process = child;
    let log = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        log = `${log}${chunk}`.slice(-4_000);
        if (log.includes('ready to accept connections')) resolve();
      });
      child.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${log}`)));
      child.once('error', reject);
    });
  }

  /** `fast` ends open transactions; `immediate` is a crash, from which the next start recovers. */
  async stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    const child = this.#process;
    if (child === undefined || !this.isUp) return;
    const ended = once(child, 'exit');
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  }

  get isUp(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** The processes that serve it, for tests that stop them for a while. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** The address of a database, over its socket or, with `host`, over the network. */
  url(database: string, { host, user = OWNER }: { host?: string; user?: string } = {}): string {
    return host === undefined
      ? `postgres://${user}@/${database}?host=${encodeURIComponent(this.#folder)}&port=${this.port}`
      : `postgres://${user}@${host}:${this.port}/${database}?sslmode=disable`;
  }

  /** A new, empty database. */
  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${process.pid}_${this.#databases}`;
    await this.administer(`CREATE DATABASE ${name}`);
    return name;
  }

  /** Carries out statements as the owner of the server. */
  async administer(...statements: readonly string[]): Promise<void> {
    const admin = await Postgres.open({ url: this.url('postgres'), ...PATIENT });
    try {
      for (const statement of statements) await admin.query(statement);
    } finally {
      await admin.close();
    }
  }

  async close(): Promise<void> {
    await this.stop('immediate');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #setAccess(lines: readonly string[]): void {
    const file = join(this.#data, 'pg_hba.conf');
    const [shell = '', ...args] = asOwner('/bin/sh');
    execFileSync(shell, [...args, '-c', `cat > ${file}`], { input: `${lines.join('\n')}\n`, cwd: '/' });
  }
}

/** As whom it runs, where the test is root. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined;

function idOf(which: '-u' | '-g'): number {
  try {
    return Number(execFileSync('id', [which, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }));
  } catch {
    return 65_534; // nobody: the package is missing, and the tests that need it are skipped
  }
}

/** Words that start a program as whom the server runs. SIGQUIT when the test dies: nothing stays behind. */
export function asOwner(program: string): string[] {
  if (UNPRIVILEGED === undefined) return [program];
  const { uid, gid } = UNPRIVILEGED;
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--pdeathsig', 'SIGQUIT', program];
}

/** Debian keeps each release in a folder of its own, outside of PATH. */
export function binary(name: string): string {
  const releases = existsSync(BINARIES) ? readdirSync(BINARIES).sort((a, b) => Number(b) - Number(a)) : [];
  const release = releases.find((each) => existsSync(join(BINARIES, each, 'bin', name)));
  return release === undefined ? name : join(BINARIES, release, 'bin', name);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
