import { existsSync, readFileSync } from 'node:fs';
import { openRecords } from '../../src/compose/records.js';
import type { RunResponse } from '../../src/profiles/codemode/render.js';
import { makeApproverSecret } from '../../src/store/sqlite/approver-secret.js';
import { Home } from './cli.js';
import type { Home as ServedHome } from './program.js';
import { storeIn } from './store.js';
import { fixture } from './upstreams.js';

export interface PendingApproval {
  readonly id: string;
  readonly runId: string;
  readonly serverId: string;
  readonly toolName: string;
  readonly arguments: { readonly text?: string };
  /** SHA-256 of the arguments as they are sent. */
  readonly digest: string;
  readonly hiddenParts: number;
  readonly state: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly reason: string;
}

export interface ShownRun {
  readonly runId: string;
  readonly state: string;
  readonly response: RunResponse | null;
}

/** A home with one server that writes down every call that reaches it, and a person who can decide. */
export class LedgerHome extends Home {
  readonly ledger = this.path('ledger.txt');
  readonly config: string;
  #secret: string | undefined;

  constructor({
    mcpServers = {},
    ...config
  }: Readonly<Record<string, unknown>> & { readonly mcpServers?: object } = {}) {
    super();
    this.config = this.write('codemode.config.json', {
      approvals: { grace: '50ms' },
      ...config,
      mcpServers: {
        ledger: { command: process.execPath, args: [fixture('ledger-server.mjs'), this.ledger] },
        ...mcpServers,
      },
    });
  }

  /** The same as what `codemode mcp` and `codemode serve` are started with. */
  get served(): ServedHome {
    return {
      state: this.path('state'),
      work: this.folder,
      configFile: this.config,
      environment: {
        PATH: process.env.PATH ?? '',
        CODEMODE_HOME: this.path('state'),
        CODEMODE_KEYRING: 'file',
      },
      [Symbol.dispose]: () => {},
    };
  }

  /** What reached the server, in order. */
  get lines(): string[] {
    return existsSync(this.ledger) ? readFileSync(this.ledger, 'utf8').split('\n').slice(0, -1) : [];
  }

  /** Runs a program from the command line. */
  async program(source: string): Promise<RunResponse & { readonly status: number | null }> {
    const { stdout, stderr, status } = await this.run(['--config', this.config, 'run', '-'], { input: source });
    if (stdout === '') throw new Error(stderr);
    return { ...(JSON.parse(stdout) as RunResponse), status };
  }

  /** What waits for a decision, from the store: another process for each look would be most of what these tests do. */
  async pending(): Promise<PendingApproval[]> {
    const records = this.#openRecords();
    try {
      return (await records.approvals.pending()).map(({ id, runId, tool, state, reason, ...approval }) => ({
        ...{ id, runId, state, reason, serverId: tool.serverId, toolName: tool.toolName },
        arguments: approval.arguments as PendingApproval['arguments'],
        digest: approval.argumentsDigest,
        hiddenParts: approval.hiddenParts,
        createdAt: new Date(approval.createdAtMs).toISOString(),
        expiresAt: new Date(approval.expiresAtMs).toISOString(),
      }));
    } finally {
      await records.close();
    }
  }

  /** Says yes to one call, in the store, for tests that are not about the command. */
  async approveInStore(id: string): Promise<void> {
    const records = this.#openRecords();
    try {
      await records.approvals.decide(id, 'APPROVED', { by: 'somebody', scope: 'call' });
    } finally {
      await records.close();
    }
  }

  #openRecords() {
    const stateFolder = this.path('state');
    return openRecords({
      store: storeIn(stateFolder),
      fingerprintOf: () => '',
      setting: '',
      expireAfterMs: 3_600_000,
    });
  }

  /** The same as the command line tells it. */
  listed(): Promise<PendingApproval[]> {
    return this.json(['--config', this.config, 'approvals', '--json']);
  }

  /** Decides as a person who has the secret. */
  async decide(verb: 'approve' | 'deny' | 'revoke', id: string, ...more: string[]) {
    const words = ['--config', this.config, 'approvals', verb, id, ...more];
    return this.run(words, { env: { CODEMODE_APPROVER_SECRET: await this.secret() } });
  }

  /** The same for all calls of a card, as a person who has read it: by its digest. */
  async decideCard(verb: 'approve' | 'deny', id: string) {
    const words = ['--config', this.config, 'approvals', 'show', id, '--scope', 'calls', '--json'];
    const { digest } = await this.json<{ digest: string }>(words);
    return this.decide(verb, id, '--scope', 'calls', ...(verb === 'approve' ? ['--digest', digest] : []));
  }

  /** As `codemode approvals secret` makes it on a terminal. */
  async secret(): Promise<string> {
    this.#secret ??= await makeApproverSecret(this.path('state'));
    return this.#secret;
  }

  resume(runId: string): Promise<ShownRun> {
    return this.json(['--config', this.config, 'runs', 'resume', runId]);
  }

  show(runId: string): Promise<ShownRun> {
    return this.json(['--config', this.config, 'runs', 'show', runId, '--json']);
  }
}
