import { CallerQuotas } from '../../../domain/quotas.js';
import type { Stop } from '../../../lib/async/awaitable.js';
import { isProcessAlive, processIdentity } from '../../../lib/files/process-identity.js';
import { SEAL_BYTES } from '../../../lib/secrets/sealed.js';
import { figuresIn } from '../../run-figures.js';
import { RunSeals } from '../../run-seals.js';
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
import type { Database } from '../database.js';
import { watchResumable } from './resumable-runs.js';
import { RunPruning } from './run-pruning.js';
import { COLUMNS, prepareRunStatements, type RunRow, type RunStatements } from './run-statements.js';

export interface SqliteRunsOptions {
  readonly quotas?: CallerQuotas;
  readonly maxEndedBytes?: number;
  /** The process that claims runs. Default: this process. */
  readonly holder?: string;
}

/** Runs in the SQLite file of a state folder. Hosts of one machine see whether another one is alive, so a claim needs no expiry. */
export class SqliteRunStore implements RunStore {
  readonly #database: Database;
  readonly #statements: RunStatements;
  readonly #seals: RunSeals;
  readonly #quotas: CallerQuotas;
  readonly #pruning: RunPruning;
  readonly #holder: string;

  constructor(database: Database, key: Uint8Array, options: SqliteRunsOptions = {}) {
    const { quotas = new CallerQuotas(), maxEndedBytes, holder = processIdentity() } = options;
    this.#database = database;
    this.#seals = new RunSeals(key);
    this.#quotas = quotas;
    this.#statements = prepareRunStatements(database);
    this.#pruning = new RunPruning(database, quotas, maxEndedBytes);
    this.#holder = holder ?? `${process.pid}:unknown`;
  }

