import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { EngineChoice } from '../domain/engine.js';
import { HostError } from '../domain/errors.js';
import type { JsonObject } from '../domain/json.js';
import { MAX_SOURCE_BYTES } from '../domain/limits.js';
import type { CallerId, CallNumber, GuestCall, GuestError, Program, RunId } from '../domain/run.js';
import type { StopSignal } from '../domain/stop-signal.js';
import { type SealBinding, seal, unseal } from '../lib/secrets/sealed.js';
import { MAX_VALUE_BYTES } from '../wire/messages.js';
import type { Engine } from './engines/engine.js';
import { QuickJsEngine } from './engines/quickjs-engine.js';
import { runnableTasks } from './engines/runnable-tasks.js';
import { BothEngines } from './engines/v8-engine.js';
import { V8Processes } from './engines/v8-processes.js';
import type { Jail } from './jail/jail.js';
import type { Delivery, Journal } from './journal/journal.js';
import { decodeJournal, digestOf, encodeJournal, newSeed, openJournal } from './journal/journal.js';
import type { CarriedOver, RunReport, SandboxDelegate } from './run-report.js';
import { loadRuntimeFiles } from './runtime-files.js';
import { SandboxRun } from './sandbox-run.js';
import type { PoolOptions } from './workers/pool.js';
import { Pool } from './workers/pool.js';
import { WorkerProcess } from './workers/worker-process.js';
import { QUICKJS_SHAPE, v8Shape, type WorkerShape } from './workers/worker-shapes.js';

export interface SandboxOptions {
  readonly jail: Jail;
  /** Folder of the built worker. */
  readonly workerFolder: string;
  readonly pool: PoolOptions;
  /** Key under which suspended programs are sealed. */
  readonly sealKey: Uint8Array;
  /** Absent: QuickJS. V8 is used only inside a jail: without a jail, V8 is not a sandbox. */
  readonly engine?: EngineChoice;
  /** Tasks of the machine that have a core or wait for one, including this process; absent: asks the kernel. */
  readonly runnable?: () => number;
}

export interface StartOptions {
  readonly caller: CallerId;
  readonly program: Program;
  readonly runId?: RunId;
  /** Cancels the program, whether it is queued or runs. */
  readonly signal?: StopSignal;
}

/** A suspended program, outside any process. */
export interface SuspendedProgram {
  readonly runId: RunId;
  readonly codeDigest: string;
  readonly sealed: Buffer;
  readonly openCalls: readonly GuestCall[];
}

/** A program that has a worker. Its report says whether the source could be parsed, before any call is made. */
export interface Started {
  readonly run: SandboxRun;
  readonly report: Promise<RunReport>;
}

/** Runs programs in jailed workers. Knows nothing of tools, policies or profiles: the delegate of a run answers its calls. */
export class Sandbox {
  readonly jail: Jail;
  readonly build: string;
  readonly pool: Pool;
  readonly v8: V8Processes | undefined;
  readonly #engine: Engine;
  readonly #both: BothEngines | undefined;
  readonly #sealKey: Uint8Array;

  constructor(options: SandboxOptions) {
    const files = loadRuntimeFiles(options.workerFolder);
    this.jail = options.jail;
    this.build = files.build;
    this.#sealKey = options.sealKey;
    const start = (shape: WorkerShape) => WorkerProcess.start(shape, options.jail, files);
    const runnable = options.runnable ?? runnableTasks;
    this.pool = new Pool(options.pool, () => start(QUICKJS_SHAPE), runnable);
    const quickJs = new QuickJsEngine(this.pool);
    this.v8 =
      options.jail.level === 'none'
        ? undefined
        : new V8Processes({
            max: Math.max(2, availableParallelism()),
            start: (maxMemoryBytes) => start(v8Shape(maxMemoryBytes)),
          });
    this.#both = this.v8 && new BothEngines(quickJs, this.pool, this.v8, options.engine ?? 'quickjs', runnable);
    this.#engine = this.#both ?? quickJs;
  }

  /** Current processes and programs, and totals since the start. */
  get figures() {
    const { now, sinceStart } = this.pool.figures;
    const handOvers = Object.entries(this.handOvers ?? {}).map(([event, count]) => [`v8_${event}`, count] as const);
    return { now: { ...now, v8: this.v8?.size ?? 0 }, sinceStart: { ...sinceStart, ...Object.fromEntries(handOvers) } };
  }

