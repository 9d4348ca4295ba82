import type { Approval } from '../../domain/approval.js';
import { HostError, isHostError } from '../../domain/errors.js';
import type { CallReply, GuestCall, LogEntry, Program, RunId } from '../../domain/run.js';
import type { Awaitable } from '../../lib/async/awaitable.js';
import { Cancellation } from '../../lib/async/cancellation.js';
import { deferred } from '../../lib/async/deferred.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { FAILED_INSIDE } from '../../sandbox/failures.js';
import type { Delivery } from '../../sandbox/journal/journal.js';
import type { RunReport, SandboxDelegate, UsedSoFar } from '../../sandbox/run-report.js';
import type { Sandbox, Started, SuspendedProgram } from '../../sandbox/sandbox.js';
import type { SandboxRun } from '../../sandbox/sandbox-run.js';
import { ApprovalWait } from '../calls/approval-wait.js';
import type { RunOptions, RunRecords } from './run-options.js';

export type { AskPerson, RunClient } from './run-client.js';
export type { CallAnswerer, RunCallDelegate, RunOptions, RunRecords } from './run-options.js';

/** A suspended program, with what happened after it was stored, in a process that has since ended. */
export interface StoredProgram {
  readonly program: Pick<SuspendedProgram, 'runId' | 'codeDigest' | 'sealed'>;
  readonly calls: readonly { readonly call: GuestCall; readonly isSent: boolean }[];
  readonly deliveries: readonly Delivery[];
}

export type RunEnd =
  | { readonly state: 'ended'; readonly report: RunReport }
  /** Its calls or deliveries could not be recorded. The run stays suspended as it was stored, or another host has it. */
  | { readonly state: 'unwritten' }
  | {
      readonly state: 'suspended';
      readonly approvals: readonly Approval[];
      readonly logs: readonly LogEntry[];
      readonly used: UsedSoFar;
    };

/** Time left for a program with blocking calls after its pending calls have been refused. */
const REFUSAL_MARGIN_MS = 1_000;

/**
 * One run, from its start or its resumption until it ends or is suspended: the delegate of its program in the sandbox.
 * The only place that connects the sandbox with the code that answers calls: neither knows the other.
 */
export class Run implements SandboxDelegate {
  readonly #sandbox: Sandbox;
  readonly #options: RunOptions;
  readonly #ended = deferred<RunEnd>();
  readonly #people: ApprovalWait;
  /** Cancels the calls in flight, when the run ends or no longer waits for them. */
  #waits = newWaits();
  /** The caller's quota has no room for another suspended run: calls that need a person are refused, and the run continues. */
  #isRefused = false;
  /** Its calls block it and it occupies a process alone, so its timeout is not paused while it waits for a person. */
  #isBlocking = false;
  #wasResumed = false;
  #isUnwritten = false;
  #program: SandboxRun | undefined;
  #stopListening: (() => void) | undefined;

