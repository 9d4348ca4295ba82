import type { Approval } from '../domain/approval.js';
import { HostError, isHostError } from '../domain/errors.js';
import type { CallNumber, CallReply, ExecutionId, GuestCall, LogEntry, Program } from '../domain/execution.js';
import { Cancellation } from '../lib/cancellation.js';
import { deferred } from '../lib/deferred.js';
import type { SandboxExecution } from '../sandbox/execution.js';
import type { ExecutionReport } from '../sandbox/execution-report.js';
import { FAILED_INSIDE } from '../sandbox/failures.js';
import type { Delivery } from '../sandbox/journal.js';
import type { Sandbox, Started, SuspendedProgram } from '../sandbox/sandbox.js';
import type { ExecutionOptions, RunRecords } from './execution-options.js';

export type { AnswerCall, AskPerson, CallHooks, ExecutionOptions, RunRecords } from './execution-options.js';

/** A program that sleeps, with what happened after it was written down by a process that is gone. */
export interface Sleeper {
  readonly program: Pick<SuspendedProgram, 'execution' | 'codeDigest' | 'sealed'>;
  readonly calls: readonly { readonly call: GuestCall; readonly isSent: boolean }[];
  readonly deliveries: readonly Delivery[];
}

export type ExecutionEnd =
  | { readonly state: 'finished'; readonly report: ExecutionReport }
  /** What happened to it could not be written down, so nothing came of it. */
  | { readonly state: 'unwritten' }
  | { readonly state: 'asleep'; readonly approvals: readonly Approval[]; readonly logs: readonly LogEntry[] };

/** Calls made together are shown to a person together. */
const GATHER_MS = 20;
/** Between the answer of a person and what comes of it, which may be written down by another process. */
const AFTER_ANSWER_MS = 1_000;
/** Left to a program whose calls block it, when it is told that nobody has decided. */
const LAST_WORDS_MS = 1_000;

/**
 * One program from its start, or from where it slept, until it ends or sleeps. The only place where the sandbox and what
 * answers its calls meet: neither knows the other.
 */
export class Execution {
  readonly #sandbox: Sandbox;
  readonly #options: ExecutionOptions;
  readonly #ended = deferred<ExecutionEnd>();
  /** Calls that are being answered. */
  #open = 0;
  /** Those of them that wait for a person. */
  readonly #waiting = new Map<CallNumber, Approval>();
  /** Those that stand still because of a person, while something of theirs has to stay where it is. */
  readonly #held = new Set<CallNumber>();
  /** What a person is being asked now. */
  readonly #asked = new Set<string>();
  /** Of the calls that are being answered: over with the program, and when it is not waited for them any longer. */
  #waits = newWaits();
  #isPuttingAway = false;
  #staysAwake = false;
  /** Its caller has no room for one more suspended run: what needs a person is refused, and the program continues. */
  #isRefused = false;
  #isImpatient = false;
  /** Its calls block it, and it keeps a process to itself: its time runs on while a person thinks. */
  #isBlocking = false;
  #wasWoken = false;
  #isUnwritten = false;
  #program: SandboxExecution | undefined;
  #stopListening: (() => void) | undefined;
  #patience: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;

  private constructor(sandbox: Sandbox, options: ExecutionOptions) {
    this.#sandbox = sandbox;
    this.#options = options;
  }

