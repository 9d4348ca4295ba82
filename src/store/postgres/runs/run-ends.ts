import type { RunSeals } from '../../run-seals.js';
import type { EndedRun, SharedModules } from '../../runs.js';
import type { Postgres, Sql } from '../database/connection.js';
import { addJobs, cleanUpJob } from '../queue/jobs.js';

/** How long a host assumes that the modules of a recording are stored. Unreferenced modules are kept for longer. */
const MODULES_KNOWN_MS = 10 * 60_000;
const MAX_MODULES_KNOWN = 1_000;
/** The oldest runs of a caller are deleted each time this many runs have ended. */
const PRUNE_EVERY = 50;
const MAX_CALLERS_COUNTED = 1_000;

/** Writes how runs ended, one batch in one statement. */
export class RunEnds {
  readonly #postgres: Postgres;
  readonly #seals: RunSeals;
  readonly #hostId: string;
  readonly #modules = new Map<string, number>();
  readonly #counts = new Map<string, number>();

  constructor(postgres: Postgres, seals: RunSeals, hostId: string) {
    this.#postgres = postgres;
    this.#seals = seals;
    this.#hostId = hostId;
  }

  /** Returns the ids of runs that another host has taken over. */
  async write(ends: readonly EndedRun[], nowMs: number): Promise<string[]> {
    const resumed = ends.flatMap(({ id, lease }) => (lease === undefined ? [] : [id]));
    const modules = this.#newModules(ends, nowMs);
    const work = async (sql: Sql) => {
      for (const { digest, json } of modules) await this.#putModules(sql, digest, json);
      const written = await this.#put(sql, ends, nowMs);
      if (resumed.length > 0) await forgetProgress(sql, resumed);
      return written;
    };
    const isOne = modules.length + resumed.length === 0;
    const written = new Set(await (isOne ? work(this.#postgres) : this.#postgres.transaction(work)));
    for (const { digest } of modules) this.#modules.set(digest, nowMs);
    this.#countEnds(ends);
    return ends.flatMap(({ id }) => (written.has(id) ? [] : [id]));
  }

  async #put(sql: Sql, ends: readonly EndedRun[], nowMs: number): Promise<string[]> {
    const column = <Value>(of: (end: EndedRun) => Value) => ends.map(of);
    const sealed = (kind: 'response' | 'recording' | 'title', textOf: (end: EndedRun) => string | undefined) =>
      column((end) => {
        const text = textOf(end);
        return text === undefined ? null : this.#seals.seal(kind, end, text);
      });
    const rows = await sql.query<{ id: string }>(
      `INSERT INTO codemode.runs (id, caller, profile, setting, code_digest, state, fence, response, recording, title,
          modules, duration_ms, calls, tool_bytes, created_at, updated_at)
        SELECT *, $16::bigint FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[],
          $6::text[], $7::bigint[], $8::bytea[], $9::bytea[], $10::bytea[], $11::text[], $12::float8[],
          $13::bigint[], $14::bigint[], $15::bigint[])
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, updated_at = excluded.updated_at,
          response = excluded.response, recording = excluded.recording, modules = excluded.modules, program = NULL,
          lease_owner = NULL, is_ready = false, bytes = 0,
          -- A run that is cancelled while suspended has no recording: its context has the program and the calls.
          context = CASE excluded.state WHEN 'cancelled' THEN runs.context END,
          title = coalesce(excluded.title, runs.title), duration_ms = excluded.duration_ms,
          calls = excluded.calls, tool_bytes = excluded.tool_bytes
        WHERE runs.state = 'suspended' AND runs.fence = excluded.fence AND runs.lease_owner = $17
        RETURNING id`,
      [
        column(({ id }) => id),
        column(({ caller }) => caller),
        column(({ profile }) => profile),
        column(({ setting }) => setting),
        column(({ codeDigest }) => codeDigest),
        column(({ state }) => state),
        column(({ lease }) => lease?.fence ?? 0),
        sealed('response', ({ responseJson }) => responseJson),
        sealed('recording', ({ recordingJson }) => recordingJson),
        sealed('title', ({ title }) => title),
        column(({ recordingJson, modules }) => (recordingJson === undefined ? null : (modules?.digest ?? null))),
        column(({ durationMs }) => durationMs ?? null),
        column(({ figures }) => figures?.calls ?? null),
        column(({ figures }) => figures?.toolBytes ?? null),
        column(({ createdAtMs }) => createdAtMs),
        nowMs,
        this.#hostId,
      ],
    );
    return rows.map(({ id }) => id);
  }

  /** The modules that are not stored yet, as far as this host knows. */
  #newModules(ends: readonly EndedRun[], nowMs: number): SharedModules[] {
    if (this.#modules.size > MAX_MODULES_KNOWN) this.#modules.clear();
    const named = ends.flatMap(({ modules, recordingJson }) =>
      modules === undefined || recordingJson === undefined ? [] : [[modules.digest, modules] as const],
    );
    return [...new Map(named).values()].filter(
      ({ digest }) => nowMs - (this.#modules.get(digest) ?? Number.NEGATIVE_INFINITY) > MODULES_KNOWN_MS,
    );
  }

  async #putModules(sql: Sql, digest: string, json: string): Promise<void> {
    await sql.change(
      `INSERT INTO codemode.run_modules (digest, modules) VALUES ($1, $2) ON CONFLICT (digest) DO UPDATE SET saved_at = now()`,
      [digest, this.#seals.sealModules(digest, json)],
    );
  }

  #countEnds(ends: readonly EndedRun[]): void {
    if (this.#counts.size > MAX_CALLERS_COUNTED) this.#counts.clear();
    for (const { caller } of ends) {
      const count = (this.#counts.get(caller) ?? 0) + 1;
      this.#counts.set(caller, count);
      // Not awaited. If it fails, it is repeated after the next ends.
      if (count % PRUNE_EVERY === 0) addJobs(this.#postgres, [cleanUpJob(caller)]).catch(() => {});
    }
  }
}

/** The progress since a run was suspended is useless once the run has ended. Runs that are still suspended keep it. */
async function forgetProgress(sql: Sql, ids: readonly string[]): Promise<void> {
  for (const table of ['run_calls', 'run_deliveries'])
    await sql.change(
      `DELETE FROM codemode.${table} WHERE run IN (SELECT id FROM codemode.runs WHERE id = ANY($1) AND state <> 'suspended')`,
      [ids],
    );
}