  suspend(run: SuspendedRun, nowMs: number): void {
    const { id, caller, profile, setting, codeDigest, createdAtMs, program, contextJson } = run;
    const context = this.#seals.seal('context', run, contextJson);
    const title = this.#seals.seal('title', run, run.title);
    this.#database.transaction(() => {
      this.#mustHaveRoom(caller, id, program.byteLength + context.byteLength);
      const facts = [id, caller, profile, setting, codeDigest, createdAtMs, nowMs] as const;
      this.#statements.suspend.run(...facts, program, context, title);
      this.#statements.forgetCalls.run(id);
      this.#statements.forgetDeliveries.run(id);
    });
  }

  find(id: string): StoredRun | undefined {
    const row = this.#statements.find.get(id);
    return row === undefined ? undefined : readRow(row);
  }

  list(limit: number, caller?: string): StoredRun[] {
    const { list, listOf } = this.#statements;
    return (caller === undefined ? list.all(limit) : listOf.all(caller, limit)).map(readRow);
  }

  lastOf({ caller, profile, codeDigest }: Pick<StoredRun, 'caller' | 'profile' | 'codeDigest'>): StoredRun | undefined {
    const row = this.#statements.lastOf.get(caller, profile, codeDigest);
    return row === undefined ? undefined : readRow(row);
  }

  page(choice: RunChoice, limit: number): PlacedRun[] {
    const { states, caller, exceptCallers, profile, sinceMs, updatedAfterMs, after } = choice;
    const chosen: [string, readonly (string | number)[] | undefined][] = [
      [`state IN (${states?.map(() => '?').join(', ')})`, states],
      ['caller = ?', caller === undefined ? undefined : [caller]],
      [`caller NOT IN (${exceptCallers?.map(() => '?').join(', ')})`, exceptCallers],
      ['profile = ?', profile === undefined ? undefined : [profile]],
      ['created_at >= ?', sinceMs === undefined ? undefined : [sinceMs]],
      ['updated_at > ?', updatedAfterMs === undefined ? undefined : [updatedAfterMs]],
      ['(created_at, rowid) < (?, ?)', after === undefined ? undefined : [after.createdAtMs, after.rowid]],
    ];
    const used = chosen.filter((each): each is [string, readonly (string | number)[]] => each[1] !== undefined);
    const where = used.map(([sql]) => sql).join(' AND ') || '1';
    return this.#database
      .prepare<RunRow & { place: number }>(
        `SELECT ${COLUMNS}, rowid AS place FROM runs WHERE ${where} ORDER BY created_at DESC, rowid DESC LIMIT ?`,
      )
      .all(...used.flatMap(([, values]) => values), limit)
      .map((row) => ({ ...readRow(row), place: { createdAtMs: row.created_at, rowid: row.place } }));
  }

  answersByDay(sinceMs: number, exceptCallers: readonly string[] = []): AnswersOfDay[] {
    return this.#database
      .prepare<AnswersOfDay>(
        `SELECT date(updated_at / 1000, 'unixepoch') AS day, count(*) AS runs, coalesce(sum(calls), 0) AS calls,
          coalesce(sum(tool_bytes), 0) AS toolBytes, coalesce(sum(max(0, length(response) - ${SEAL_BYTES})), 0) AS bytes
          FROM runs WHERE state <> 'suspended' AND updated_at >= ? AND caller NOT IN (${exceptCallers.map(() => '?').join(', ')})
          GROUP BY day ORDER BY day`,
      )
      .all(sinceMs, ...exceptCallers);
  }

  titlesOf(ids: readonly string[]): ReadonlyMap<string, string> {
    const titles = new Map<string, string>();
    for (const id of new Set(ids)) {
      const row = this.#statements.title.get(id);
      const title = row === undefined ? undefined : this.#seals.unseal('title', { id, caller: row.caller }, row.title);
      if (title !== undefined) titles.set(id, title);
    }
    return titles;
  }

  idsWith(prefix: string, limit: number): string[] {
    return this.#statements.idsFrom
      .all(prefix, limit)
      .map(({ id }) => id)
      .filter((id) => id.startsWith(prefix));
  }

  resumable(limit: number): StoredRun[] {
    const isFree = ({ holder }: RunRow) => holder === null || holder === this.#holder || !isProcessAlive(holder);
    return this.#statements.resumable.all(Date.now()).filter(isFree).slice(0, limit).map(readRow);
  }

  watch(taker: RunTaker): Stop {
    return watchResumable((limit) => this.resumable(limit), taker);
  }

  claim(id: string): RunLease | undefined {
    return this.#database.transaction(() => {
      const run = this.#statements.find.get(id);
      if (run?.state !== 'suspended') return undefined;
      if (run.holder !== null && run.holder !== this.#holder && isProcessAlive(run.holder)) return undefined;
      this.#statements.setHolder.run(this.#holder, id);
      return { runId: id, fence: 0 };
    });
  }

  release({ runId }: RunLease): void {
    this.#statements.setHolder.run(null, runId);
  }

  open(id: string): OpenedRun | undefined {
    const run = this.find(id);
    const blobs = this.#statements.blobs.get(id);
    if (run === undefined || blobs?.program == null || blobs.context === null) return undefined;
    const contextJson = this.#seals.unseal('context', run, blobs.context);
    const calls = this.#statements.calls.all(id).map((made) => ({
      number: made.number,
      isSent: made.state === 'sent',
      callJson: this.#seals.unsealCall(id, made),
    }));
    const deliveries = this.#statements.deliveries
      .all(id)
      .map(({ position, delivery }) => this.#seals.unsealDelivery(id, position, delivery));
    const isWhole = contextJson !== undefined && deliveries.every((each) => each !== undefined);
    if (!isWhole || calls.some(({ callJson }) => callJson === undefined)) return undefined;
    return { ...run, program: blobs.program, contextJson, sinceThen: { calls, deliveries } as SinceThen };
  }

  contextOf(id: string): { readonly contextJson: string; readonly calls: readonly string[] } | undefined {
    const row = this.#statements.blobs.get(id);
    if (row?.context == null) return undefined;
    const contextJson = this.#seals.unseal('context', { id, caller: row.caller }, row.context);
    if (contextJson === undefined) return undefined;
    const calls = this.#statements.calls.all(id).map((made) => this.#seals.unsealCall(id, made));
    return { contextJson, calls: calls.filter((each) => each !== undefined) };
  }

  callMade({ runId }: RunLease, number: number, callJson: string): void {
    this.#statements.putCall.run(runId, number, 'made', this.#seals.sealCall(runId, number, 'made', callJson));
  }

  callSent({ runId }: RunLease, number: number, callJson: string): void {
    this.#statements.putCall.run(runId, number, 'sent', this.#seals.sealCall(runId, number, 'sent', callJson));
  }

  delivered({ runId }: RunLease, position: number, deliveryJson: string): void {
    this.#statements.putDelivery.run(runId, position, this.#seals.sealDelivery(runId, position, deliveryJson));
  }

  /** Atomic. */
  end(ends: readonly EndedRun[], nowMs: number): readonly string[] {
    const { anyCall, anyDelivery, hasModules, putModules, forgetCalls, forgetDeliveries } = this.#statements;
    this.#database.transaction(() => {
      // Most runs were never suspended, and usually no resumed run is in progress.
      const isAnythingLeft = anyCall.get() !== undefined || anyDelivery.get() !== undefined;
      for (const end of ends) {
        const { id, caller, profile, setting, codeDigest, state, createdAtMs, recordingJson, durationMs, figures } =
          end;
        const response = this.#seals.seal('response', end, end.responseJson);
        const recording = recordingJson === undefined ? null : this.#seals.seal('recording', end, recordingJson);
        const title = end.title === undefined ? null : this.#seals.seal('title', end, end.title);
        const modules = recording === null ? undefined : end.modules;
        if (modules !== undefined && hasModules.get(modules.digest) === undefined)
          putModules.run(modules.digest, this.#seals.sealModules(modules.digest, modules.json));
        const facts = [id, caller, profile, setting, codeDigest, state, createdAtMs, nowMs] as const;
        const listed = [title, durationMs ?? null, figures?.calls ?? null, figures?.toolBytes ?? null] as const;
        this.#statements.end.run(...facts, response, recording, modules?.digest ?? null, ...listed);
        if (isAnythingLeft) {
          forgetCalls.run(id);
          forgetDeliveries.run(id);
        }
        this.#pruning.after(caller, response.byteLength + (recording?.byteLength ?? 0));
      }
    });
    return NONE;
  }

  #mustHaveRoom(caller: string, id: string, bytes: number): void {
    const { suspended } = this.#quotas.limits;
    if ((this.#statements.suspendedBytes.get(caller, id)?.bytes ?? 0) + bytes <= suspended) return;
    throw tooManySuspended(this.#quotas);
  }

  responseOf(run: Pick<StoredRun, 'id' | 'caller'>): string | undefined {
    const response = this.#statements.blobs.get(run.id)?.response;
    return response == null ? undefined : this.#seals.unseal('response', run, response);
  }

  recordingOf(id: string): StoredRecording | undefined {
    const row = this.#statements.recording.get(id);
    if (row?.recording == null) return undefined;
    const { caller, recording, digest, modules } = row;
    const json = this.#seals.unseal('recording', { id, caller }, recording);
    const modulesJson = digest === null || modules === null ? undefined : this.#seals.unsealModules(digest, modules);
    const isWhole = json !== undefined && (digest === null || modulesJson !== undefined);
    return isWhole ? { json, modulesJson } : undefined;
  }
}

const NONE: readonly string[] = [];

function readRow(row: RunRow): StoredRun {
  const { id, caller, profile, setting, state, holder } = row;
  return {
    id,
    caller,
    profile,
    setting,
    codeDigest: row.code_digest,
    state,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    isHeld: state === 'suspended' && holder !== null && isProcessAlive(holder),
    durationMs: row.duration_ms ?? undefined,
    figures: figuresIn(row),
  };
}
