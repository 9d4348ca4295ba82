import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NO_SPARES } from '../support/codemode-client.js';
import { PROGRAM } from '../support/command.js';
import { PostgresServer, type PostgresServerOptions } from '../support/postgres.js';
import { listed } from '../support/rest.js';
import { fixture } from '../support/upstreams.js';
import { type Machine, Network } from './network.js';

export const AGENT = 'agent-token';
export const PERSON = 'person-token';
const PORT = 3_000;
const REQUEST_MS = 5_000;
const POLL_MS = 50;
/** A host that neither listens nor ends by then never will: longer than it waits for a database that does not answer. */
const START_MS = 60_000;

export interface ClusterOptions {
  readonly hosts: number;
  readonly lease?: string;
  /** Over the configuration that every host has. */
  readonly config?: object;
  readonly postgres?: PostgresServerOptions;
  /** The data of the database is on a disk of its own, which a test can fill. */
  readonly hasSmallDisk?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly location: string;
}

/** One `codemode serve` on a machine of its own, with a state folder of its own. */
export class ClusterHost {
  readonly name: string;
  readonly machine: Machine;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  /** How it ended each time that nobody had asked it to, with the end of its log. */
  readonly deaths: string[] = [];
  #process: ChildProcess | undefined;
  #isEnding = false;
  #log = '';

  constructor(name: string, machine: Machine, folder: string, environment: Readonly<Record<string, string>>) {
    this.name = name;
    this.machine = machine;
    this.#folder = folder;
    this.#environment = { ...environment, CODEMODE_HOME: join(folder, `state-${name}`) };
    mkdirSync(this.#environment.CODEMODE_HOME as string, { mode: 0o700 });
  }

  get url(): string {
    return `http://${this.machine.address}:${PORT}`;
  }

  get log(): string {
    return this.#log;
  }

  get isUp(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Resolves when it listens. `through`: words before its command, such as those that give it another clock. */
  async start(through: readonly string[] = []): Promise<void> {
    const command = [...this.machine.through, ...through, process.execPath, PROGRAM];
    const config = join(this.#folder, 'codemode.config.json');
    const [program = '', ...args] = [
      ...command,
      '--config',
      config,
      'serve',
      '--host',
      this.machine.address,
      '--port',
      `${PORT}`,
    ];
    const child = spawn(program, args, {
      env: this.#environment,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#process = child;
    this.#isEnding = false;
    let isListening = false;
    child.once('close', (code, signal) => {
      if (isListening && !this.#isEnding)
        this.deaths.push(`${this.name} ended by itself (${signal ?? code}): ${this.#log.slice(-2_000)}`);
    });
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        this.#log = `${this.#log}${chunk}`.slice(-20_000);
        isListening ||= /listening on http/.test(chunk.toString());
        if (isListening) resolve();
      });
      child.once('exit', (code, signal) =>
        reject(new Error(`${this.name} ended with ${signal ?? code} before it listened: ${this.#log}`)),
      );
    }).finally(() => clearTimeout(late));
  }

  /** The signal reaches the host itself: `ip netns exec` becomes the program it starts. */
  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name);
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.isUp) return;
    const ended = once(this.#process as ChildProcess, 'exit');
    this.#isEnding = true;
    this.signal('SIGCONT');
    this.signal(signal);
    await ended;
  }

