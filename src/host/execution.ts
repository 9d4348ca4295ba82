import type { Approval } from '../domain/approval.js';
import { HostError } from '../domain/errors.js';
import type {
  CallerId,
  CallNumber,
  CallReply,
  ExecutionId,
  GuestCall,
  LogEntry,
  Program,
} from '../domain/execution.js';
import { deferred } from '../lib/deferred.js';
import type { SandboxExecution } from '../sandbox/execution.js';
import type { ExecutionReport } from '../sandbox/execution-report.js';
import { FAILED_INSIDE } from '../sandbox/failures.js';
import type { Delivery } from '../sandbox/journal.js';
import type { Sandbox, Started, SuspendedProgram } from '../sandbox/sandbox.js';

/** Told while a call is being answered, each at its moment. */
export interface CallHooks {
  /** The program is over, or was put away: whatever is done for this call should stop. */
  readonly signal: AbortSignal;
  /** It was made before the program slept, and is answered anew. */
  readonly isAgain: boolean;
  /** It waits for a person. */
  onPending(approval: Approval): void;
  /** The person has spoken, or nobody did in time. */
  onDecided(): void;
  /** It leaves the house now: from here on it may have taken effect. */
  onSending(): void;
}

/** Answers a call that a program made. */
export type AnswerCall = (call: GuestCall, hooks: CallHooks) => Promise<CallReply>;

/** Where a program is written down when it sleeps, and what happens to it once it was woken. */
export interface RunRecords {
  putAway(program: SuspendedProgram): Promise<void>;
  callMade(call: GuestCall): void;
  callSent(call: GuestCall): void;
  delivered(delivery: Delivery, position: number): void;
}

/** Asks a person through the client. Resolves when all were answered or the client gave up. */
export type AskPerson = (approvals: readonly Approval[], signal: AbortSignal) => Promise<void>;

export interface ExecutionOptions {
  readonly caller: CallerId;
  readonly answerCall: AnswerCall;
  readonly records: RunRecords;
  /** How long a program keeps its place while all it waits for is a person. */
  readonly patienceMs: number;
  readonly askPerson?: AskPerson;
  readonly signal?: AbortSignal;
  readonly onLog?: (entry: LogEntry) => void;
}

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
/** Left to a program that cannot be put away, when it is told that nobody has decided. */
const LAST_WORDS_MS = 1_000;

/**
 * One program from its start, or from where it slept, until it ends or sleeps. The only place where the sandbox and what
 * answers its calls meet: neither knows the other.
 */
export class Execution {
  readonly #sandbox: Sandbox;
  readonly #options: ExecutionOptions;
  readonly #ended = deferred<ExecutionEnd>();
  /** Ended with the program. */
  readonly #over = new AbortController();
  /** Calls that are being answered. */
  #open = 0;
  /** Those of them that wait for a person. */
  readonly #waiting = new Map<CallNumber, Approval>();
  /** What a person is being asked now. */
  readonly #asked = new Set<string>();
  #waits = new AbortController();
  #isPuttingAway = false;
  #staysAwake = false;
  /** Its calls block it: nobody can put it away, so its time runs on while a person thinks. */
  #isBlocking = false;
  #wasWoken = false;
  #isUnwritten = false;
  #program: SandboxExecution | undefined;
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
          records.delivered(delivery, position);
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
    void report.then((finished) => {
      this.#over.abort();
      this.#stopAsking();
      this.#ended.resolve(this.#isUnwritten ? { state: 'unwritten' } : { state: 'finished', report: finished });
    });
  }

  async #answer(call: GuestCall, isAgain: boolean): Promise<CallReply> {
    // It is in the image as an open call, and is answered when the program is woken.
    if (this.#isPuttingAway) return NEVER;
    if (this.#wasWoken) this.#options.records.callMade(call);
    this.#open++;
    const waits = this.#waits.signal;
    try {
      const reply = await this.#options.answerCall(call, {
        signal: AbortSignal.any([this.#over.signal, waits]),
        isAgain,
        onPending: (approval) => this.#waitFor(call.number, approval),
        onDecided: () => this.#decided(call.number),
        onSending: () => {
          if (this.#wasWoken) this.#options.records.callSent(call);
        },
      });
      return waits.aborted && !this.#isBlocking ? await NEVER : reply;
    } finally {
      this.#open--;
      this.#waiting.delete(call.number);
      this.#reconsider();
    }
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
    const isWaiting = this.#waiting.size > 0 && this.#waiting.size === this.#open && !this.#isPuttingAway;
    if (!isWaiting) {
      this.#program?.spendTime();
      clearTimeout(this.#patience);
      this.#patience = undefined;
      return;
    }
    this.#gathering ??= setTimeout(() => this.#ask(), GATHER_MS);
    if (this.#isBlocking) {
      const leftMs = (this.#program?.remainingMs ?? 0) - LAST_WORDS_MS;
      const patienceMs = Math.max(0, Math.min(this.#options.patienceMs, leftMs));
      this.#patience ??= setTimeout(() => this.#giveUpWaiting(), patienceMs);
      return;
    }
    this.#program?.holdTime();
    if (this.#staysAwake) return;
    this.#patience ??= setTimeout(() => void this.#putAway(), this.#options.patienceMs);
  }

  #ask(): void {
    this.#gathering = undefined;
    const { askPerson } = this.#options;
    const fresh = [...this.#waiting.values()].filter(({ id }) => !this.#asked.has(id));
    if (askPerson === undefined || fresh.length === 0) return;
    for (const { id } of fresh) this.#asked.add(id);
    // A client that cannot ask, or whose user closed the question, leaves it to the other ways.
    askPerson(fresh, AbortSignal.any([this.#over.signal, this.#waits.signal])).catch(() => {});
  }

  /** Answers what waits for a person with what is to be done. The question stays open. */
  #giveUpWaiting(): void {
    this.#waits.abort();
    this.#waits = new AbortController();
  }

  async #putAway(): Promise<void> {
    const program = this.#program;
    if (program === undefined || this.#isPuttingAway) return;
    this.#isPuttingAway = true;
    const approvals = [...this.#waiting.values()];
    let suspended: SuspendedProgram | undefined;
    try {
      const putting = this.#sandbox.suspend(program);
      // Only now: a wait that ends before the program stands still would be answered with an error.
      this.#waits.abort();
      suspended = await putting;
      await this.#options.records.putAway(suspended);
    } catch {
      return this.#stayAwake(suspended);
    }
    this.#over.abort();
    this.#stopAsking();
    this.#ended.resolve({ state: 'asleep', approvals, logs: program.carriedOver.logs });
  }

  /** It could not be put away, or not be stored: it goes on waiting in a worker, and is not tried again. */
  async #stayAwake(suspended: SuspendedProgram | undefined): Promise<void> {
    this.#isPuttingAway = false;
    this.#staysAwake = true;
    this.#waits = new AbortController();
    if (suspended !== undefined)
      this.#follow(await this.#sandbox.resume(suspended, this.#options.caller, this.#handlers()));
    for (const call of this.#program?.openCalls ?? []) void this.#answerAgain(call);
  }

  #stopAsking(): void {
    clearTimeout(this.#patience);
    clearTimeout(this.#gathering);
  }
}

const NEVER = new Promise<never>(() => {});

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
