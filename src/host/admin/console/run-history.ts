import type { AuditRecord } from '../../../domain/audit.js';
import type {
  CallArguments,
  DeliveryPage,
  ExportedRun,
  ReplayedRun,
  RunDetail,
  RunItem,
  RunPage,
  RunQuery,
} from '../../../domain/console/runs.js';
import { HostError } from '../../../domain/errors.js';
import type { JsonValue } from '../../../domain/json.js';
import { OWN_CALLERS } from '../../../domain/own-callers.js';
import { VERSION } from '../../../domain/version.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import type { PresenceStore } from '../../../store/presence.js';
import type { RunChoice, StoredState } from '../../../store/runs.js';
import type { Host } from '../../host.js';
import type { RecordedCall } from '../../recordings/recorded-call.js';
import { type AnyRecording, encodeRecording } from '../../recordings/recording.js';
import type { RunNotes } from '../../recordings/run-notes.js';
import { programTitle } from '../../runs/program-title.js';
import type { RunView } from '../../runs/run-view.js';
import type { SuspendedRuns } from '../../runs/suspended-runs.js';
import type { AuditLog } from '../audit-log.js';
import { cutText, cutValue } from './cut-value.js';
import { EXPORT_FORMAT } from './export-format.js';
import { deliveryView, factsOf } from './recorded-run.js';
import { type RunDetailParts, runDetail } from './run-detail.js';
import { ENDED, hasText, liveItem, problemIn, type RunInFlight, storedItem } from './run-items.js';
import { readPlace, writePlace } from './run-place.js';
import { suspendedFacts } from './suspended-facts.js';

export interface RunHistoryParts extends RunDetailParts {
  readonly host: Host;
  readonly suspended: SuspendedRuns;
  /** In-flight runs of other processes. */
  readonly presence: () => Promise<Pick<PresenceStore, 'runs' | 'find' | 'askToCancel'>>;
  /** Absent if nothing is recorded. */
  readonly audit?: () => Promise<AuditLog>;
}

/** A tool call that a program made, with its arguments. */
export interface PastCall extends RecordedCall {
  readonly runId: string;
  readonly caller: string;
  readonly profile: string;
}

/** The number of ended runs searched for calls. */
const MAX_PAST_RUNS = 500;
const DEFAULT_PAGE = 50;
const MAX_PAGE = 200;
/** Titles are sealed in the store, so a search opens each of them. The most runs searched for one page. */
const SEARCHED_RUNS = 2_000;
const MAX_AUDIT_RECORDS = 12_000;
const MAX_DELIVERIES = 500;
const ARGUMENTS_CHARACTERS = 512 * 1024;
const BODY_CHARACTERS = 4 * 1024 * 1024;
const MAX_LOGS = 5_000;
const MAX_UNDER_WAY = 200;

/** Runs for people: in-flight runs of every process, and stored runs. */
export class RunHistory {
  readonly #parts: RunHistoryParts;

  constructor(parts: RunHistoryParts) {
    this.#parts = parts;
  }

