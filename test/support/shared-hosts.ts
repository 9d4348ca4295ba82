import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NO_SPARES } from './codemode-client.js';
import { PostgresServer } from './postgres.js';
import { PROGRAM } from './program.js';
import { atDesk, listed } from './rest.js';
import { fixture } from './upstreams.js';

export const AGENT = 'agent-token';
export const PERSON = 'person-token';
/** Runs programs, and a person sits at the client. */
export const DESK = 'desk-token';

/** Runs programs until its rate is used up, so that no other test needs it. */
export const HASTY = 'hasty-token';
/** A host that neither listens nor ends by then never will. */
const START_MS = 60_000;

export interface SharedHost {
  readonly url: string;
  readonly log: () => string;
  request(method: string, path: string, token?: string, body?: unknown): Promise<HostAnswer>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface HostAnswer {
  readonly status: number;
  readonly location: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Hosts on this machine that share a database, each with a state folder of its own; or one state folder, without a database. */
export class SharedHosts {
  readonly #postgres: PostgresServer | undefined;
  readonly url: string;
  readonly folder: string;
  readonly configFile: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly #children = new Set<ChildProcess>();
  #count = 0;

  private constructor(postgres: PostgresServer | undefined, url: string, config: object) {
    this.#postgres = postgres;
    this.url = url;
    this.folder = mkdtempSync(join(tmpdir(), 'codemode-hosts-'));
    this.configFile = join(this.folder, 'codemode.config.json');
    writeFileSync(
      this.configFile,
      JSON.stringify({
        ...NO_SPARES,
        profile: 'unified',
        approvals: { grace: '50ms' },
        mcpServers: {
          ledger: {
            command: process.execPath,
            args: [fixture('ledger-server.mjs'), this.ledgerFile],
            // Longer than a host drains: a call that times out meanwhile would end its run there.
            timeout: '60s',
          },
        },
        security: { auth: { tokens: [listed(AGENT), listed(PERSON, 'approve'), listed(HASTY), atDesk(DESK)] } },
        ...config,
      }),
    );
    this.environment = {
      PATH: process.env.PATH ?? '',
      CODEMODE_KEYRING: 'file',
      CODEMODE_KEY: randomBytes(32).toString('base64'),
      ...(postgres === undefined ? {} : { CODEMODE_STORE: url }),
    };
  }

  static async open(config: object = {}): Promise<SharedHosts> {
    const postgres = await PostgresServer.start();
    return new SharedHosts(postgres, postgres.url(await postgres.createDatabase()), config);
  }

  /** Hosts that a user has started with one state folder. */
  static onOneFolder(config: object = {}): SharedHosts {
    return new SharedHosts(undefined, '', config);
  }

  get postgres(): PostgresServer {
    if (this.#postgres === undefined) throw new Error('these hosts share a state folder, not a database');
    return this.#postgres;
  }

  get ledgerFile(): string {
    return join(this.folder, 'ledger.txt');
  }

  /** What reached the server, in order. */
  get ledger(): string[] {
    return existsSync(this.ledgerFile) ? readFileSync(this.ledgerFile, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** `program`: another build than the one that is tested; `store`: another database than that of the others. */
  start({ program = PROGRAM, store = this.url }: { program?: string; store?: string } = {}): Promise<SharedHost> {
    this.#count += 1;
    const environment = store === '' ? {} : { CODEMODE_STORE: store };
    const child = this.#spawn(`host${this.#count}`, environment, ['serve', '--port', '0'], program);
    let log = '';
    const request = async (url: string, method: string, path: string, token?: string, body?: unknown) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        location: response.headers.get('location') ?? '',
        body: text.startsWith('{') ? (JSON.parse(text) as HostAnswer['body']) : { text },
      };
    };
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
    const started = new Promise<SharedHost>((resolve, reject) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        log += chunk.toString();
        const url = /listening on (http:[^\s"]+)/.exec(log)?.[1];
        if (url === undefined) return;
        resolve({
          url,
          log: () => log,
          request: (...args) => request(url, ...args),
          stop: async (signal = 'SIGTERM') => {
            child.kill(signal);
            if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
            return child.exitCode;
          },
        });
      });
      child.once('exit', (code, signal) => reject(new Error(`a host ended with ${signal ?? code}: ${log}`)));
    });
    return started.finally(() => clearTimeout(late));
  }

  /** A command of somebody else, on a machine that is none of the hosts. */
  async run(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const child = this.#spawn('operator', environment, words);
    let [stdout, stderr] = ['', ''];
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const [status] = (await once(child, 'close')) as [number];
    return { status, stdout, stderr };
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await this.#postgres?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #spawn(
    name: string,
    environment: Readonly<Record<string, string>>,
    words: readonly string[],
    program = PROGRAM,
  ): ChildProcess {
    const state = join(this.folder, this.#postgres === undefined ? 'state' : `state-${name}`);
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const child = spawn(process.execPath, [program, '--config', this.configFile, ...words], {
      env: { ...this.environment, CODEMODE_HOME: state, ...environment },
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }
}

export function idOf({ location }: HostAnswer): string {
  return location.split('/').at(-1) ?? '';
}