  /** Resolves when it answers from the database, and so has a connection and its lease again. */
  async isHeard(): Promise<void> {
    for (;;) {
      const answer = await this.request('GET', '/api/v1/approvals?state=pending', PERSON).catch(() => undefined);
      if (answer?.status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  async request(method: string, path: string, token: string, body?: unknown, timeoutMs = REQUEST_MS): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const location = response.headers.get('location') ?? '';
    return { status: response.status, body: text === '' ? {} : JSON.parse(text), location };
  }
}

/** Hosts, the database they share and a server that they call, each on a machine of its own. */
export class Cluster {
  readonly hosts: readonly ClusterHost[];
  readonly postgres: PostgresServer;
  readonly database: string;
  readonly ledgerFile: string;
  readonly databaseMachine: Machine;
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Where the database has its data, on a disk of its own. */
  readonly diskFolder: string | undefined;
  readonly #network: Network;
  readonly #helpers: readonly ChildProcess[];
  readonly #proxy: ChildProcess;
  readonly #silent = new Set<ClusterHost>();

  private constructor(parts: {
    network: Network;
    folder: string;
    diskFolder: string | undefined;
    postgres: PostgresServer;
    database: string;
    databaseMachine: Machine;
    environment: Readonly<Record<string, string>>;
    hosts: readonly ClusterHost[];
    helpers: readonly ChildProcess[];
    proxy: ChildProcess;
  }) {
    this.#network = parts.network;
    this.folder = parts.folder;
    this.diskFolder = parts.diskFolder;
    this.postgres = parts.postgres;
    this.database = parts.database;
    this.databaseMachine = parts.databaseMachine;
    this.environment = parts.environment;
    this.hosts = parts.hosts;
    this.#helpers = parts.helpers;
    this.#proxy = parts.proxy;
    this.ledgerFile = join(parts.folder, 'ledger.txt');
  }

  /** Everything but the hosts is started. */
  static async open({
    hosts: count,
    lease = '2s',
    config = {},
    postgres: options = {},
    hasSmallDisk = false,
  }: ClusterOptions): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'codemode-cluster-'));
    const diskFolder = hasSmallDisk ? mountDisk(folder) : undefined;
    const network = new Network();
    const databaseMachine = network.add();
    const postgres = await PostgresServer.start({
      ...options,
      addresses: [databaseMachine.address],
      access: ['local all all trust', `host all all ${databaseMachine.address}/24 trust`],
      through: databaseMachine.through,
      ...(diskFolder === undefined ? {} : { dataFolder: join(diskFolder, 'data') }),
    });
    const database = await postgres.createDatabase();
    const upstream = network.add();
    const ledger = start(upstream, fixture('ledger-http.mjs'), join(folder, 'ledger.txt'), upstream.address);
    const proxy = start(databaseMachine, fixture('database-proxy.mjs'), databaseMachine.address, `${postgres.port}`);
    const [{ port: ledgerPort }, { port: proxyPort }] = await Promise.all([announced(ledger), announced(proxy)]);
    writeFileSync(
      join(folder, 'codemode.config.json'),
      JSON.stringify({
        ...NO_SPARES,
        profile: 'unified',
        approvals: { grace: '50ms' },
        cluster: { lease },
        mcpServers: { ledger: { url: `http://${upstream.address}:${ledgerPort}/mcp` } },
        security: {
          auth: { provider: 'token', tokens: [listed(AGENT), listed(PERSON, 'approve')] },
          capabilities: { mcp: { maxCallsPerSecond: 1_000 } },
        },
        ...config,
      }),
    );
    const environment = {
      PATH: process.env.PATH ?? '',
      CODEMODE_KEYRING: 'file',
      CODEMODE_KEY: randomBytes(32).toString('base64'),
      CODEMODE_STORE: `postgres://codemode@${databaseMachine.address}:${proxyPort}/${database}?sslmode=disable`,
    };
    const hosts = Array.from(
      { length: count },
      (_, index) => new ClusterHost(`host${index + 1}`, network.add(), folder, environment),
    );
    return new Cluster({
      network,
      folder,
      diskFolder,
      postgres,
      database,
      databaseMachine,
      environment,
      hosts,
      helpers: [ledger, proxy],
      proxy,
    });
  }

  /** What reached the server, in order. */
  get ledger(): string[] {
    return existsSync(this.ledgerFile) ? readFileSync(this.ledgerFile, 'utf8').split('\n').slice(0, -1) : [];
  }

  get config(): string {
    return join(this.folder, 'codemode.config.json');
  }

  /** The database as the test reads it, past the link that hosts use. */
  get databaseUrl(): string {
    return this.postgres.url(this.database);
  }

  slowDatabase(delayMs: number): void {
    this.#proxy.stdin?.write(`${delayMs}\n`);
  }

  refuseDatabase(): void {
    this.#proxy.stdin?.write('refuse\n');
  }

  mendDatabase(): void {
    this.slowDatabase(0);
  }

  /** As a balancer would: the first host that answers, unless it says that it cannot. */
  async request(method: string, path: string, token: string, body?: unknown): Promise<Answer | undefined> {
    for (const host of this.inAnyOrder()) {
      const answer = await this.tried(host, host.request(method, path, token, body));
      if (answer !== undefined && answer.status < 500) return answer;
    }
    return undefined;
  }

  /** Those that did not answer the last time come last. */
  inAnyOrder(): ClusterHost[] {
    const hosts = shuffled(this.hosts);
    return [...hosts.filter((host) => !this.#silent.has(host)), ...hosts.filter((host) => this.#silent.has(host))];
  }

  /** Undefined where no answer came, which is remembered. */
  async tried(host: ClusterHost, answering: Promise<Answer>): Promise<Answer | undefined> {
    const answer = await answering.catch(() => undefined);
    if (answer === undefined) this.#silent.add(host);
    else this.#silent.delete(host);
    return answer;
  }

  async close(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.end()));
    for (const helper of this.#helpers) helper.kill('SIGKILL');
    await this.postgres.close();
    this.#network.close();
    if (this.diskFolder !== undefined) execFileSync('umount', [this.diskFolder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Room for a new database, its log and little more. */
function mountDisk(folder: string): string {
  chmodSync(folder, 0o755);
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=755', 'tmpfs', disk]);
  return disk;
}

function start(machine: Machine, script: string, ...args: string[]): ChildProcess {
  const [program = '', ...words] = [...machine.through, process.execPath, script, ...args];
  return spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function announced(child: ChildProcess): Promise<{ port: number }> {
  const [line] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return JSON.parse(line.toString()) as { port: number };
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}