  async page(query: RunQuery): Promise<RunPage> {
    const { state, text, limit = DEFAULT_PAGE, cursor } = query;
    const most = Math.max(1, Math.min(MAX_PAGE, limit));
    // A run that another process has resumed is stored as suspended. The difference is found when the run is read.
    const states = state === 'running' ? ['suspended' as const] : state === undefined ? undefined : [state];
    if (states?.[0] === 'queued') return { runs: [] };
    const choice: RunChoice = {
      ...omitUndefined({
        states: states as StoredState[] | undefined,
        caller: query.caller,
        profile: query.profile,
        sinceMs: query.sinceMs,
      }),
    };
    const isFiltered = text !== undefined || state === 'running' || state === 'suspended';
    // In-flight runs come with the first page and do not count towards its size.
    const live = cursor === undefined ? await this.#live(query) : [];
    const found: RunItem[] = [];
    let after = cursor === undefined ? undefined : readPlace(cursor);
    for (let seen = 0; ; ) {
      const asked = isFiltered ? MAX_PAGE : most;
      const rows = await this.#parts.suspended.page({ ...choice, ...omitUndefined({ after }) }, asked);
      for (const row of rows) {
        if (found.length >= most) break;
        after = row.place;
        seen++;
        const item = storedItem(row);
        const isMeant = (state === undefined || item.state === state) && hasText(item, text);
        if (isMeant && !live.some(({ runId }) => runId === item.runId)) found.push(item);
      }
      const isLast = rows.length === 0 || (rows.length < asked && rows.at(-1)?.place.rowid === after?.rowid);
      if (!isLast && found.length < most && seen < SEARCHED_RUNS) continue;
      return { runs: [...live, ...(await this.#withProblems(found))], ...(isLast ? {} : cursorOf(after)) };
    }
  }

  /** Stored runs that changed after this time, and in-flight runs. */
  async changedSince(updatedAfterMs: number, limit: number): Promise<RunItem[]> {
    const rows = await this.#parts.suspended.page({ updatedAfterMs }, limit);
    return this.#withProblems(rows.map(storedItem));
  }

  /** Titles by which people recognise runs, for stored and in-flight runs. */
  async titlesOf(runIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const live = (await this.#live({})).flatMap(({ runId, title }) =>
      title === undefined ? [] : [[runId, title] as const],
    );
    return new Map([...live, ...(await this.#parts.suspended.titlesOf(runIds))]);
  }

  /** Tool calls of ended runs, newest first, as far as their recordings are kept. */
  async pastCalls(limit: number): Promise<PastCall[]> {
    const runs = await this.#parts.suspended.page({ states: ENDED, exceptCallers: OWN_CALLERS }, MAX_PAST_RUNS);
    const calls: PastCall[] = [];
    for (const { runId, caller, profile } of runs) {
      const recorded = (await this.#recordingOf(runId))?.calls ?? [];
      const ofTools = recorded.filter(({ toolDigest }) => toolDigest !== undefined).reverse();
      calls.push(...ofTools.map((call) => ({ ...call, runId, caller, profile })));
      if (calls.length >= limit) break;
    }
    return calls.slice(0, limit);
  }

  /** In-flight runs. */
  liveItems(): Promise<RunItem[]> {
    return this.#live({});
  }

  /** Throws `not_found`. */
  async detail(runId: string): Promise<RunDetail> {
    const live = this.#parts.host.live.find(runId);
    if (live !== undefined) {
      const title = this.#parts.redactor.text(programTitle(live.source));
      return this.#liveDetail({ ...live, title }, live.soFar?.());
    }
    const elsewhere = await (await this.#parts.presence()).find(runId);
    const view = await this.#parts.suspended.show(runId).catch((error: unknown) => {
      if (elsewhere !== undefined) return undefined;
      return forgetful(runId)(error);
    });
    if (view === undefined) return this.#liveDetail(elsewhere as NonNullable<typeof elsewhere>);
    const recording = await this.#recordingOf(runId);
    const facts =
      recording === undefined ? await suspendedFacts(this.#parts.suspended, view.runId) : factsOf(recording);
    const note = recording === undefined ? noteFor(view.state) : undefined;
    return runDetail({ view, facts, recordingNote: note, audit: await this.#auditOf(runId) }, this.#parts);
  }

  async deliveries(runId: string, from: number, limit: number): Promise<DeliveryPage> {
    const { deliveries, startedAtMs = 0 } = factsOf(await this.#mustRecord(runId));
    const most = Math.max(1, Math.min(MAX_DELIVERIES, limit));
    const shown = deliveries.slice(from, from + most).map((each, index) => deliveryView(each, from + index));
    const { redactor } = this.#parts;
    return {
      deliveries: shown.map((each) =>
        'preview' in each ? { ...each, preview: redactor.text(each.preview ?? '') } : each,
      ),
      total: deliveries.length,
      startedAtMs,
    };
  }

  async delivery(runId: string, position: number): Promise<{ readonly body: string; readonly isCut: boolean }> {
    const delivery = factsOf(await this.#mustRecord(runId)).deliveries[position];
    if (delivery === undefined)
      throw new HostError('not_found', `run ${runId} has no delivery ${position}; load the run again`);
    const text = 'body' in delivery ? Buffer.from(delivery.body).toString('utf8') : '';
    const body = cutText(text, BODY_CHARACTERS);
    return { body: this.#parts.redactor.text(body), isCut: body.length < text.length };
  }

  async callArguments(runId: string, number: number): Promise<CallArguments> {
    const recording = await this.#recordingOf(runId);
    const facts = recording === undefined ? await this.#factsOfSuspended(runId) : factsOf(recording);
    const nested = facts?.notes?.scripts?.flatMap(({ calls }) => calls) ?? [];
    const call = [...(facts?.calls ?? []), ...nested].find((each) => each.number === number);
    if (call === undefined)
      throw new HostError('not_found', `the arguments of call ${number} of run ${runId} are not kept`);
    const { value, isCut } = cutValue(call.argumentsJson, ARGUMENTS_CHARACTERS);
    // Programs pass a tool one argument. A person searches for its fields.
    const [only, ...others] = Array.isArray(value) ? value : [value];
    const shown = others.length === 0 && only !== undefined ? only : value;
    return { arguments: this.#parts.redactor.bulk(shown), isCut, bytes: Buffer.byteLength(call.argumentsJson) };
  }

  /** The program for the playground. Throws `not_found`. */
  async program(runId: string) {
    const { program, profile, recordingNote } = await this.detail(runId);
    if (program === undefined)
      throw new HostError('not_found', recordingNote ?? `the program of run ${runId} is not kept`);
    return { source: program.source, language: program.language, profile };
  }

  async replay(runId: string): Promise<ReplayedRun> {
    const recording = await this.#mustRecord(runId);
    const { isSame, difference } = await this.#parts.host.replay(recording);
    const { logs, lines } = await this.#parts.host.traceRecorded(recording);
    return {
      ...{ isSame, logs: logs.slice(0, MAX_LOGS), lines },
      ...omitUndefined({ difference }),
    };
  }

  async export(runId: string): Promise<ExportedRun> {
    const run = await this.detail(runId);
    const recording = await this.#recordingOf(runId);
    if (recording === undefined) return { format: EXPORT_FORMAT, version: VERSION, run, deliveries: [] };
    const { deliveries } = factsOf(recording);
    return {
      ...{ format: EXPORT_FORMAT, version: VERSION, run },
      deliveries: deliveries.map(deliveryView),
      recording: JSON.parse(encodeRecording(recording)) as JsonValue,
    };
  }

  /** Cancels a suspended or in-flight run. A run of another process is cancelled within a second. */
  async cancel(runId: string): Promise<RunDetail> {
    const { host } = this.#parts;
    const live = host.live.find(runId);
    const presence = await this.#parts.presence();
    // Asked first: a run that has just been suspended is listed as in flight until its host polls again.
    const isStored = await host.runState(runId).then(
      () => true,
      () => false,
    );
    if (live !== undefined) live.cancel();
    else if (!isStored && (await presence.find(runId)) !== undefined) await presence.askToCancel(runId);
    else await host.cancelRun(runId).catch(forgetful(runId));
    return this.detail(runId);
  }

  async resume(runId: string): Promise<RunDetail> {
    await this.#parts.host.resume(runId).catch(forgetful(runId));
    return this.detail(runId);
  }

  async #live({ state, caller, profile, text, sinceMs }: RunQuery): Promise<RunItem[]> {
    if (state !== undefined && state !== 'running') return [];
    const here = this.#parts.host.live
      .list()
      .map((run): RunInFlight => ({ ...run, title: this.#parts.redactor.text(programTitle(run.source)) }));
    const known = new Set(here.map(({ runId }) => runId));
    const present = await (await this.#parts.presence()).runs(MAX_UNDER_WAY);
    const elsewhere = present.filter(({ runId }) => !known.has(runId));
    const runs = [...here, ...elsewhere];
    const { approvals } = this.#parts.host;
    const items = runs.map(async (run) => {
      const pending = (await approvals.ofRun(run.runId)).filter(({ state: now }) => now === 'PENDING');
      return liveItem(run, pending.length);
    });
    return (await Promise.all(items))
      .filter((item) => caller === undefined || item.caller === caller)
      .filter((item) => profile === undefined || item.profile === profile)
      .filter((item) => sinceMs === undefined || item.createdAtMs >= sinceMs)
      .filter((item) => hasText(item, text))
      .sort((left, right) => right.createdAtMs - left.createdAtMs)
      .slice(0, MAX_UNDER_WAY);
  }

  async #liveDetail(
    run: RunInFlight & { readonly source: string },
    soFar?: { readonly calls: readonly RecordedCall[]; readonly notes: RunNotes },
  ): Promise<RunDetail> {
    const { runId, caller, profile, title, createdAtMs } = run;
    const approvals = await this.#parts.host.approvals.ofRun(runId);
    const view: RunView = {
      ...{ runId, state: 'running', caller, profile, title, createdAtMs, updatedAtMs: createdAtMs },
      ...{ durationMs: undefined, response: null, approvals },
    };
    const program = { source: run.source, language: 'typescript', codeDigest: '' } as const;
    const facts = { program, startedAtMs: createdAtMs, calls: soFar?.calls ?? [], notes: soFar?.notes ?? {} };
    const audit = await this.#auditOf(runId);
    return runDetail({ view, facts, recordingNote: noteFor('running'), audit }, this.#parts);
  }

  /** Adds the reason to failed runs, so that nobody opens ten of them to find one. */
  #withProblems(items: readonly RunItem[]): Promise<RunItem[]> {
    return Promise.all(
      items.map(async (item) => {
        if (item.state !== 'failed') return item;
        const problem = problemIn(await this.#parts.suspended.responseOf({ id: item.runId, caller: item.caller }));
        return problem === undefined ? item : { ...item, problem: this.#parts.redactor.text(problem) };
      }),
    );
  }

  async #factsOfSuspended(runId: string) {
    await this.#show(runId);
    return suspendedFacts(this.#parts.suspended, runId);
  }

  async #auditOf(runId: string): Promise<AuditRecord[]> {
    const log = await this.#parts.audit?.();
    return (await log?.before({ runId }, undefined, MAX_AUDIT_RECORDS)) ?? [];
  }

  #recordingOf(runId: string): Promise<AnyRecording | undefined> {
    return this.#parts.suspended.keptRecording(runId);
  }

  async #mustRecord(runId: string): Promise<AnyRecording> {
    const recording = await this.#recordingOf(runId);
    if (recording !== undefined) return recording;
    const { state } = await this.#show(runId);
    throw new HostError('not_found', noteFor(state));
  }

  #show(runId: string): Promise<RunView> {
    return this.#parts.suspended.show(runId).catch(forgetful(runId));
  }
}

/** Explains what may have happened to a run that is not stored. */
function forgetful(runId: string) {
  return (error: unknown): never => {
    if (!(error instanceof HostError) || error.code !== 'not_found') throw error;
    throw new HostError(
      'not_found',
      `run ${runId} is not stored (any more): the oldest ended runs are deleted (quotas.history). Go back to the list of runs`,
    );
  };
}

function noteFor(state: RunView['state']): string {
  switch (state) {
    case 'running':
      return 'The run has not ended: its journal is stored when it ends.';
    case 'suspended':
      return 'The run is suspended: its journal is stored when it ends. Decide about its calls in the inbox.';
    default:
      return 'No journal of this run is kept: it was cancelled while suspended, or its recording was too large.';
  }
}

function cursorOf(place: Parameters<typeof writePlace>[0] | undefined): { readonly cursor?: string } {
  return omitUndefined({ cursor: ifDefined(place, writePlace) });
}
