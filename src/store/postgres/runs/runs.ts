import * as z from 'zod';
import { HostError, isHostError } from '../../../domain/errors.js';
import { CallerQuotas } from '../../../domain/quotas.js';
import type { Stop } from '../../../lib/async/awaitable.js';
import { backoffMs } from '../../../lib/async/backoff.js';
import { pause } from '../../../lib/async/pause.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { type CallRow, RunSeals } from '../../run-seals.js';
import type {
  AnswersOfDay,
  EndedRun,
  OpenedRun,
  PlacedRun,
  RunChoice,
  RunLease,
  RunStore,
  RunTaker,
  SinceThen,
  StoredRecording,
  StoredRun,
  SuspendedRun,
} from '../../runs.js';
import { tooManySuspended } from '../../suspended-quota.js';
import type { Postgres, Sql } from '../database/connection.js';
import { type HostLease, isUp } from '../host-lease.js';
import { cleanUp } from '../queue/clean-up.js';
import { expireApprovals } from '../queue/close-approvals.js';
import { addLostJobs, RESUMABLE } from '../queue/lost-jobs.js';
import { Queue } from '../queue/queue.js';
import { RunEnds } from './run-ends.js';
import { lockRuns, markReady } from './run-lock.js';
import { answersByDay, COLUMNS, pageOfRuns, type RunRow, readRow } from './run-rows.js';

export interface PostgresRunsOptions {
  readonly host: HostLease;
  readonly quotas?: CallerQuotas;
}

const RETRY = { firstMs: 100, maxMs: 5_000, factor: 2 };

/**
 * Runs in the database that hosts share. A claimed suspended run belongs to its host for as long as that host is up. Every write
 * about it checks the fence from the claim, in the same statement.
 */
export class PostgresRunStore implements RunStore {
  readonly #postgres: Postgres;
  readonly #seals: RunSeals;
  readonly #host: HostLease;
  readonly #quotas: CallerQuotas;
  readonly #ends: RunEnds;
  /** Runs that this host works on, or is about to claim. */
  readonly #held = new Set<string>();
  #queue: Queue | undefined;

  constructor(postgres: Postgres, key: Uint8Array, { host, quotas = new CallerQuotas() }: PostgresRunsOptions) {
    this.#postgres = postgres;
    this.#seals = new RunSeals(key);
    this.#host = host;
    this.#quotas = quotas;
    this.#ends = new RunEnds(postgres, this.#seals, host.id);
    host.onBeat(() => this.#repair());
  }

  /**
   * A run that could not be stored keeps waiting in its host, so it must not turn out to be stored after all. The write is retried
   * until its outcome is known. Nothing else happens with the run in the meantime.
   */
  async suspend(run: SuspendedRun, nowMs: number): Promise<void> {
    const context = this.#seals.seal('context', run, run.contextJson);
    const title = this.#seals.seal('title', run, run.title);
    let isUnknown = false;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#postgres.transaction((sql) => this.#suspendIn(sql, run, { context, title, nowMs }));
        break;
      } catch (error) {
        const isAnswered = isHostError(error, 'lease_lost') || isHostError(error, 'quota_exceeded');
        isUnknown ||= isHostError(error, 'store_unavailable');
        if (isAnswered || !isUnknown) throw error;
        // If the run was stored after all, another host resumes it. If not, it ends with this host.
        if (this.#host.isClosed) throw leaseLost(run.id);
        await pause(backoffMs(attempt, RETRY));
      }
    }
    this.#held.delete(run.id);
  }

