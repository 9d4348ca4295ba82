import { CallerQuotas, inMebibytes, quotaExceeded } from '../domain/quotas.js';
import { type SealBinding, seal, unseal } from '../lib/sealed.js';
import type { Database, Statement } from './database.js';

export type RunState = 'waiting' | 'finished' | 'failed' | 'cancelled';

/** What is known of a run without opening anything. */
export interface StoredRun {
  readonly id: string;
  readonly caller: string;
  readonly profile: string;
  readonly setting: string;
  readonly codeDigest: string;
  readonly state: RunState;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The process that is going on with it; it may be gone. */
  readonly holder: string | undefined;
  /** Undefined until it has ended, and of runs that an older version recorded. */
  readonly durationMs: number | undefined;
}

/** A run that sleeps: its program as the sandbox sealed it, and what the host has to know besides. */
export interface SleepingRun extends Pick<StoredRun, 'id' | 'caller' | 'profile' | 'setting' | 'codeDigest'> {
  readonly program: Uint8Array;
  readonly contextJson: string;
  /** The line of its program by which a person knows it again. */
  readonly title: string;
}

/** How a run ended, with what it takes to run it again where that is kept. */
export interface EndedRun extends Omit<SleepingRun, 'program' | 'contextJson' | 'title'> {
  readonly state: Exclude<RunState, 'waiting'>;
  readonly responseJson: string;
  readonly recordingJson: string | undefined;
  /** Both are undefined of a run that ended without going on: what is known of it stays. */
  readonly title: string | undefined;
  readonly durationMs: number | undefined;
}

/** What happened to a run since it was put away, in the process that woke it. */
export interface SinceThen {
  readonly calls: readonly { readonly number: number; readonly isSent: boolean; readonly callJson: string }[];
  /** In the order in which they reached it. */
  readonly deliveries: readonly string[];
}

interface Row {
  id: string;
  caller: string;
  profile: string;
  setting: string;
  code_digest: string;
  state: RunState;
  created_at: number;
  updated_at: number;
  holder: string | null;
  duration_ms: number | null;
}

const COLUMNS = 'id, caller, profile, setting, code_digest, state, created_at, updated_at, holder, duration_ms';
/** What is kept to be looked at of all callers: who has most of them gives up the oldest. Those that wait stay. */
const MAX_ENDED_RUNS = 20_000;
/** So many more are there at times. The host stands still while they are taken away, a millisecond for these. */
const PRUNE_EVERY = 50;
/** Callers whose ends are counted apart. */
const MAX_CALLERS_COUNTED = 1_000;

/** Runs that outlive their process, and those that have ended, to be looked back at. All they hold is sealed. */
export class RunStore {
  readonly #database: Database;
  readonly #key: Uint8Array;
  readonly #putAway: Statement<never>;
  readonly #find: Statement<Row>;
  readonly #list: Statement<Row>;
  readonly #listOf: Statement<Row>;
  readonly #waiting: Statement<Row>;
  readonly #setHolder: Statement<never>;
  readonly #titles: Statement<{ id: string; title: Buffer }>;
  readonly #idsFrom: Statement<{ id: string }>;
  readonly #blobs: Statement<Record<'program' | 'context' | 'response' | 'recording', Buffer | null>>;
  readonly #end: Statement<never>;
  readonly #forgetCalls: Statement<never>;
  readonly #forgetDeliveries: Statement<never>;
  readonly #putCall: Statement<never>;
  readonly #putDelivery: Statement<never>;
  readonly #calls: Statement<{ number: number; state: string; call: Buffer }>;
  readonly #deliveries: Statement<{ position: number; delivery: Buffer }>;
  readonly #anyCall: Statement<object>;
  readonly #anyDelivery: Statement<object>;
  readonly #suspendedBytes: Statement<{ bytes: number }>;
  readonly #prune: Statement<never>;
  readonly #ended: Statement<{ count: number }>;
  readonly #greediest: Statement<{ caller: string; count: number }>;
  readonly #quotas: CallerQuotas;
  readonly #ends = new Map<string, number>();

