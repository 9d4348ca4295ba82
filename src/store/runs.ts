import { CallerQuotas, inMebibytes, quotaExceeded } from '../domain/quotas.js';
import type { EndedState } from '../domain/run.js';
import { SEAL_BYTES, type SealBinding, seal, unseal } from '../lib/sealed.js';
import type { Database, Statement } from './database.js';

/** The states in the store: a queued or running run has no row, or its row is claimed by its host. */
export type StoredState = 'suspended' | EndedState;

/** The columns of a run that are not sealed. */
export interface StoredRun {
  readonly id: string;
  readonly caller: string;
  readonly profile: string;
  readonly setting: string;
  readonly codeDigest: string;
  readonly state: StoredState;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The process that has resumed it, which may have ended since. */
  readonly holder: string | undefined;
  /** Undefined until the run has ended, and for runs that an older version recorded. */
  readonly durationMs: number | undefined;
}

/** A suspended run: the program as the sandbox sealed it, and the host's own context. */
export interface SuspendedRun extends Pick<StoredRun, 'id' | 'caller' | 'profile' | 'setting' | 'codeDigest'> {
  readonly program: Uint8Array;
  readonly contextJson: string;
  /** A line of the program by which a person recognizes it. */
  readonly title: string;
}

/** How a run ended, with its recording if one is kept. */
export interface EndedRun extends Omit<SuspendedRun, 'program' | 'contextJson' | 'title'> {
  readonly state: EndedState;
  readonly responseJson: string;
  readonly recordingJson: string | undefined;
  /** What its recording shares with those of other runs; absent where it shares nothing. */
  readonly modules?: SharedModules | undefined;
  /** Both are undefined for a run that was cancelled while suspended: the stored values stay. */
  readonly title: string | undefined;
  readonly durationMs: number | undefined;
}

/** The modules that programs could import. They are stored once for all runs that name their digest. */
export interface SharedModules {
  readonly digest: string;
  readonly json: string;
}

export interface StoredRecording {
  readonly json: string;
  /** Undefined where the recording has its own. */
  readonly modulesJson: string | undefined;
}

/** What happened to a run after it was suspended, in the process that resumed it. */
export interface SinceThen {
  readonly calls: readonly { readonly number: number; readonly isSent: boolean; readonly callJson: string }[];
  /** In the order of delivery. */
  readonly deliveries: readonly string[];
}

/** Which runs a page shows. What is absent does not matter. */
export interface RunChoice {
  readonly states?: readonly StoredState[];
  readonly caller?: string;
  /** Runs of everybody else. */
  readonly exceptCallers?: readonly string[];
  readonly profile?: string;
  readonly sinceMs?: number;
  /** Runs that changed after this. */
  readonly updatedAfterMs?: number;
  /** The last run of the page before, by its place. */
  readonly after?: RunPlace;
}

export interface RunPlace {
  readonly createdAtMs: number;
  readonly rowid: number;
}

interface Row {
  id: string;
  caller: string;
  profile: string;
  setting: string;
  code_digest: string;
  state: StoredState;
  created_at: number;
  updated_at: number;
  holder: string | null;
  duration_ms: number | null;
}

interface CallRow {
  readonly number: number;
  readonly state: string;
  readonly call: Buffer;
}

type Blobs = Record<'program' | 'context' | 'response' | 'recording', Buffer | null> & { readonly caller: string };

const COLUMNS = 'id, caller, profile, setting, code_digest, state, created_at, updated_at, holder, duration_ms';
/** Ended runs kept for all callers together: the caller with the most loses the oldest. Suspended runs stay. */
const MAX_ENDED_RUNS = 20_000;
/** Answers and recordings of one caller's ended runs on disk; the oldest go first. */
const MAX_ENDED_BYTES = 1024 * 1024 * 1024;
/** They are summed up after so many bytes: quick runs have few, and deleting this much blocks the host for about 20 ms. */
const SUM_EVERY_BYTES = 16 * 1024 * 1024;
/** Pruning runs after this many ends, so that many more may be stored. Deleting them blocks the host for about 1 ms. */
const PRUNE_EVERY = 50;
/** Callers with their own counter of ended runs. */
const MAX_CALLERS_COUNTED = 1_000;

