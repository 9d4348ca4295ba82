import {
  type Approval,
  type ApprovalDecision,
  coversReasons,
  type Grant,
  type ToolIdentity,
} from '../../domain/approval.js';
import { tooManyApprovals } from '../../domain/quotas.js';
import type { Stop } from '../../lib/async/awaitable.js';
import { type ApprovalRow, ApprovalSeals, type GrantRow, isCoveredBy, type ListedGrantRow } from '../approval-seals.js';
import type { ApprovalStore, Decided, DecideOptions, GrantOptions, GrantQuery, SameCall } from '../approvals.js';
import type { Postgres, Sql, SqlValue } from './database/connection.js';
import { closeApprovals, expireApprovals, NOW_MS } from './queue/close-approvals.js';
import { addJobs, expireJob } from './queue/jobs.js';
import { announce, type Wakes } from './queue/wakes.js';
import { lockRuns, markReady } from './runs/run-lock.js';

const COLUMNS = `id, run, call, caller, server, server_fingerprint, tool, tool_digest, arguments, arguments_digest, reason,
  state, created_at, expires_at, decided_by, decided_at, decision_reason, scope, used_at, mark`;
const SAME_TOOL = 'server = $1 AND server_fingerprint = $2 AND tool = $3 AND tool_digest = $4';
/** How many decisions of one caller are searched for those of a program. */
const MAX_DECIDED_LATE = 100;
/** The most bytes a list of the latest approvals reads: each is unsealed. */
const MAX_LISTED_BYTES = 64 * 1024 * 1024;
/** Each was given by a person within the last 30 days. */
const MAX_LISTED_GRANTS = 1_000;
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;
/** Every read of approvals closes the expired ones, but sends that statement at most this often. */
const EXPIRE_EVERY_MS = 1_000;

/** Approvals in the database that hosts share. */
export class PostgresApprovalStore implements ApprovalStore {
  readonly #postgres: Postgres;
  readonly #seals: ApprovalSeals;
  readonly #wakes: Wakes;
  #expiredAt = Number.NEGATIVE_INFINITY;

  constructor(postgres: Postgres, key: Uint8Array, wakes: Wakes) {
    this.#postgres = postgres;
    this.#seals = new ApprovalSeals(key);
    this.#wakes = wakes;
  }