  private constructor(sandbox: Sandbox, options: RunOptions) {
    this.#sandbox = sandbox;
    this.#options = options;
    const { records, client, onHeld } = options;
    this.#people = new ApprovalWait({
      patienceMs: () => this.#patienceMs,
      asking: () => this.#waits.signal,
      client,
      suspend: records === undefined ? undefined : () => void this.#suspend(records),
      refuse: () => this.#refuse(),
      pauseTime: (isPaused) => {
        onHeld?.(isPaused);
        if (!this.#isBlocking) this.#program?.holdTime(isPaused);
      },
    });
  }

  static async start(sandbox: Sandbox, program: Program, id: RunId, options: RunOptions): Promise<Run> {
    const { caller, signal } = options;
    if (signal?.aborted === true) throw new HostError('cancelled', 'the run was cancelled before it started');
    const run = new Run(sandbox, options);
    run.#isBlocking = program.blocking === true;
    run.#follow(await sandbox.start({ caller, program, runId: id, ...omitUndefined({ signal }) }, run));
    return run;
  }

  /** Resumes a suspended program. Its open calls are answered again, except those that may have taken effect. */
  static async resume(sandbox: Sandbox, stored: StoredProgram, options: RunOptions): Promise<Run> {
    const run = new Run(sandbox, options);
    run.#wasResumed = true;
    const { program, calls, deliveries } = stored;
    const started = await sandbox.resume(program, options.caller, run, {
      deliveries,
      calls: calls.map(({ call }) => call),
    });
    run.#follow(started);
    const cancel = (): void => started.run.cancel();
    if (options.signal?.aborted === true) cancel();
    else options.signal?.addEventListener('abort', cancel);
    const sent = new Set(calls.flatMap(({ call, isSent }) => (isSent ? [call.number] : [])));
    for (const call of started.run.openCalls) {
      if (sent.has(call.number)) started.run.answer(call.number, OUTCOME_UNKNOWN);
      else void run.#answerAgain(call);
    }
    return run;
  }

  /** Never rejects: a failed program has ended too. */
  get ended(): Promise<RunEnd> {
    return this.#ended.promise;
  }

  // Callbacks from the sandbox.

  onCall(call: GuestCall): Promise<CallReply> {
    return this.#answerCall(call, false);
  }

  onLog(entry: LogEntry): void {
    this.#options.onLog?.(entry);
  }

  onDelivery(delivery: Delivery, position: number): void {
    if (!this.#wasResumed) return;
    try {
      // Not awaited: until it is written, nothing that the program does afterwards leaves the host or counts as its end.
      const written = this.#options.records?.delivered(delivery, position);
      if (written instanceof Promise) written.catch(() => this.#drop());
    } catch {
      this.#drop();
    }
  }

  /** What is not recorded must not take effect. The run stays suspended as it was stored, or another host has it. */
  #drop(): void {
    this.#isUnwritten = true;
    this.#program?.cancel();
  }

  #follow({ run, report }: Started): void {
    this.#program = run;
    this.#listen();
    void report.then(async (finished) => {
      this.#waits.cancel();
      this.#people.end();
      if (this.#wasResumed) await this.#settle();
      this.#ended.resolve(this.#isUnwritten ? { state: 'unwritten' } : { state: 'ended', report: finished });
    });
  }

  async #settle(): Promise<void> {
    try {
      await this.#options.records?.settled();
    } catch {
      this.#isUnwritten = true;
    }
  }

  #listen(): void {
    if (this.#stopListening !== undefined) return;
    this.#stopListening = this.#options.onDrain?.(() => this.#people.drain());
    void this.ended.then(() => this.#stopListening?.());
  }

  async #answerCall(call: GuestCall, isReplayed: boolean): Promise<CallReply> {
    // The image has it as an open call, which is answered when the run is resumed.
    if (this.#people.isSuspending) return never();
    const { records } = this.#options;
    if (this.#wasResumed && !(await this.#isWritten(() => records?.callMade(call)))) return never();
    this.#people.callOpened();
    const waits = this.#waits.signal;
    try {
      const reply = await this.#options.calls.answer(call, {
        signal: waits,
        isReplayed,
        locate: async () => (await this.#program?.locate(call.number)) ?? [],
        onPending: (approval) => this.#people.callPending(call.number, approval),
        onDecided: () => this.#people.callDecided(call.number),
        onSending: async () => {
          if (this.#wasResumed && !(await this.#isWritten(() => records?.callSent(call)))) await never();
        },
        onHeld: (isHeld) => this.#people.callHeld(call.number, isHeld),
        remainingMs: () => this.#program?.remainingMs ?? Number.POSITIVE_INFINITY,
        isSuspended: () => waits.aborted && this.#isStored,
      });
      return waits.aborted && this.#isStored ? await never() : reply;
    } finally {
      this.#people.callClosed(call.number);
    }
  }

  /** Whether the write succeeded. If it failed, the run is dropped. */
  async #isWritten(write: () => Awaitable<void>): Promise<boolean> {
    try {
      await write();
      return !this.#isUnwritten;
    } catch {
      this.#drop();
      return false;
    }
  }

  get #isStored(): boolean {
    return this.#options.records !== undefined && !this.#isRefused;
  }

  async #answerAgain(call: GuestCall): Promise<void> {
    const reply = await this.#answerCall(call, true).catch((): CallReply => ({ ok: false, error: FAILED_INSIDE }));
    this.#program?.answer(call.number, reply);
  }

  get #patienceMs(): number {
    const { patienceMs } = this.#options;
    if (!this.#isBlocking) return patienceMs;
    return Math.max(0, Math.min(patienceMs, (this.#program?.remainingMs ?? 0) - REFUSAL_MARGIN_MS));
  }

  /** Nobody decided in time: the pending calls are refused and the program continues, without a second wait. */
  #refuse(): void {
    const waits = this.#waits;
    this.#waits = newWaits();
    waits.cancel();
  }

  async #suspend(records: RunRecords): Promise<void> {
    const program = this.#program;
    if (program === undefined) return this.#people.suspendFailed();
    const { approvals } = this.#people;
    const { used } = program;
    let suspended: SuspendedProgram | undefined;
    try {
      const suspending = this.#sandbox.suspend(program);
      // Only now: a call that is cancelled before the program is paused would be answered with an error.
      this.#waits.cancel();
      suspended = await suspending;
      await records.suspend(suspended);
    } catch (error) {
      return this.#continueAfterFailedSuspend(suspended, error);
    }
    this.#people.suspended();
    this.#ended.resolve({ state: 'suspended', approvals, logs: program.carriedOver.logs, used });
  }

  /** The run could not be suspended or stored: it keeps waiting in a worker, and is not suspended again. */
  async #continueAfterFailedSuspend(suspended: SuspendedProgram | undefined, error: unknown): Promise<void> {
    if (isHostError(error, 'lease_lost')) {
      this.#isUnwritten = true;
      this.#people.end();
      this.#ended.resolve({ state: 'unwritten' });
      return;
    }
    const refusal = isHostError(error, 'quota_exceeded') ? error : undefined;
    this.#isRefused = refusal !== undefined;
    this.#waits = refusal === undefined ? newWaits() : new Cancellation(() => refusal);
    // Its calls are answered again from here on. The previous answers were cancelled and never call `callClosed`.
    this.#people.suspendFailed();
    if (this.#isRefused) this.#waits.cancel();
    const { caller, signal } = this.#options;
    if (suspended !== undefined) this.#follow(await this.#sandbox.resume(suspended, caller, this, undefined, signal));
    for (const call of this.#program?.openCalls ?? []) void this.#answerAgain(call);
  }
}

/** A new promise for each call: a shared one would retain every run that ever waited for it. */
function never(): Promise<never> {
  return new Promise<never>(() => {});
}

function newWaits(): Cancellation {
  return new Cancellation(() => new HostError('cancelled', 'the run no longer waits for this call'));
}

/** The process ended between sending the call and recording its answer. The call is never sent a second time. */
const OUTCOME_UNKNOWN: CallReply = {
  ok: false,
  error: {
    errorClass: 'ToolCallError',
    message: 'the host was stopped while this call was in flight. The call may have taken effect',
    hint: 'Check whether it has taken effect before calling it again.',
    fields: { outcome: 'unknown' },
  },
};