  constructor(database: Database, key: Uint8Array, quotas = new CallerQuotas()) {
    this.#database = database;
    this.#key = key;
    this.#quotas = quotas;
    this.#putAway = database.prepare(
      `INSERT INTO runs (id, caller, profile, setting, code_digest, state, created_at, updated_at, program, context, title)
        VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, program = excluded.program,
          context = excluded.context, holder = NULL`,
    );
    this.#find = database.prepare(`SELECT ${COLUMNS} FROM runs WHERE id = ?`);
    // Of those that were written down in the same millisecond the last one written is the newest.
    this.#list = database.prepare(`SELECT ${COLUMNS} FROM runs ORDER BY created_at DESC, rowid DESC LIMIT ?`);
    this.#listOf = database.prepare(
      `SELECT ${COLUMNS} FROM runs WHERE caller = ? ORDER BY created_at DESC, rowid DESC LIMIT ?`,
    );
    this.#titles = database.prepare('SELECT id, title FROM runs WHERE id = ? AND title IS NOT NULL');
    this.#idsFrom = database.prepare('SELECT id FROM runs WHERE id >= ? ORDER BY id LIMIT ?');
    this.#waiting = database.prepare(`SELECT ${COLUMNS} FROM runs WHERE state = 'waiting' ORDER BY created_at`);
    this.#setHolder = database.prepare('UPDATE runs SET holder = ? WHERE id = ?');
    this.#blobs = database.prepare('SELECT program, context, response, recording FROM runs WHERE id = ?');
    this.#end = database.prepare(
      `INSERT INTO runs (id, caller, profile, setting, code_digest, state, created_at, updated_at, response, recording,
          title, duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at,
          response = excluded.response, recording = excluded.recording, program = NULL, context = NULL, holder = NULL,
          title = coalesce(excluded.title, title), duration_ms = excluded.duration_ms`,
    );
    this.#forgetCalls = database.prepare('DELETE FROM run_calls WHERE run = ?');
    this.#forgetDeliveries = database.prepare('DELETE FROM run_deliveries WHERE run = ?');
    this.#putCall = database.prepare(
      `INSERT INTO run_calls (run, number, state, call) VALUES (?, ?, ?, ?)
        ON CONFLICT (run, number) DO UPDATE SET state = excluded.state`,
    );
    this.#putDelivery = database.prepare('INSERT INTO run_deliveries (run, position, delivery) VALUES (?, ?, ?)');
    this.#calls = database.prepare('SELECT number, state, call FROM run_calls WHERE run = ? ORDER BY number');
    this.#deliveries = database.prepare(
      'SELECT position, delivery FROM run_deliveries WHERE run = ? ORDER BY position',
    );
    this.#anyCall = database.prepare('SELECT 1 FROM run_calls LIMIT 1');
    this.#anyDelivery = database.prepare('SELECT 1 FROM run_deliveries LIMIT 1');
    this.#suspendedBytes = database.prepare(
      `SELECT coalesce(sum(length(program) + length(context)), 0) AS bytes FROM runs
        WHERE state = 'waiting' AND caller = ? AND id <> ?`,
    );
    // By their times alone, which the index has: of those that ended in the same millisecond all stay.
    this.#prune = database.prepare(
      `DELETE FROM runs WHERE caller = ?1 AND state <> 'waiting' AND created_at <
        (SELECT created_at FROM runs WHERE caller = ?1 ORDER BY created_at DESC LIMIT 1 OFFSET ?2)`,
    );
    this.#ended = database.prepare('SELECT count(*) AS count FROM runs');
    this.#greediest = database.prepare(
      'SELECT caller, count(*) AS count FROM runs GROUP BY caller ORDER BY count DESC LIMIT 1',
    );
  }

  /** Lets a run sleep. What happened to it since it slept last is in its memory now. Throws `quota_exceeded`. */
  putAway(run: SleepingRun, nowMs: number): void {
    const { id, caller, profile, setting, codeDigest, program, contextJson } = run;
    const context = this.#seal('context', [id], contextJson);
    const title = this.#seal('title', [id], run.title);
    this.#database.transaction(() => {
      this.#mustHaveRoom(caller, id, program.byteLength + context.byteLength);
      this.#putAway.run(id, caller, profile, setting, codeDigest, nowMs, nowMs, program, context, title);
      this.#forgetCalls.run(id);
      this.#forgetDeliveries.run(id);
    });
  }

  find(id: string): StoredRun | undefined {
    const row = this.#find.get(id);
    return row === undefined ? undefined : readRow(row);
  }

  /** The newest first; of one caller where one is named. */
  list(limit: number, caller?: string): StoredRun[] {
    return (caller === undefined ? this.#list.all(limit) : this.#listOf.all(caller, limit)).map(readRow);
  }

  /** The line by which a person knows the run again; undefined where none was stored, or it was not written by us. */
  titleOf(id: string): string | undefined {
    const title = this.#titles.get(id)?.title;
    return title === undefined ? undefined : this.#unseal('title', [id], title);
  }

  /** Ids that start with these characters, in order. */
  idsWith(prefix: string, limit: number): string[] {
    return this.#idsFrom
      .all(prefix, limit)
      .map(({ id }) => id)
      .filter((id) => id.startsWith(prefix));
  }

  waiting(): StoredRun[] {
    return this.#waiting.all().map(readRow);
  }

  /**
   * Takes a sleeping run for this process. Of two that try at once one gets it; one that was held by a process that is
   * gone can be taken over.
   */
  claim(id: string, holder: string, isAlive: (holder: string) => boolean): boolean {
    return this.#database.transaction(() => {
      const run = this.find(id);
      if (run?.state !== 'waiting') return false;
      if (run.holder !== undefined && run.holder !== holder && isAlive(run.holder)) return false;
      return this.#setHolder.run(holder, id) === 1;
    });
  }

  /** Gives it back as it sleeps. */
  release(id: string): void {
    this.#setHolder.run(null, id);
  }

  /** A sleeping run with everything; undefined where it does not sleep, or what is there was not written by us. */
  open(id: string): (Omit<SleepingRun, 'title'> & { readonly sinceThen: SinceThen }) | undefined {
    const run = this.find(id);
    const blobs = this.#blobs.get(id);
    if (run === undefined || blobs?.program == null || blobs.context === null) return undefined;
    const contextJson = this.#unseal('context', [id], blobs.context);
    const calls = this.#calls.all(id).map(({ number, state, call }) => ({
      number,
      isSent: state === 'sent',
      callJson: this.#unseal('call', [id, String(number)], call),
    }));
    const deliveries = this.#deliveries
      .all(id)
      .map(({ position, delivery }) => this.#unseal('delivery', [id, String(position)], delivery));
    const isWhole = contextJson !== undefined && deliveries.every((each) => each !== undefined);
    if (!isWhole || calls.some(({ callJson }) => callJson === undefined)) return undefined;
    return { ...run, program: blobs.program, contextJson, sinceThen: { calls, deliveries } as SinceThen };
  }

  /** A woken run makes a call: written down before anything comes of it. */
  callMade(id: string, number: number, callJson: string): void {
    this.#putCall.run(id, number, 'made', this.#seal('call', [id, String(number)], callJson));
  }

  /** From here on nobody knows whether it took effect, until its answer is written down. */
  callSent(id: string, number: number, callJson: string): void {
    this.#putCall.run(id, number, 'sent', this.#seal('call', [id, String(number)], callJson));
  }

  delivered(id: string, position: number, deliveryJson: string): void {
    this.#putDelivery.run(id, position, this.#seal('delivery', [id, String(position)], deliveryJson));
  }

  /** Runs have come to their ends: all of them are written down, or none is. */
  end(ends: readonly EndedRun[], nowMs: number): void {
    this.#database.transaction(() => {
      // Most runs have never slept, and most of the time none is awake that has.
      const isAnythingLeft = this.#anyCall.get() !== undefined || this.#anyDelivery.get() !== undefined;
      for (const end of ends) {
        const { id, caller, profile, setting, codeDigest, state, recordingJson, durationMs } = end;
        const response = this.#seal('response', [id], end.responseJson);
        const recording = recordingJson === undefined ? null : this.#seal('recording', [id], recordingJson);
        const title = end.title === undefined ? null : this.#seal('title', [id], end.title);
        const facts = [id, caller, profile, setting, codeDigest, state, nowMs, nowMs] as const;
        this.#end.run(...facts, response, recording, title, durationMs ?? null);
        if (isAnythingLeft) {
          this.#forgetCalls.run(id);
          this.#forgetDeliveries.run(id);
        }
        this.#pruneAfter(caller);
      }
    });
  }

  #mustHaveRoom(caller: string, id: string, bytes: number): void {
    const { suspended } = this.#quotas.limits;
    if ((this.#suspendedBytes.get(caller, id)?.bytes ?? 0) + bytes <= suspended) return;
    this.#quotas.countRefusal('suspended');
    const has = `your suspended runs take ${inMebibytes(suspended)}`;
    throw quotaExceeded('suspended', has, 'decide about those that wait for approval, or cancel them');
  }

  /** The oldest runs of this caller go, and where all callers together have too many, the oldest of the caller with the most. */
  #pruneAfter(caller: string): void {
    if (this.#ends.size > MAX_CALLERS_COUNTED) this.#ends.clear();
    const ends = this.#ends.get(caller) ?? 0;
    this.#ends.set(caller, ends + 1);
    if (ends % PRUNE_EVERY !== 0) return;
    this.#prune.run(caller, this.#quotas.limits.history - 1);
    const tooMany = (this.#ended.get()?.count ?? 0) - MAX_ENDED_RUNS;
    const greediest = tooMany > 0 ? this.#greediest.get() : undefined;
    if (greediest !== undefined) this.#prune.run(greediest.caller, Math.max(1, greediest.count - tooMany) - 1);
  }

  responseOf(id: string): string | undefined {
    const response = this.#blobs.get(id)?.response;
    return response == null ? undefined : this.#unseal('response', [id], response);
  }

  recordingOf(id: string): string | undefined {
    const recording = this.#blobs.get(id)?.recording;
    return recording == null ? undefined : this.#unseal('recording', [id], recording);
  }

  #seal(kind: string, owner: readonly string[], text: string): Buffer {
    return seal(this.#key, binding(kind, owner), Buffer.from(text));
  }

  #unseal(kind: string, owner: readonly string[], bytes: Uint8Array): string | undefined {
    return unseal(this.#key, binding(kind, owner), bytes)?.toString('utf8');
  }
}

function binding(kind: string, owner: readonly string[]): SealBinding {
  return { purpose: `run ${kind}`, owner };
}

function readRow(row: Row): StoredRun {
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
    holder: holder ?? undefined,
    durationMs: row.duration_ms ?? undefined,
  };
}