  /** The outcomes of hand-overs to V8; absent without V8. */
  get handOvers(): BothEngines['figures'] | undefined {
    return this.#both?.figures;
  }

  /** Starts a program. Resolves as soon as it has a worker; its end is in `report`. */
  async start({ caller, program, runId, signal }: StartOptions, delegate: SandboxDelegate): Promise<Started> {
    if (Buffer.byteLength(program.source) > MAX_SOURCE_BYTES)
      throw new HostError(
        'bad_input',
        `the program is larger than ${MAX_SOURCE_BYTES} bytes; pass data through tools, not through source`,
      );
    const given = program.script?.input ?? program.body?.context;
    if (given !== undefined) mustBeSmall(given);
    const id = runId ?? (randomUUID() as RunId);
    const journal = openJournal(id, program, newSeed(), Date.now());
    const started = new SandboxRun(this.#engine, caller, journal, delegate);
    return begun(started, signal, () => started.begin());
  }

  /** Suspends a waiting program. The sealed bytes contain its memory, its journal and its open calls. */
  async suspend(run: SandboxRun): Promise<SuspendedProgram> {
    const image = await run.suspend();
    const codeDigest = digestOf(run.journal.source);
    const openCalls = run.openCalls;
    const head = Buffer.from(
      JSON.stringify({
        build: this.build,
        journal: encodeJournal(run.journal),
        remainingMs: run.remainingMs,
        carried: run.carriedOver,
      } satisfies SuspendedHead),
    );
    const length = Buffer.alloc(4);
    length.writeUInt32LE(head.length);
    const sealed = seal(this.#sealKey, bindingOf(run.id, run.caller, codeDigest), Buffer.concat([length, head, image]));
    return { runId: run.id, codeDigest, sealed, openCalls };
  }

  /**
   * Resumes a suspended program, in any worker. Its open calls are answered through `run.answer`. The signal cancels it as
   * in `start`. The stored program stays unchanged and can be resumed again.
   */
  async resume(
    suspended: Pick<SuspendedProgram, 'runId' | 'codeDigest' | 'sealed'>,
    caller: CallerId,
    delegate: SandboxDelegate,
    since?: SinceSuspended,
    signal?: StopSignal,
  ): Promise<Started> {
    const binding = bindingOf(suspended.runId, caller, suspended.codeDigest);
    const plain = unseal(this.#sealKey, binding, suspended.sealed);
    if (plain === undefined) {
      throw new HostError(
        'image_rejected',
        'this suspended program was changed, belongs to another run, or was made under another key; start the run again',
      );
    }
    const headBytes = plain.readUInt32LE(0);
    const head = JSON.parse(plain.toString('utf8', 4, 4 + headBytes)) as SuspendedHead;
    const journal = decodeJournal(head.journal);
    const inImage = journal.deliveries.length;
    // Empty for a program in V8, which is rebuilt from its journal.
    const image = plain.subarray(4 + headBytes);
    const kept = {
      ...head.carried,
      openCalls: head.carried.openCalls.map((call) => ({ ...call, runId: journal.runId })),
    };
    const carried = since === undefined ? kept : addSince(journal, kept, since);
    const resumed = new SandboxRun(this.#engine, caller, journal, delegate, head.remainingMs);
    const isOurs = head.build === this.build && image.length > 0;
    return begun(resumed, signal, () => resumed.beginAgain(carried, isOurs ? { bytes: image, inImage } : undefined));
  }

  /**
   * Replays a recorded program offline: every call is answered from its journal. Reports the first call that differs from
   * the recording.
   */
  async replay(recorded: Journal, caller: CallerId): Promise<{ report: RunReport; divergence: string | undefined }> {
    const journal: Journal = {
      ...recorded,
      runId: randomUUID() as RunId,
      deliveries: [...recorded.deliveries],
      calls: [],
    };
    let divergence: string | undefined;
    const run: SandboxRun = new SandboxRun(this.#engine, caller, journal, {
      // Answers come from the journal, in its order; a call is only compared with the recorded one.
      onCall: (call) => {
        const known = recorded.calls[call.number - 1];
        if (
          known === undefined ||
          known.target !== call.target ||
          known.argumentsDigest !== digestOf(call.argumentsJson)
        ) {
          divergence ??= `call ${call.number} asked for ${call.target}, the record has ${known?.target ?? 'no such call'}${known?.target === call.target ? ' with other arguments' : ''}`;
          run.cancel();
        }
        const end = recorded.endedBy;
        if (end?.call === call.number) return Promise.resolve({ ok: false, ends: end.failure });
        return new Promise(() => {});
      },
    });
    await run.begin();
    return { report: await run.report, divergence };
  }

  /**
   * The source line of each recorded call. Runs the program again, and answers each call from the record once its position was
   * requested. Only calls that equal the recorded ones count. Ends if the program diverges, or when the signal aborts.
   */
  async locateCalls(recorded: Journal, caller: CallerId, signal: AbortSignal): Promise<Map<CallNumber, number>> {
    const lines = new Map<CallNumber, number>();
    const replies = new Map(
      recorded.deliveries.flatMap((each) => ('call' in each ? [[each.call, each] as const] : [])),
    );
    const journal: Journal = { ...recorded, runId: randomUUID() as RunId, deliveries: [], calls: [] };
    const run: SandboxRun = new SandboxRun(this.#engine, caller, journal, {
      onCall: async (call) => {
        const known = recorded.calls[call.number - 1];
        const isKnown =
          known?.target === call.target && known.argumentsDigest === digestOf(call.argumentsJson) && !signal.aborted;
        const reply = replies.get(call.number);
        if (isKnown) {
          const [place] = await run.locate(call.number);
          if (place !== undefined) lines.set(call.number, place.line);
        }
        if (!isKnown || reply === undefined) run.cancel();
        if (reply === undefined) return new Promise(() => {});
        if (reply.kind === 'result') return { ok: true, json: reply.body };
        return { ok: false, error: JSON.parse(Buffer.from(reply.body).toString('utf8')) as GuestError };
      },
    });
    const cancel = () => run.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await run.begin();
      await run.report;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
    return lines;
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.close(), this.#both?.close()]);
  }
}

function mustBeSmall(input: JsonObject): void {
  if (Buffer.byteLength(JSON.stringify(input)) > MAX_VALUE_BYTES)
    throw new HostError(
      'bad_input',
      `the input is larger than ${MAX_VALUE_BYTES} bytes of JSON; send less, or let tools read it`,
    );
}

interface SuspendedHead {
  readonly build: string;
  readonly journal: string;
  readonly remainingMs: number;
  readonly carried: CarriedOver;
}

/**
 * Deliveries and calls of a resumed program whose process ended before it could suspend the program again. They are
 * replayed, and no call is made a second time.
 */
export interface SinceSuspended {
  readonly deliveries: readonly Delivery[];
  readonly calls: readonly GuestCall[];
}

function addSince(journal: Journal, carried: CarriedOver, { deliveries, calls }: SinceSuspended): CarriedOver {
  const known = journal.calls.length;
  journal.deliveries.push(...deliveries);
  // A call that was open at the suspension is recorded again when it is made again.
  const fresh = calls.filter(({ number }) => number > known);
  for (const { target, argumentsJson } of fresh)
    journal.calls.push({ target, argumentsDigest: digestOf(argumentsJson) });
  const answered = new Set(deliveries.flatMap((each) => ('call' in each ? [each.call] : [])));
  const openCalls = [...carried.openCalls, ...fresh].filter(({ number }) => !answered.has(number));
  return { ...carried, openCalls };
}

/** The seal of a suspended program opens only for its own run, caller and code. */
function bindingOf(runId: RunId, caller: CallerId, codeDigest: string): SealBinding {
  return { purpose: 'suspended program', owner: [runId, caller, codeDigest] };
}

async function begun(run: SandboxRun, signal: StopSignal | undefined, begin: () => Promise<void>): Promise<Started> {
  const { report } = run;
  if (signal?.aborted === true) {
    run.cancel();
    return { run, report };
  }
  const cancel = () => run.cancel();
  signal?.addEventListener('abort', cancel);
  const forget = () => signal?.removeEventListener('abort', cancel);
  try {
    await begin();
  } catch (error) {
    forget();
    throw error;
  }
  void report.then(forget);
  return { run, report };
}
