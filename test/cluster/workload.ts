import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { Postgres } from '../../src/store/postgres/database/connection.js';
import { PROGRAM } from '../support/command.js';
import { AGENT, type Cluster, type ClusterHost, PERSON } from './cluster.js';
import type { Observation, Outcome } from './invariants.js';

/** How many calls of `spend` a day the configuration of the cluster pays for. */
export const BUDGET = 10;

export const POLICY = {
  policy: {
    rules: [{ tools: 'ledger/spend', decision: 'allow' }],
    prices: { 'ledger/spend': 1 },
    budget: { day: BUDGET },
  },
};

/** Reads, spends, and writes twice; each write needs a person, and between the two it is suspended. */
export function programOf(name: string, { delayMs = 0 } = {}): string {
  return `
    const outcomes = {};
    await mcp.ledger.look({ text: '${name}-0' });
    await mcp.ledger.spend({ text: '${name}-s' }).catch(() => {});
    for (const text of ['${name}-1', '${name}-2'])
      outcomes[text] = await mcp.ledger.write({ text, delayMs: ${delayMs} }).then(() => 'done', (error) => String(error.message));
    return outcomes;`;
}

export interface Question {
  readonly id: string;
  readonly runId: string;
  readonly tool: string;
  readonly arguments: { readonly text?: string };
  readonly state: string;
}

/** Agents that start runs and a person who decides about their calls, through whichever host answers. */
export class Workload {
  readonly accepted: string[] = [];
  /** Not even a result: the host may have died before it answered. */
  unanswered = 0;
  readonly #cluster: Cluster;
  readonly #deniesEvery: number;
  readonly #asked = new Map<string, Pick<Question, 'runId' | 'tool'> & { readonly text: string }>();
  #started = 0;

  constructor(cluster: Cluster, { deniesEvery = 5 } = {}) {
    this.#cluster = cluster;
    this.#deniesEvery = deniesEvery;
  }

  /** The run's id, where a host has taken it over. */
  async submit(options: { delayMs?: number } = {}): Promise<string | undefined> {
    // Under a new name at every host: a request without an answer may have started a run, and that one counts for itself.
    for (const host of this.#cluster.inAnyOrder()) {
      this.#started += 1;
      const body = { code: programOf(`r${this.#started}`, options), capabilities: ['mcp:ledger'] };
      const answer = await this.#cluster.tried(host, host.request('POST', '/api/v1/execute', AGENT, body));
      const runId = answer?.status === 202 ? answer.location.split('/').at(-1) : undefined;
      if (runId !== undefined) {
        this.accepted.push(runId);
        return runId;
      }
      this.unanswered += 1;
    }
    return undefined;
  }

  /** What waits for a decision now, as this host or any says. */
  async questions(from: Pick<ClusterHost, 'request'> | Cluster = this.#cluster): Promise<readonly Question[]> {
    const answer = await from.request('GET', '/api/v1/approvals?state=pending', PERSON);
    const questions = (answer?.body.approvals ?? []) as readonly Question[];
    for (const { id, runId, tool, arguments: shown } of questions)
      this.#asked.set(id, { runId, tool, text: shown.text ?? '' });
    return questions;
  }

  /** Decides about everything that waits now. How many decisions were accepted. */
  async decideAll(): Promise<number> {
    const pending = await this.questions();
    const answers = await Promise.all(pending.map((question) => this.decide(question)));
    return answers.filter((isTaken) => isTaken).length;
  }

  async decide(question: Question): Promise<boolean> {
    // What goes over the budget is never paid for, and of the writes some are refused: always the same ones.
    const isDenied = question.tool.endsWith('/spend') || sumOf(question.arguments.text ?? '') % this.#deniesEvery === 0;
    const path = `/api/v1/approvals/${question.id}/${isDenied ? 'deny' : 'approve'}`;
    const answer = await this.#cluster.request('POST', path, PERSON, {});
    return answer?.status === 200;
  }