  static async start(
    sandbox: Sandbox,
    program: Program,
    id: ExecutionId,
    options: ExecutionOptions,
  ): Promise<Execution> {
    const { caller, signal } = options;
    if (signal?.aborted === true) throw new HostError('cancelled', 'the run was cancelled before it started');
    const execution = new Execution(sandbox, options);
    execution.#isBlocking = program.blocking === true;
    execution.#follow(
      await sandbox.start(
        { caller, program, execution: id, ...(signal === undefined ? {} : { signal }) },
        execution.#handlers(),
      ),
    );
    return execution;
  }

  /** Goes on with a program that slept. Its open calls are answered anew, but for those that may have taken effect. */
  static async wake(sandbox: Sandbox, sleeper: Sleeper, options: ExecutionOptions): Promise<Execution> {
    const execution = new Execution(sandbox, options);
    execution.#wasWoken = true;
    const { program, calls, deliveries } = sleeper;
    const started = await sandbox.resume(program, options.caller, execution.#handlers(), {
      deliveries,
      calls: calls.map(({ call }) => call),
    });
    execution.#follow(started);
    const cancel = (): void => started.execution.cancel();
    if (options.signal?.aborted === true) cancel();
    else options.signal?.addEventListener('abort', cancel);
    const sent = new Set(calls.flatMap(({ call, isSent }) => (isSent ? [call.number] : [])));
    for (const call of started.execution.openCalls) {
      if (sent.has(call.number)) started.execution.answer(call.number, OUTCOME_UNKNOWN);
      else void execution.#answerAgain(call);
    }
    return execution;
  }

  /** Never rejects: a program that fails has ended too. */
  get ended(): Promise<ExecutionEnd> {
    return this.#ended.promise;
  }

  #handlers() {
    const { onLog, records } = this.#options;
    return {
      onCall: (call: GuestCall) => this.#answer(call, false),
      onDelivery: (delivery: Delivery, position: number) => {
        if (!this.#wasWoken) return;
        try {
          records?.delivered(delivery, position);
        } catch {
          // What is not written down must not be acted on: the run sleeps on as it was stored.
          this.#isUnwritten = true;
          this.#program?.cancel();
        }
      },
      ...(onLog === undefined ? {} : { onLog }),
    };
  }

  #follow({ execution, report }: Started): void {
    this.#program = execution;
    this.#listen();
    void report.then((finished) => {
      this.#waits.cancel();
      this.#stopAsking();
      this.#ended.resolve(this.#isUnwritten ? { state: 'unwritten' } : { state: 'finished', report: finished });
    });
  }

  #listen(): void {
    if (this.#stopListening !== undefined) return;
    this.#stopListening = this.#options.onDrain?.(() => this.#hurry());
    void this.ended.then(() => this.#stopListening?.());
  }

  async #answer(call: GuestCall, isAgain: boolean): Promise<CallReply> {
    // It is in the image as an open call, and is answered when the program is woken.
    if (this.#isPuttingAway) return NEVER;
    const { records } = this.#options;
    if (this.#wasWoken) records?.callMade(call);
    this.#open++;
    const waits = this.#waits.signal;
    try {
      const reply = await this.#options.answerCall(call, {
        signal: waits,
        isAgain,
        locate: async () => (await this.#program?.locate(call.number)) ?? [],
        onPending: (approval) => this.#waitFor(call.number, approval),
        onDecided: () => this.#decided(call.number),
        onSending: () => {
          if (this.#wasWoken) records?.callSent(call);
        },
        onHeld: (isHeld) => {
          if (isHeld) this.#held.add(call.number);
          else this.#held.delete(call.number);
          this.#reconsider();
        },
        remainingMs: () => this.#program?.remainingMs ?? Number.POSITIVE_INFINITY,
        isSuspended: () => waits.aborted && this.#isStored,
      });
      return waits.aborted && this.#isStored ? await NEVER : reply;
    } finally {
      this.#open--;
      this.#waiting.delete(call.number);
      this.#held.delete(call.number);
      this.#reconsider();
    }
  }

  get #isStored(): boolean {
    return this.#options.records !== undefined && !this.#isRefused;
  }

  async #answerAgain(call: GuestCall): Promise<void> {
    const reply = await this.#answer(call, true).catch((): CallReply => ({ ok: false, error: FAILED_INSIDE }));
    this.#program?.answer(call.number, reply);
  }

  // Waiting for a person.

  #waitFor(call: CallNumber, approval: Approval): void {
    this.#waiting.set(call, approval);
    this.#reconsider();
  }

  #decided(call: CallNumber): void {
    this.#waiting.delete(call);
    this.#reconsider();
  }

  /** A program that waits for nothing but people spends no time, is asked about, and is put away in the end. */
  #reconsider(): void {
    const still = this.#waiting.size + this.#held.size;
    const isWaiting = still > 0 && still === this.#open && !this.#isPuttingAway;
    this.#options.onHeld?.(isWaiting);
    if (!isWaiting) {
      this.#program?.holdTime(false);
      this.#stopPatience();
      return;
    }
    if (!this.#isBlocking) this.#program?.holdTime(true);
    this.#gathering ??= setTimeout(() => this.#ask(), GATHER_MS);
    if (this.#held.size > 0) return this.#stopPatience();
    if (this.#staysAwake) return;
    this.#patience ??= setTimeout(() => this.#stopWaiting(), this.#isImpatient ? 0 : this.#patienceMs);
  }

  #stopWaiting(): void {
    const { records } = this.#options;
    if (records === undefined) this.#refuse();
    else void this.#putAway(records);
  }

  get #patienceMs(): number {
    const { patienceMs } = this.#options;
    if (!this.#isBlocking) return patienceMs;
    return Math.max(0, Math.min(patienceMs, (this.#program?.remainingMs ?? 0) - LAST_WORDS_MS));
  }

  #stopPatience(): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
  }

  /** The host is about to end: a person is not waited for here. */
  #hurry(): void {
    this.#isImpatient = true;
    this.#stopPatience();
    this.#reconsider();
  }

  /** Nobody has decided: the calls come to nothing and the program goes on. It is not waited for a second time. */
  #refuse(): void {
    this.#isImpatient = true;
    const waits = this.#waits;
    this.#waits = newWaits();
    this.#patience = undefined;
    waits.cancel();
  }

  #ask(): void {
    this.#gathering = undefined;
    const { askPerson } = this.#options;
    const fresh = [...this.#waiting.values()].filter(({ id }) => !this.#asked.has(id));
    if (askPerson === undefined || fresh.length === 0 || this.#isAskedWithAnswer) return;
    for (const { id } of fresh) this.#asked.add(id);
    // A client that cannot ask, or whose user closed the question, leaves it to the other ways. That may take long.
    void askPerson(fresh, this.#waits.signal)
      .catch(() => {})
      .then(() => this.#wasAsked(fresh));
  }

  /** One that can be put away does not keep its client waiting for a decision that comes from elsewhere. */
  #wasAsked(approvals: readonly Approval[]): void {
    const waiting = new Set([...this.#waiting.values()].map(({ id }) => id));
    if (this.#patience === undefined || this.#options.records === undefined) return;
    if (!approvals.some(({ id }) => waiting.has(id))) return;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#stopWaiting(), AFTER_ANSWER_MS);
  }

  /** About to be suspended, and asked about then. */
  get #isAskedWithAnswer(): boolean {
    const { suspendsToAsk, records } = this.#options;
    return suspendsToAsk === true && records !== undefined && !this.#staysAwake && this.#held.size === 0;
  }

  async #putAway(records: RunRecords): Promise<void> {
    const program = this.#program;
    if (program === undefined || this.#isPuttingAway) return;
    this.#isPuttingAway = true;
    const approvals = [...this.#waiting.values()];
    let suspended: SuspendedProgram | undefined;
    try {
      const putting = this.#sandbox.suspend(program);
      // Only now: a wait that ends before the program stands still would be answered with an error.
      this.#waits.cancel();
      suspended = await putting;
      await records.putAway(suspended);
    } catch (error) {
      return this.#stayAwake(suspended, error);
    }
    this.#stopAsking();
    this.#ended.resolve({ state: 'asleep', approvals, logs: program.carriedOver.logs });
  }

  /** It could not be put away, or not be stored: it goes on waiting in a worker, and is not tried again. */
  async #stayAwake(suspended: SuspendedProgram | undefined, error: unknown): Promise<void> {
    this.#isPuttingAway = false;
    this.#staysAwake = true;
    const refusal = isHostError(error, 'quota_exceeded') ? error : undefined;
    this.#isRefused = refusal !== undefined;
    this.#waits = refusal === undefined ? newWaits() : new Cancellation(() => refusal);
    // Its calls are answered anew from here on. What answered them before has stopped, and never comes back to count itself out.
    this.#open = 0;
    this.#waiting.clear();
    this.#held.clear();
    if (this.#isRefused) this.#waits.cancel();
    const { caller, signal } = this.#options;
    if (suspended !== undefined)
      this.#follow(await this.#sandbox.resume(suspended, caller, this.#handlers(), undefined, signal));
    for (const call of this.#program?.openCalls ?? []) void this.#answerAgain(call);
  }

  #stopAsking(): void {
    clearTimeout(this.#patience);
    clearTimeout(this.#gathering);
  }
}

const NEVER = new Promise<never>(() => {});

function newWaits(): Cancellation {
  return new Cancellation(() => new HostError('cancelled', 'the program that asked for this does not wait for it'));
}

/** Its process ended between sending the call and writing down the answer. It is never sent a second time. */
const OUTCOME_UNKNOWN: CallReply = {
  ok: false,
  error: {
    errorClass: 'ToolCallError',
    message: 'the host was stopped while this call was under way. The call may have taken effect',
    hint: 'Check whether it has taken effect before calling it again.',
    fields: { outcome: 'unknown' },
  },
};