  async add(approval: Approval, most?: number): Promise<Approval> {
    const { id, runId, call, caller, tool, argumentsDigest, reason, createdAtMs, expiresAtMs } = approval;
    const isNew = await this.#postgres.transaction(async (sql) => {
      if (most !== undefined) await mustHaveRoom(sql, caller, most);
      const changes = await sql.change(
        `INSERT INTO codemode.approvals (server, server_fingerprint, tool, tool_digest, id, run, call, caller, arguments,
            arguments_digest, reason, state, created_at, expires_at)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'PENDING', $12, $13) ON CONFLICT DO NOTHING`,
        [
          ...identityOf(tool),
          ...[id, runId, call, caller, this.#seals.sealShown(approval), argumentsDigest, reason],
          ...[createdAtMs, expiresAtMs],
        ],
      );
      if (changes > 0) await addJobs(sql, [expireJob(expiresAtMs)]);
      return changes > 0;
    });
    return isNew ? approval : ((await this.ofCall(runId, call)) ?? approval);
  }

  async find(id: string): Promise<Approval | undefined> {
    return this.#one('WHERE id = $1', [id]);
  }

  async idsWith(prefix: string, limit: number): Promise<string[]> {
    const rows = await this.#postgres.query<{ id: string }>(
      'SELECT id FROM codemode.approvals WHERE starts_with(id, $1) ORDER BY id LIMIT $2',
      [prefix, limit],
    );
    return rows.map(({ id }) => id);
  }

  ofCall(runId: string, call: number): Promise<Approval | undefined> {
    return this.#one('WHERE run = $1 AND call = $2 ORDER BY created_at DESC, place DESC LIMIT 1', [runId, call]);
  }

  async ofRun(runId: string): Promise<Approval[]> {
    return this.ofRuns([runId]);
  }

  async ofRuns(runIds: readonly string[]): Promise<Approval[]> {
    if (runIds.length === 0) return [];
    return this.#readAll(await this.#rows('WHERE run = ANY($1) ORDER BY call, place', [runIds]));
  }

  deniedOfRun(runId: string, tool: ToolIdentity, argumentsDigest: string): Promise<Approval | undefined> {
    const where = `WHERE ${SAME_TOOL} AND run = $5 AND arguments_digest = $6 AND state = 'DENIED' LIMIT 1`;
    return this.#one(where, [...identityOf(tool), runId, argumentsDigest]);
  }

  async ofSameCall({ tool, argumentsDigest, caller, program }: SameCall): Promise<Approval[]> {
    const rows = await this.#rows(
      `WHERE ${SAME_TOOL} AND caller = $5 AND arguments_digest = $6
        AND (state = 'PENDING' OR (state IN ('APPROVED', 'DENIED') AND scope IN ('call', 'calls')))
        AND used_at IS NULL AND expires_at > ${NOW_MS} ORDER BY state = 'PENDING', created_at DESC, place DESC`,
      [...identityOf(tool), caller, argumentsDigest],
    );
    return this.#unusedOf(rows, program);
  }

  async decidedLate(caller: string, program: string): Promise<Approval[]> {
    const rows = await this.#rows(
      `WHERE caller = $1 AND state IN ('APPROVED', 'DENIED') AND used_at IS NULL AND expires_at > ${NOW_MS}
        ORDER BY decided_at DESC LIMIT ${MAX_DECIDED_LATE}`,
      [caller],
    );
    return this.#unusedOf(rows, program);
  }

  #unusedOf(rows: readonly ApprovalRow[], program: string | undefined): Approval[] {
    const unused = rows.filter((row) => !this.#seals.isUsed(row));
    return this.#readAll(unused).filter((approval) => approval.program === program);
  }

  async settledOf(ids: readonly string[]): Promise<Approval[]> {
    return this.#readAll(await this.#rows("WHERE id = ANY($1) AND state <> 'PENDING'", [ids]));
  }

  async pending(): Promise<Approval[]> {
    return this.#readAll(await this.#rows("WHERE state = 'PENDING' ORDER BY created_at, call"));
  }

  async pendingIds(): Promise<ReadonlySet<string>> {
    const rows = await this.#postgres.query<{ id: string }>(
      "SELECT id FROM codemode.approvals WHERE state = 'PENDING'",
    );
    return new Set(rows.map(({ id }) => id));
  }

  async pendingOf(caller: string): Promise<{ readonly count: number; readonly bytes: number }> {
    const [row] = await this.#postgres.query<{ count: number; bytes: number }>(
      `SELECT count(*) AS count, coalesce(sum(length(arguments)), 0) AS bytes FROM codemode.approvals
        WHERE caller = $1 AND state = 'PENDING'`,
      [caller],
    );
    return row ?? { count: 0, bytes: 0 };
  }

  async recent(limit: number): Promise<Approval[]> {
    const rows = await this.#rows(
      `WHERE id IN (SELECT id FROM (SELECT id, sum(length(arguments)) OVER
          (ORDER BY created_at DESC, call DESC, place DESC) AS bytes
          FROM (SELECT * FROM codemode.approvals ORDER BY created_at DESC, call DESC LIMIT $1) AS latest) AS summed
          WHERE bytes <= ${MAX_LISTED_BYTES})
        ORDER BY created_at DESC, call DESC`,
      [limit],
    );
    return this.#readAll(rows);
  }

  async expire(): Promise<number> {
    if (performance.now() - this.#expiredAt < EXPIRE_EVERY_MS) return 0;
    this.#expiredAt = performance.now();
    const [due] = await this.#postgres.query<{ due: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM codemode.approvals WHERE state = 'PENDING' AND expires_at <= ${NOW_MS}) AS due`,
    );
    return due?.due === true ? expireApprovals(this.#postgres) : 0;
  }

  watch(look: () => void): Stop {
    return this.#wakes.watch(look);
  }

  closeOfRun(runId: string): Promise<number> {
    return closeApprovals(this.#postgres, 'run = $1', [runId]);
  }

  closeOfEnded(caller: string, most: number): Promise<number> {
    return closeApprovals(
      this.#postgres,
      `id IN (SELECT asked.id FROM codemode.approvals AS asked JOIN codemode.runs ON runs.id = asked.run
        AND runs.state <> 'suspended' WHERE asked.caller = $1 AND asked.state = 'PENDING' ORDER BY asked.created_at LIMIT $2)`,
      [caller, most],
    );
  }

  async isUsed(id: string): Promise<boolean> {
    const [row] = await this.#rows('WHERE id = $1', [id]);
    return row === undefined || this.#seals.isUsed(row);
  }

  async use(id: string, nowMs = Date.now()): Promise<boolean> {
    const [row] = await this.#rows('WHERE id = $1', [id]);
    if (row === undefined || this.#seals.isUsed(row)) return false;
    // If two hosts have read the same row, only one of them changes it.
    const changed = await this.#postgres.change(
      `UPDATE codemode.approvals SET used_at = $2, mark = $3
        WHERE id = $1 AND used_at IS NULL AND state = $4 AND mark IS NOT DISTINCT FROM $5`,
      [id, nowMs, this.#seals.markUsed(row, nowMs), row.state, row.mark],
    );
    if (changed === 0) return false;
    this.#seals.noteUse(id);
    return true;
  }

  async decide(
    id: string,
    state: 'APPROVED' | 'DENIED',
    decision: ApprovalDecision,
    { others = [], grant }: DecideOptions = {},
  ): Promise<Decided | undefined> {
    const named = [id, ...others];
    const runs = await this.#rows('WHERE id = ANY($1)', [named]);
    const runIds = runs.map(({ run }) => run);
    return this.#postgres.transaction(async (sql) => {
      await lockRuns(sql, runIds);
      await sql.change(
        `UPDATE codemode.approvals SET state = 'EXPIRED' WHERE id = ANY($1) AND state = 'PENDING' AND expires_at <= ${NOW_MS}`,
        [named],
      );
      const asked = new Map(
        this.#readAll(await this.#rows('WHERE id = ANY($1) ORDER BY id FOR UPDATE', [named], sql)).map((each) => [
          each.id,
          each,
        ]),
      );
      const approval = asked.get(id);
      if (approval === undefined) return undefined;
      if (approval.state !== 'PENDING') return { isFirst: false, approval } as const;
      const isGrant = decision.scope === 'run' || decision.scope === 'hour';
      const covered = [
        approval,
        ...[...asked.values()].filter((other) => other.id !== id && other.state === 'PENDING'),
        ...(isGrant ? await this.#othersOfRun(sql, approval, new Set(others)) : []),
      ];
      for (const each of covered) await this.#write(sql, each, state, decision);
      if (state === 'APPROVED' && grant !== undefined) await this.#grant(sql, approval, grant);
      await markReady(sql, runIds);
      await announce(sql);
      return { isFirst: true, approvals: covered.map((each) => ({ ...each, state, decision })) } as const;
    });
  }

  async #othersOfRun(sql: Sql, approval: Approval, named: ReadonlySet<string>): Promise<Approval[]> {
    const rows = await this.#rows('WHERE run = $1 ORDER BY call, place FOR UPDATE', [approval.runId], sql);
    return this.#readAll(rows).filter((other) => !named.has(other.id) && isCoveredBy(approval, other));
  }

  async #write(sql: Sql, approval: Approval, state: 'APPROVED' | 'DENIED', decision: ApprovalDecision): Promise<void> {
    const { by, atMs, reason, scope } = decision;
    const mark = this.#seals.markDecided(approval, state, decision);
    await sql.change(
      `UPDATE codemode.approvals SET state = $2, decided_by = $3, decided_at = $4, decision_reason = $5, scope = $6, mark = $7
        WHERE id = $1 AND state = 'PENDING'`,
      [approval.id, state, by, atMs, reason ?? null, scope, mark],
    );
  }

  async #grant(sql: Sql, approval: Approval, grant: GrantOptions): Promise<void> {
    const { id, tool, caller } = approval;
    const { runId = '', expiresAtMs } = grant;
    const mark = this.#seals.markGrant(approval, grant);
    await sql.change(
      `INSERT INTO codemode.grants (server, server_fingerprint, tool, tool_digest, run, caller, expires_at, approval, mark)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (run, caller, server, tool) DO UPDATE
        SET server_fingerprint = excluded.server_fingerprint, tool_digest = excluded.tool_digest,
          expires_at = excluded.expires_at, approval = excluded.approval, mark = excluded.mark`,
      [...identityOf(tool), runId, caller, expiresAtMs, id, mark],
    );
  }

  forgetOldest(caller: string, most: { readonly count: number; readonly bytes: number }): Promise<number> {
    // A suspended run needs its decisions when it is resumed.
    return this.#postgres.change(
      `DELETE FROM codemode.approvals WHERE id IN (SELECT id FROM (
          SELECT id, row_number() OVER newest AS place, sum(length(arguments)) OVER newest AS bytes FROM codemode.approvals
            WHERE caller = $1 AND state <> 'PENDING' WINDOW newest AS (ORDER BY created_at DESC, place DESC)) AS decided
          WHERE place > $2 OR bytes > $3)
        AND NOT EXISTS (SELECT 1 FROM codemode.runs WHERE runs.id = approvals.run AND runs.state = 'suspended')`,
      [caller, most.count, most.bytes],
    );
  }

  async prune(nowMs: number): Promise<void> {
    await this.#postgres.change(
      `DELETE FROM codemode.approvals WHERE state <> 'PENDING' AND created_at < $1
        AND NOT EXISTS (SELECT 1 FROM codemode.runs WHERE runs.id = approvals.run AND runs.state = 'suspended')`,
      [nowMs - KEPT_MS],
    );
    await this.#postgres.change(`DELETE FROM codemode.grants WHERE expires_at < ${NOW_MS}`);
  }

  async grantFor(tool: ToolIdentity, { runId, caller, reasons }: GrantQuery): Promise<Approval | undefined> {
    const runs = runId === undefined ? [''] : [runId, ''];
    const rows = await this.#postgres.query<GrantRow & { readonly run: string }>(
      `SELECT run, approval, expires_at, mark FROM codemode.grants WHERE ${SAME_TOOL} AND run = ANY($5) AND caller = $6
        AND expires_at > ${NOW_MS}`,
      [...identityOf(tool), runs, caller],
    );
    for (const run of runs) {
      const found = rows.find((row) => row.run === run);
      if (found === undefined) continue;
      const approval = this.#seals.isGrant(tool, run, caller, found) ? await this.find(found.approval) : undefined;
      if (approval?.state === 'APPROVED' && coversReasons(approval, reasons)) return approval;
    }
    return undefined;
  }

  async grants(): Promise<Grant[]> {
    const rows = await this.#postgres.query<ListedGrantRow>(
      `SELECT run, caller, server, server_fingerprint, tool, tool_digest, expires_at, approval, mark FROM codemode.grants
        WHERE expires_at > ${NOW_MS} AND NOT EXISTS
          (SELECT 1 FROM codemode.runs WHERE runs.id = grants.run AND runs.state <> 'suspended')
        ORDER BY expires_at LIMIT ${MAX_LISTED_GRANTS}`,
    );
    const ids = rows.map(({ approval }) => approval);
    const approvals = new Map((await this.settledOf(ids)).map((approval) => [approval.id, approval]));
    return rows.flatMap((row) => this.#seals.readGrant(row, approvals.get(row.approval)));
  }

  async revokeGrant(id: string): Promise<boolean> {
    return (await this.#postgres.change('DELETE FROM codemode.grants WHERE approval = $1', [id])) > 0;
  }

  #rows(where: string, values: readonly SqlValue[] = [], sql: Sql = this.#postgres): Promise<ApprovalRow[]> {
    return sql.query<ApprovalRow>(`SELECT ${COLUMNS} FROM codemode.approvals ${where}`, values);
  }

  async #one(where: string, values: readonly SqlValue[]): Promise<Approval | undefined> {
    const [row] = await this.#rows(where, values);
    return row === undefined ? undefined : this.#seals.read(row);
  }

  #readAll(rows: readonly ApprovalRow[]): Approval[] {
    return rows.map((row) => this.#seals.read(row));
  }
}

/** The lock makes hosts that add approvals of one caller at once count one after the other. */
async function mustHaveRoom(sql: Sql, caller: string, most: number): Promise<void> {
  await sql.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 26))', [caller]);
  const [row] = await sql.query<{ count: number }>(
    "SELECT count(*) AS count FROM codemode.approvals WHERE caller = $1 AND state = 'PENDING'",
    [caller],
  );
  const count = row?.count ?? 0;
  if (count >= most) throw tooManyApprovals(count);
}

function identityOf({ serverId, serverFingerprint, toolName, toolDigest }: ToolIdentity): readonly string[] {
  return [serverId, serverFingerprint, toolName, toolDigest];
}