  async #suspendIn(
    sql: Sql,
    run: SuspendedRun,
    { context, title, nowMs }: { readonly context: Buffer; readonly title: Buffer; readonly nowMs: number },
  ): Promise<void> {
    const { id, caller, profile, setting, codeDigest, createdAtMs, lease } = run;
    const program = Buffer.from(run.program);
    const bytes = program.byteLength + context.byteLength;
    await lockRuns(sql, [id]);
    if (lease === undefined) {
      const added = await sql.change(
        `INSERT INTO codemode.runs (id, caller, profile, setting, code_digest, state, created_at, updated_at, program, context,
            title, bytes) VALUES ($1, $2, $3, $4, $5, 'suspended', $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING`,
        [id, caller, profile, setting, codeDigest, createdAtMs, nowMs, program, context, title, bytes],
      );
      // An earlier attempt was written: there was room for the run, and another host may hold it now.
      if (added === 0) return;
    } else {
      // A new fence: whether or not this write succeeds, this host has no power over the run afterwards.
      const changed = await sql.change(
        `UPDATE codemode.runs SET updated_at = $4, program = $5, context = $6, bytes = $7, lease_owner = NULL,
            fence = fence + 1, is_ready = false
          WHERE id = $1 AND fence = $2 AND lease_owner = $3 AND state = 'suspended'`,
        [id, lease.fence, this.#host.id, nowMs, program, context, bytes],
      );
      if (changed === 0) throw leaseLost(id);
      await sql.change('DELETE FROM codemode.run_calls WHERE run = $1', [id]);
      await sql.change('DELETE FROM codemode.run_deliveries WHERE run = $1', [id]);
    }
    await this.#mustHaveRoom(sql, caller, id, bytes);
    await markReady(sql, [id]);
  }

  async #mustHaveRoom(sql: Sql, caller: string, id: string, bytes: number): Promise<void> {
    const [row] = await sql.query<{ bytes: number }>(
      `SELECT coalesce(sum(bytes), 0) AS bytes FROM codemode.runs WHERE state = 'suspended' AND caller = $1 AND id <> $2`,
      [caller, id],
    );
    if ((row?.bytes ?? 0) + bytes > this.#quotas.limits.suspended) throw tooManySuspended(this.#quotas);
  }

  async find(id: string): Promise<StoredRun | undefined> {
    const [row] = await this.#postgres.query<RunRow>(`SELECT ${COLUMNS} FROM codemode.runs WHERE id = $1`, [id]);
    return row === undefined ? undefined : readRow(row);
  }

  async list(limit: number, caller?: string): Promise<StoredRun[]> {
    return this.page(omitUndefined({ caller }), limit);
  }

  async lastOf(program: Pick<StoredRun, 'caller' | 'profile' | 'codeDigest'>): Promise<StoredRun | undefined> {
    const { caller, profile, codeDigest } = program;
    const [row] = await this.#postgres.query<RunRow>(
      `SELECT ${COLUMNS} FROM codemode.runs WHERE caller = $1 AND profile = $2 AND code_digest = $3
        ORDER BY created_at DESC, place DESC LIMIT 1`,
      [caller, profile, codeDigest],
    );
    return row === undefined ? undefined : readRow(row);
  }

  page(choice: RunChoice, limit: number): Promise<PlacedRun[]> {
    return pageOfRuns(this.#postgres, choice, limit);
  }

  answersByDay(sinceMs: number, exceptCallers: readonly string[] = []): Promise<AnswersOfDay[]> {
    return answersByDay(this.#postgres, sinceMs, exceptCallers);
  }

  async titlesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#postgres.query<{ id: string; caller: string; title: Buffer }>(
      'SELECT id, caller, title FROM codemode.runs WHERE id = ANY($1) AND title IS NOT NULL',
      [[...new Set(ids)]],
    );
    const titles = rows.map((row) => [row.id, this.#seals.unseal('title', row, row.title)] as const);
    return new Map(titles.filter((each): each is [string, string] => each[1] !== undefined));
  }

  async idsWith(prefix: string, limit: number): Promise<string[]> {
    const rows = await this.#postgres.query<{ id: string }>(
      'SELECT id FROM codemode.runs WHERE starts_with(id, $1) ORDER BY id LIMIT $2',
      [prefix, limit],
    );
    return rows.map(({ id }) => id);
  }

  async resumable(limit: number): Promise<StoredRun[]> {
    const rows = await this.#postgres.query<RunRow>(
      `SELECT ${COLUMNS} FROM codemode.runs WHERE ${RESUMABLE} ORDER BY created_at, place LIMIT $1`,
      [limit],
    );
    return rows.map(readRow);
  }

  watch(taker: RunTaker): Stop {
    this.#queue ??= new Queue(this.#postgres, {
      atOnce: taker.room,
      handlers: {
        // The job is held until the run is done, so a host without room takes no job.
        resume_run: async (payload) => {
          const run = await this.#resumableOf(payload);
          // A run whose servers this host lacks is announced again with the next heartbeat.
          if (run !== undefined && taker.canTake(run)) await taker.take(run);
        },
        expire_approvals: async () => void (await expireApprovals(this.#postgres)),
        clean_up: (payload) => cleanUp(this.#postgres, this.#quotas, payload),
      },
    });
    return this.#queue.stop;
  }

  async #resumableOf(payload: unknown): Promise<StoredRun | undefined> {
    const { run: id } = resumePayload.parse(payload);
    const [row] = await this.#postgres.query<RunRow>(
      `SELECT ${COLUMNS} FROM codemode.runs WHERE id = $1 AND ${RESUMABLE}`,
      [id],
    );
    return row === undefined ? undefined : readRow(row);
  }

  async claim(id: string, { isForced = false } = {}): Promise<RunLease | undefined> {
    if (this.#held.has(id)) return undefined;
    this.#held.add(id);
    try {
      const [row] = await this.#postgres.query<{ fence: number }>(
        `UPDATE codemode.runs SET lease_owner = $2, fence = fence + 1 WHERE id = $1 AND state = 'suspended'
          AND ($3 OR lease_owner IS NULL OR lease_owner = $2 OR NOT ${isUp('lease_owner')}) RETURNING fence`,
        [id, this.#host.id, isForced],
      );
      if (row === undefined) this.#held.delete(id);
      return row && { runId: id, fence: row.fence };
    } catch (error) {
      // If the run was claimed after all, the next heartbeat releases it.
      this.#held.delete(id);
      throw error;
    }
  }

  async release({ runId, fence }: RunLease): Promise<void> {
    // If this fails, the next heartbeat releases what is not held.
    this.#held.delete(runId);
    await this.#postgres.change(
      'UPDATE codemode.runs SET lease_owner = NULL WHERE id = $1 AND fence = $2 AND lease_owner = $3',
      [runId, fence, this.#host.id],
    );
  }

  /** Releases claims that this host does not know of, and adds jobs that were never announced or were lost with their host. */
  async #repair(): Promise<void> {
    await this.#postgres.change(
      `UPDATE codemode.runs SET lease_owner = NULL WHERE lease_owner = $1 AND NOT (id = ANY($2))`,
      [this.#host.id, [...this.#held]],
    );
    await addLostJobs(this.#postgres);
  }

  /** Releases at once what this host has claimed. */
  async close(): Promise<void> {
    await this.#queue?.close();
    this.#held.clear();
    await this.#repair();
  }

  async open(id: string): Promise<OpenedRun | undefined> {
    const [[row], calls, deliveries] = await Promise.all([
      this.#postgres.query<RunRow & { program: Buffer | null; context: Buffer | null }>(
        `SELECT ${COLUMNS}, program, context FROM codemode.runs WHERE id = $1`,
        [id],
      ),
      this.#callsOf(id),
      this.#postgres.query<{ position: number; delivery: Buffer }>(
        'SELECT position, delivery FROM codemode.run_deliveries WHERE run = $1 ORDER BY position',
        [id],
      ),
    ]);
    if (row?.program == null || row.context === null) return undefined;
    const contextJson = this.#seals.unseal('context', row, row.context);
    const sinceThen = {
      calls: calls.map((made) => ({
        number: made.number,
        isSent: made.state === 'sent',
        callJson: this.#seals.unsealCall(id, made),
      })),
      deliveries: deliveries.map(({ position, delivery }) => this.#seals.unsealDelivery(id, position, delivery)),
    };
    const isWhole =
      contextJson !== undefined &&
      // If a delivery is missing in the middle, the program would take another path.
      deliveries.every(({ position }, index) => position === (deliveries[0]?.position ?? 0) + index) &&
      sinceThen.deliveries.every((each) => each !== undefined) &&
      sinceThen.calls.every(({ callJson }) => callJson !== undefined);
    return isWhole
      ? { ...readRow(row), program: row.program, contextJson, sinceThen: sinceThen as SinceThen }
      : undefined;
  }

  async contextOf(
    id: string,
  ): Promise<{ readonly contextJson: string; readonly calls: readonly string[] } | undefined> {
    const [row] = await this.#postgres.query<{ caller: string; context: Buffer | null }>(
      'SELECT caller, context FROM codemode.runs WHERE id = $1',
      [id],
    );
    if (row?.context == null) return undefined;
    const contextJson = this.#seals.unseal('context', { id, caller: row.caller }, row.context);
    if (contextJson === undefined) return undefined;
    const calls = (await this.#callsOf(id)).map((made) => this.#seals.unsealCall(id, made));
    return { contextJson, calls: calls.filter((each) => each !== undefined) };
  }

  #callsOf(id: string): Promise<CallRow[]> {
    return this.#postgres.query<CallRow>(
      'SELECT number, state, call FROM codemode.run_calls WHERE run = $1 ORDER BY number',
      [id],
    );
  }

  callMade(lease: RunLease, number: number, callJson: string): Promise<void> {
    return this.#putCall(lease, number, 'made', callJson);
  }

  /** A host that was paused between the checks must not send a call that another host has reported to the program as unknown. */
  async callSent(lease: RunLease, number: number, callJson: string): Promise<void> {
    if (!this.#host.isCertain) throw leaseUncertain(lease.runId);
    await this.#putCall(lease, number, 'sent', callJson);
    if (!this.#host.isCertain) throw leaseUncertain(lease.runId);
  }

  async #putCall(lease: RunLease, number: number, state: 'made' | 'sent', callJson: string): Promise<void> {
    const { runId, fence } = lease;
    const sealed = this.#seals.sealCall(runId, number, state, callJson);
    const written = await this.#postgres.change(
      `${HELD} INSERT INTO codemode.run_calls (run, number, state, call) SELECT id, $4, $5, $6 FROM held
        ON CONFLICT (run, number) DO UPDATE SET state = excluded.state, call = excluded.call`,
      [runId, fence, this.#host.id, number, state, sealed],
    );
    if (written === 0) throw leaseLost(runId);
  }

  async delivered({ runId, fence }: RunLease, position: number, deliveryJson: string): Promise<void> {
    const sealed = this.#seals.sealDelivery(runId, position, deliveryJson);
    const written = await this.#postgres.change(
      `${HELD} INSERT INTO codemode.run_deliveries (run, position, delivery) SELECT id, $4, $5 FROM held
        ON CONFLICT (run, position) DO UPDATE SET delivery = excluded.delivery`,
      [runId, fence, this.#host.id, position, sealed],
    );
    if (written === 0) throw leaseLost(runId);
  }

  async end(ends: readonly EndedRun[], nowMs: number): Promise<readonly string[]> {
    const lost = await this.#ends.write(ends, nowMs);
    for (const { id } of ends) this.#held.delete(id);
    return lost;
  }

  async responseOf(run: Pick<StoredRun, 'id' | 'caller'>): Promise<string | undefined> {
    const [row] = await this.#postgres.query<{ response: Buffer | null }>(
      'SELECT response FROM codemode.runs WHERE id = $1',
      [run.id],
    );
    return row?.response == null ? undefined : this.#seals.unseal('response', run, row.response);
  }

  async recordingOf(id: string): Promise<StoredRecording | undefined> {
    const [row] = await this.#postgres.query<{
      caller: string;
      recording: Buffer | null;
      digest: string | null;
      modules: Buffer | null;
    }>(
      `SELECT caller, recording, runs.modules AS digest, run_modules.modules AS modules FROM codemode.runs
        LEFT JOIN codemode.run_modules ON run_modules.digest = runs.modules WHERE id = $1`,
      [id],
    );
    if (row?.recording == null) return undefined;
    const { caller, recording, digest, modules } = row;
    const json = this.#seals.unseal('recording', { id, caller }, recording);
    const modulesJson = digest === null || modules === null ? undefined : this.#seals.unsealModules(digest, modules);
    return json !== undefined && (digest === null || modulesJson !== undefined) ? { json, modulesJson } : undefined;
  }
}

const resumePayload = z.object({ run: z.string() });

/** The run, if this host still holds it. The row is locked until the statement is done, so no host can take it over in between. */
const HELD = `WITH held AS (SELECT id FROM codemode.runs
  WHERE id = $1 AND fence = $2 AND lease_owner = $3 AND state = 'suspended' FOR SHARE)`;

function leaseUncertain(runId: string): HostError {
  return new HostError(
    'lease_lost',
    `this host could not renew its lease, so another host may have run ${runId}; see: codemode runs show ${runId}`,
  );
}

function leaseLost(runId: string): HostError {
  return new HostError('lease_lost', `another host has taken run ${runId} over; see: codemode runs show ${runId}`);
}