  /** What each run answered that was accepted or that a person was asked about, as far as it is known. */
  async outcomes(): Promise<Map<string, Outcome>> {
    const outcomes = new Map<string, Outcome>();
    const asked = [...this.#asked.values()].map(({ runId }) => runId);
    for (const runId of new Set([...this.accepted, ...asked])) {
      const answer = await this.#cluster.request('GET', `/api/v1/runs/${runId}/result`, AGENT);
      const result = answer?.status === 200 ? answer.body.result : undefined;
      if (result === null || typeof result !== 'object') continue;
      for (const [text, outcome] of Object.entries(result)) outcomes.set(text, outcomeOf(String(outcome)));
    }
    return outcomes;
  }

  /** Until no run can continue, or the time is up. */
  async settle(timeoutMs: number): Promise<void> {
    const database = await Postgres.open({ url: this.#cluster.databaseUrl });
    try {
      for (
        const until = Date.now() + timeoutMs;
        Date.now() < until;
        await new Promise((wake) => setTimeout(wake, 100))
      ) {
        await this.decideAll();
        const [left] = await database.query<{ count: number }>(
          `SELECT (SELECT count(*) FROM codemode.runs WHERE state = 'suspended') + (SELECT count(*) FROM codemode.live_runs
            JOIN codemode.hosts ON hosts.id = live_runs.host AND hosts.expires_at > now()) AS count`,
        );
        if (left?.count === 0) return;
      }
    } finally {
      await database.close();
    }
  }

  async observe(): Promise<Observation> {
    const database = await Postgres.open({ url: this.#cluster.databaseUrl });
    try {
      // The database has the outcome of each; of the arguments it has only the sealed text.
      const questions = await database.query<{ id: string; run: string; tool: string; state: string }>(
        'SELECT id, run, tool, state FROM witness.questions',
      );
      const audit = await verifyAudit(this.#cluster);
      const rows = await database.query<{ tool: string; count: number }>(
        `SELECT tool_name AS tool, count(DISTINCT call_id) AS count FROM codemode.audit WHERE server_id = 'ledger' GROUP BY tool_name`,
      );
      return {
        ledger: this.#cluster.ledger,
        questions: questions.map(({ id, run, tool, state }) => ({
          ...{ runId: run, tool, state, text: this.#asked.get(id)?.text ?? '' },
        })),
        runs: await database.query(`SELECT id, state FROM codemode.runs`),
        ends: await database.query(`SELECT run, what FROM witness.ends`),
        accepted: this.accepted,
        outcomes: await this.outcomes(),
        budget: BUDGET,
        audited: Object.fromEntries(rows.map(({ tool, count }) => [tool, count])),
        auditStatus: audit.status,
        auditOutput: audit.output,
        deaths: this.#cluster.hosts.flatMap(({ deaths }) => deaths),
      };
    } finally {
      await database.close();
    }
  }
}

/**
 * Triggers that write down every end of a run and the outcome of every approval: hosts do not know of them, so they cannot be wrong
 * about it. The oldest runs and questions are deleted when a caller has many of them; what was written down stays.
 */
export async function installWitness(cluster: Cluster): Promise<void> {
  const database = await Postgres.open({ url: cluster.databaseUrl });
  try {
    await database.query(`
      CREATE SCHEMA witness;
      CREATE TABLE witness.ends (run text NOT NULL, what text NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
      CREATE FUNCTION witness.note() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'UPDATE' AND OLD.state <> 'suspended' THEN
            IF OLD.state <> NEW.state OR OLD.response IS DISTINCT FROM NEW.response THEN
              INSERT INTO witness.ends (run, what) VALUES (NEW.id, 'changed');
            END IF;
          ELSIF NEW.state <> 'suspended' THEN
            INSERT INTO witness.ends (run, what) VALUES (NEW.id, 'ended');
          END IF;
          RETURN NULL;
        END $$;
      CREATE TRIGGER witness AFTER INSERT OR UPDATE ON codemode.runs FOR EACH ROW EXECUTE FUNCTION witness.note();
      CREATE TABLE witness.questions (id text PRIMARY KEY, run text NOT NULL, tool text NOT NULL, state text NOT NULL);
      CREATE FUNCTION witness.note_question() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO witness.questions VALUES (NEW.id, NEW.run, NEW.tool, NEW.state)
            ON CONFLICT (id) DO UPDATE SET state = excluded.state;
          RETURN NULL;
        END $$;
      CREATE TRIGGER witness_question AFTER INSERT OR UPDATE ON codemode.approvals
        FOR EACH ROW EXECUTE FUNCTION witness.note_question();`);
  } finally {
    await database.close();
  }
}

/** As an operator checks it, on a machine that is not one of the hosts. */
async function verifyAudit(cluster: Cluster): Promise<{ status: number | null; output: string }> {
  const env = {
    ...cluster.environment,
    CODEMODE_STORE: cluster.databaseUrl,
    CODEMODE_HOME: join(cluster.folder, 'state-operator'),
  };
  return new Promise((resolve) => {
    const args = [PROGRAM, '--config', cluster.config, 'audit', 'verify'];
    const child = execFile(process.execPath, args, { env, cwd: cluster.folder }, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode, output: `${stdout}${stderr}` }),
    );
  });
}

function outcomeOf(text: string): Outcome {
  if (text === 'done') return 'done';
  if (/may have taken effect|unknown/i.test(text)) return 'unknown';
  if (/denied|refused|rejected|expired/i.test(text)) return 'refused';
  return 'failed';
}

function sumOf(text: string): number {
  return [...text].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0);
}