/** Suspended runs, which outlive their process, and the history of ended runs. Their contents are sealed. */
export class RunStore {
  readonly #database: Database;
  readonly #key: Uint8Array;
  readonly #suspend: Statement<never>;
  readonly #find: Statement<Row>;
  readonly #list: Statement<Row>;
  readonly #listOf: Statement<Row>;
  readonly #lastOf: Statement<Row>;
  readonly #suspended: Statement<Row>;
  readonly #setHolder: Statement<never>;
  readonly #titles: Statement<{ caller: string; title: Buffer }>;
  readonly #idsFrom: Statement<{ id: string }>;
  readonly #blobs: Statement<Blobs>;
  readonly #recording: Statement<{
    caller: string;
    recording: Buffer | null;
    digest: string | null;
    modules: Buffer | null;
  }>;
  readonly #hasModules: Statement<object>;
  readonly #putModules: Statement<never>;
  readonly #pruneModules: Statement<never>;
  readonly #end: Statement<never>;
  readonly #forgetCalls: Statement<never>;
  readonly #forgetDeliveries: Statement<never>;
  readonly #putCall: Statement<never>;
  readonly #putDelivery: Statement<never>;
  readonly #calls: Statement<CallRow>;
  readonly #deliveries: Statement<{ position: number; delivery: Buffer }>;
  readonly #anyCall: Statement<object>;
  readonly #anyDelivery: Statement<object>;
  readonly #suspendedBytes: Statement<{ bytes: number }>;
  readonly #prune: Statement<never>;
  readonly #pruneBytes: Statement<never>;
  readonly #ended: Statement<{ count: number }>;
  readonly #greediest: Statement<{ caller: string; count: number }>;
  readonly #quotas: CallerQuotas;
  readonly #ends = new Map<string, { readonly count: number; readonly bytes: number }>();
  readonly #maxEndedBytes: number;

  constructor(database: Database, key: Uint8Array, quotas = new CallerQuotas(), maxEndedBytes = MAX_ENDED_BYTES) {
    this.#maxEndedBytes = maxEndedBytes;
    this.#database = database;
    this.#key = key;
    this.#quotas = quotas;
    this.#suspend = database.prepare(
      `INSERT INTO runs (id, caller, profile, setting, code_digest, state, created_at, updated_at, program, context, title)
        VALUES (?, ?, ?, ?, ?, 'suspended', ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, program = excluded.program,
          context = excluded.context, holder = NULL`,
    );
    this.#find = database.prepare(`SELECT ${COLUMNS} FROM runs WHERE id = ?`);
    // Of runs stored in the same millisecond, the last one written is the newest.
    this.#list = database.prepare(`SELECT ${COLUMNS} FROM runs ORDER BY created_at DESC, rowid DESC LIMIT ?`);
    this.#listOf = database.prepare(
      `SELECT ${COLUMNS} FROM runs WHERE caller = ? ORDER BY created_at DESC, rowid DESC LIMIT ?`,
    );
    this.#lastOf = database.prepare(
      `SELECT ${COLUMNS} FROM runs WHERE caller = ? AND profile = ? AND code_digest = ?
        ORDER BY created_at DESC, rowid DESC LIMIT 1`,
    );
    this.#titles = database.prepare('SELECT caller, title FROM runs WHERE id = ? AND title IS NOT NULL');
    this.#idsFrom = database.prepare('SELECT id FROM runs WHERE id >= ? ORDER BY id LIMIT ?');
    this.#suspended = database.prepare(`SELECT ${COLUMNS} FROM runs WHERE state = 'suspended' ORDER BY created_at`);
    this.#setHolder = database.prepare('UPDATE runs SET holder = ? WHERE id = ?');
    this.#blobs = database.prepare('SELECT caller, program, context, response, recording FROM runs WHERE id = ?');
    this.#end = database.prepare(
      `INSERT INTO runs (id, caller, profile, setting, code_digest, state, created_at, updated_at, response, recording,
          modules, title, duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at,
          response = excluded.response, recording = excluded.recording, modules = excluded.modules, program = NULL,
          holder = NULL,
          -- A run that is cancelled while suspended has no recording: its context has the program and the calls.
          context = CASE excluded.state WHEN 'cancelled' THEN context END,
          title = coalesce(excluded.title, title), duration_ms = excluded.duration_ms`,
    );
    this.#recording = database.prepare(
      `SELECT caller, recording, runs.modules AS digest, run_modules.modules AS modules
        FROM runs LEFT JOIN run_modules ON run_modules.digest = runs.modules WHERE id = ?`,
    );
    this.#hasModules = database.prepare('SELECT 1 FROM run_modules WHERE digest = ?');
    this.#putModules = database.prepare('INSERT INTO run_modules (digest, modules) VALUES (?, ?)');
    this.#pruneModules = database.prepare(
      'DELETE FROM run_modules WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.modules = run_modules.digest)',
    );
    this.#forgetCalls = database.prepare('DELETE FROM run_calls WHERE run = ?');
    this.#forgetDeliveries = database.prepare('DELETE FROM run_deliveries WHERE run = ?');
    this.#putCall = database.prepare(
      `INSERT INTO run_calls (run, number, state, call) VALUES (?, ?, ?, ?)
        ON CONFLICT (run, number) DO UPDATE SET state = excluded.state, call = excluded.call`,
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
        WHERE state = 'suspended' AND caller = ? AND id <> ?`,
    );
    // Compares only times, which are in the index: of runs with the same millisecond all stay.
    this.#prune = database.prepare(
      `DELETE FROM runs WHERE caller = ?1 AND state <> 'suspended' AND created_at <
        (SELECT created_at FROM runs WHERE caller = ?1 ORDER BY created_at DESC LIMIT 1 OFFSET ?2)`,
    );
    this.#pruneBytes = database.prepare(
      `DELETE FROM runs WHERE rowid IN (SELECT row FROM (SELECT rowid AS row,
          sum(coalesce(length(response), 0) + coalesce(length(recording), 0)) OVER (ORDER BY created_at DESC, rowid DESC) AS bytes
          FROM runs WHERE caller = ? AND state <> 'suspended') WHERE bytes > ?)`,
    );
    this.#ended = database.prepare('SELECT count(*) AS count FROM runs');
    this.#greediest = database.prepare(
      'SELECT caller, count(*) AS count FROM runs GROUP BY caller ORDER BY count DESC LIMIT 1',
    );
  }

  /** Stores a suspended run. Earlier calls and deliveries are deleted: the new image contains them. Throws `quota_exceeded`. */
  suspend(run: SuspendedRun, nowMs: number): void {
    const { id, caller, profile, setting, codeDigest, program, contextJson } = run;
    const context = this.#seal('context', [id, caller], contextJson);
    const title = this.#seal('title', [id, caller], run.title);
    this.#database.transaction(() => {
      this.#mustHaveRoom(caller, id, program.byteLength + context.byteLength);
      this.#suspend.run(id, caller, profile, setting, codeDigest, nowMs, nowMs, program, context, title);
      this.#forgetCalls.run(id);
      this.#forgetDeliveries.run(id);
    });
  }

  find(id: string): StoredRun | undefined {
    const row = this.#find.get(id);
    return row === undefined ? undefined : readRow(row);
  }

  /** The newest first; only those of `caller`, if given. */
  list(limit: number, caller?: string): StoredRun[] {
    return (caller === undefined ? this.#list.all(limit) : this.#listOf.all(caller, limit)).map(readRow);
  }

  /** The last run of a program. */
  lastOf({ caller, profile, codeDigest }: Pick<StoredRun, 'caller' | 'profile' | 'codeDigest'>): StoredRun | undefined {
    const row = this.#lastOf.get(caller, profile, codeDigest);
    return row === undefined ? undefined : readRow(row);
  }

  /** A page, the newest first, with the place of each. */
  page(choice: RunChoice, limit: number): (StoredRun & { readonly place: RunPlace })[] {
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
      .prepare<Row & { place: number }>(
        `SELECT ${COLUMNS}, rowid AS place FROM runs WHERE ${where} ORDER BY created_at DESC, rowid DESC LIMIT ?`,
      )
      .all(...used.flatMap(([, values]) => values), limit)
      .map((row) => ({ ...readRow(row), place: { createdAtMs: row.created_at, rowid: row.place } }));
  }

  /** Bytes of the answers that runs of a time gave, by day (UTC) and in all, without unsealing them. */
  answersByDay(
    sinceMs: number,
    exceptCallers: readonly string[] = [],
  ): { readonly day: string; readonly runs: number; readonly bytes: number }[] {
    return this.#database
      .prepare<{ day: string; runs: number; bytes: number }>(
        `SELECT date(updated_at / 1000, 'unixepoch') AS day, count(*) AS runs,
          coalesce(sum(max(0, length(response) - ${SEAL_BYTES})), 0) AS bytes
          FROM runs WHERE state <> 'suspended' AND updated_at >= ? AND caller NOT IN (${exceptCallers.map(() => '?').join(', ')})
          GROUP BY day ORDER BY day`,
      )
      .all(sinceMs, ...exceptCallers);
  }

  /** The line by which a person recognizes the run; undefined if none was stored, or if its seal does not match. */
  titleOf(id: string): string | undefined {
    const row = this.#titles.get(id);
    return row === undefined ? undefined : this.#unsealOf('title', { id, caller: row.caller }, row.title);
  }

  /** Ids that start with these characters, in order. */
  idsWith(prefix: string, limit: number): string[] {
    return this.#idsFrom
      .all(prefix, limit)
      .map(({ id }) => id)
      .filter((id) => id.startsWith(prefix));
  }

  suspended(): StoredRun[] {
    return this.#suspended.all().map(readRow);
  }

  /**
   * Claims a suspended run for this process. If two processes try at once, one gets it; a run claimed by a process that
   * has ended can be taken over.
   */
  claim(id: string, holder: string, isAlive: (holder: string) => boolean): boolean {
    return this.#database.transaction(() => {
      const run = this.find(id);
      if (run?.state !== 'suspended') return false;
      if (run.holder !== undefined && run.holder !== holder && isAlive(run.holder)) return false;
      return this.#setHolder.run(holder, id) === 1;
    });
  }

  /** Gives up the claim; the run stays suspended. */
  release(id: string): void {
    this.#setHolder.run(null, id);
  }

  /** A suspended run with its contents; undefined if it is not suspended, or if a seal does not match. */
  open(id: string): (Omit<SuspendedRun, 'title'> & { readonly sinceThen: SinceThen }) | undefined {
    const run = this.find(id);
    const blobs = this.#blobs.get(id);
    if (run === undefined || blobs?.program == null || blobs.context === null) return undefined;
    const contextJson = this.#unsealOf('context', run, blobs.context);
    const calls = this.#calls.all(id).map((made) => ({
      number: made.number,
      isSent: made.state === 'sent',
      callJson: this.#callOf(id, made),
    }));
    const deliveries = this.#deliveries
      .all(id)
      .map(({ position, delivery }) => this.#unseal('delivery', [id, String(position)], delivery));
    const isWhole = contextJson !== undefined && deliveries.every((each) => each !== undefined);
    if (!isWhole || calls.some(({ callJson }) => callJson === undefined)) return undefined;
    return { ...run, program: blobs.program, contextJson, sinceThen: { calls, deliveries } as SinceThen };
  }

  /** What is stored of a suspended run, or of one that was cancelled while it was, besides its image. */
  contextOf(id: string): { readonly contextJson: string; readonly calls: readonly string[] } | undefined {
    const row = this.#blobs.get(id);
    if (row?.context == null) return undefined;
    const contextJson = this.#unsealOf('context', { id, caller: row.caller }, row.context);
    if (contextJson === undefined) return undefined;
    const calls = this.#calls.all(id).map((made) => this.#callOf(id, made));
    return { contextJson, calls: calls.filter((each) => each !== undefined) };
  }

  /** The seal has the state: nobody makes a call that was sent into one that was not, which would be sent again. */
  #callOf(id: string, { number, state, call }: CallRow): string | undefined {
    return this.#unseal('call', [id, String(number), state], call) ?? this.#unseal('call', [id, String(number)], call);
  }

  /** A resumed run makes a call: recorded before anything else happens with it. */
  callMade(id: string, number: number, callJson: string): void {
    this.#putCall.run(id, number, 'made', this.#seal('call', [id, String(number), 'made'], callJson));
  }

  /** From here on the outcome is unknown, until the answer is recorded. */
  callSent(id: string, number: number, callJson: string): void {
    this.#putCall.run(id, number, 'sent', this.#seal('call', [id, String(number), 'sent'], callJson));
  }

  delivered(id: string, position: number, deliveryJson: string): void {
    this.#putDelivery.run(id, position, this.#seal('delivery', [id, String(position)], deliveryJson));
  }

  /** Records the ends of runs, all of them or none. */
  end(ends: readonly EndedRun[], nowMs: number): void {
    this.#database.transaction(() => {
      // Most runs were never suspended, and usually no resumed run is in progress.
      const isAnythingLeft = this.#anyCall.get() !== undefined || this.#anyDelivery.get() !== undefined;
      for (const end of ends) {
        const { id, caller, profile, setting, codeDigest, state, recordingJson, durationMs } = end;
        const response = this.#seal('response', [id, caller], end.responseJson);
        const recording = recordingJson === undefined ? null : this.#seal('recording', [id, caller], recordingJson);
        const title = end.title === undefined ? null : this.#seal('title', [id, caller], end.title);
        const modules = recording === null ? undefined : end.modules;
        if (modules !== undefined && this.#hasModules.get(modules.digest) === undefined)
          this.#putModules.run(modules.digest, this.#seal('modules', [modules.digest], modules.json));
        const facts = [id, caller, profile, setting, codeDigest, state, nowMs, nowMs] as const;
        this.#end.run(...facts, response, recording, modules?.digest ?? null, title, durationMs ?? null);
        if (isAnythingLeft) {
          this.#forgetCalls.run(id);
          this.#forgetDeliveries.run(id);
        }
        this.#pruneAfter(caller, response.byteLength + (recording?.byteLength ?? 0));
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

  /** Deletes the oldest runs of this caller and, if all callers together have too many, the oldest of the caller with the most. */
  #pruneAfter(caller: string, added: number): void {
    if (this.#ends.size > MAX_CALLERS_COUNTED) this.#ends.clear();
    const { count: ends, bytes: before } = this.#ends.get(caller) ?? { count: 0, bytes: 0 };
    const isMuch = before + added > Math.min(SUM_EVERY_BYTES, this.#maxEndedBytes / 2);
    this.#ends.set(caller, { count: ends + 1, bytes: isMuch ? 0 : before + added });
    if (isMuch) this.#pruneBytes.run(caller, this.#maxEndedBytes);
    if (ends % PRUNE_EVERY !== 0) return;
    this.#prune.run(caller, this.#quotas.limits.history - 1);
    const tooMany = (this.#ended.get()?.count ?? 0) - MAX_ENDED_RUNS;
    const greediest = tooMany > 0 ? this.#greediest.get() : undefined;
    if (greediest !== undefined) this.#prune.run(greediest.caller, Math.max(1, greediest.count - tooMany) - 1);
    this.#pruneModules.run();
  }

  /** The answer of this run of this caller: moved to another caller it does not open. */
  responseOf(run: Pick<StoredRun, 'id' | 'caller'>): string | undefined {
    const response = this.#blobs.get(run.id)?.response;
    return response == null ? undefined : this.#unsealOf('response', run, response);
  }

  /** Undefined if none was kept, or if a seal does not match. */
  recordingOf(id: string): StoredRecording | undefined {
    const row = this.#recording.get(id);
    if (row?.recording == null) return undefined;
    const { caller, recording, digest, modules } = row;
    const json = this.#unsealOf('recording', { id, caller }, recording);
    const modulesJson = digest === null || modules === null ? undefined : this.#unseal('modules', [digest], modules);
    const isWhole = json !== undefined && (digest === null || modulesJson !== undefined);
    return isWhole ? { json, modulesJson } : undefined;
  }

  #seal(kind: string, owner: readonly string[], text: string): Buffer {
    return seal(this.#key, binding(kind, owner), Buffer.from(text));
  }

  /** Earlier versions bound it to the run alone. */
  #unsealOf(kind: string, { id, caller }: Pick<StoredRun, 'id' | 'caller'>, bytes: Uint8Array): string | undefined {
    return this.#unseal(kind, [id, caller], bytes) ?? this.#unseal(kind, [id], bytes);
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
