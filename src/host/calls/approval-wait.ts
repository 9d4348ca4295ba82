import type { Approval } from '../../domain/approval.js';
import type { CallNumber } from '../../domain/run.js';
import type { RunClient } from '../runs/run-client.js';
import { type LiveEffect, type LiveEvent, type LiveState, nextState } from '../runs/run-state.js';

/** How a run waits when its calls need approval. */
export interface ApprovalWaitOptions {
  /** How long people may take from now on; 0 if no person can be asked. */
  readonly patienceMs: () => number;
  readonly client: RunClient;
  /** Aborted when a decision is no longer needed. */
  readonly asking: () => AbortSignal;
  /** Absent if the run cannot be suspended: then `refuse` is called after the grace period. */
  readonly suspend?: (() => void) | undefined;
  /** Nobody has decided about these calls in time. */
  readonly refuse: (calls: readonly CallNumber[]) => void;
  /** Without a grace period, refuses each call as soon as it needs a person, whatever the other calls do. */
  readonly refusesAtOnce?: boolean;
  /** The run starts or stops waiting only for people. */
  readonly pauseTime: (isPaused: boolean) => void;
}

/** Calls made together are shown to a person together. */
const GATHER_MS = 20;
/** Time between a person's answer and its effect, which another process may record. */
const AFTER_ANSWER_MS = 1_000;

/** Tracks which calls of a run wait for people, and executes the transitions of the table in `run-state.ts`. */
export class ApprovalWait {
  readonly #options: ApprovalWaitOptions;
  readonly #waiting = new Map<CallNumber, Approval>();
  /** Calls whose upstream waits for a person: they are tied to this process. */
  readonly #held = new Set<CallNumber>();
  readonly #asked = new Set<string>();
  #open = 0;
  #state: LiveState = 'computing';
  #isImpatient = false;
  #staysInMemory = false;
  #grace: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;

  constructor(options: ApprovalWaitOptions) {
    this.#options = options;
  }

  get isSuspending(): boolean {
    return this.#state === 'suspending';
  }

  /** What a person has to decide now. */
  get approvals(): readonly Approval[] {
    return [...this.#waiting.values()];
  }

  callOpened(): void {
    this.#open++;
    this.#update();
  }

  callPending(call: CallNumber, approval: Approval): void {
    this.#waiting.set(call, approval);
    this.#update();
    if (this.#options.refusesAtOnce === true && this.#graceMs() === 0) setTimeout(() => this.#happened('refuseDue'));
  }

  callDecided(call: CallNumber): void {
    this.#waiting.delete(call);
    this.#update();
  }

  callHeld(call: CallNumber, isHeld: boolean): void {
    if (isHeld) this.#held.add(call);
    else this.#held.delete(call);
    this.#update();
  }

  callClosed(call: CallNumber): void {
    this.#open--;
    this.#waiting.delete(call);
    this.#held.delete(call);
    this.#update();
  }

  /** The host shuts down: the run stops waiting for people here. */
  drain(): void {
    this.#happened('drain');
  }

  suspended(): void {
    this.#happened('suspendDone');
  }

  /** The run continues in its worker. Its open calls are answered again, and count from zero. */
  suspendFailed(): void {
    this.#open = 0;
    this.#waiting.clear();
    this.#held.clear();
    this.#happened('suspendFailed');
  }

  /** The program has ended: people are no longer asked. */
  end(): void {
    this.#happened('end');
  }

  #update(): void {
    const still = this.#waiting.size + this.#held.size;
    if (still === 0 || still !== this.#open) this.#happened('callsMove');
    else this.#happened(this.#held.size > 0 ? 'callsHeld' : 'callsWait');
  }

  #happened(event: LiveEvent): void {
    const { to, effects } = nextState(this.#state, event);
    this.#state = to;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: LiveEffect): void {
    switch (effect) {
      case 'pauseTime':
        return this.#options.pauseTime(true);
      case 'spendTime':
        return this.#options.pauseTime(false);
      case 'ask':
        this.#gathering ??= setTimeout(() => this.#ask(), GATHER_MS);
        return;
      case 'startGrace':
        if (!this.#staysInMemory) this.#grace ??= setTimeout(() => this.#graceOver(), this.#graceMs());
        return;
      case 'stopGrace':
        return this.#stopGrace();
      case 'endPatience':
        this.#isImpatient = true;
        return;
      case 'shortenGrace':
        return this.#shortenGrace();
      case 'suspend':
        return this.#options.suspend?.();
      case 'refuse':
        return this.#options.refuse([...this.#waiting.keys()]);
      case 'stayInMemory':
        this.#staysInMemory = true;
        return;
      case 'stopTimers':
        this.#stopGrace();
        clearTimeout(this.#gathering);
    }
  }

  #graceMs(): number {
    return this.#isImpatient ? 0 : this.#options.patienceMs();
  }

  #graceOver(): void {
    this.#grace = undefined;
    this.#happened(this.#options.suspend === undefined ? 'refuseDue' : 'suspendDue');
  }

  #stopGrace(): void {
    clearTimeout(this.#grace);
    this.#grace = undefined;
  }

  #shortenGrace(): void {
    if (this.#grace === undefined || this.#options.suspend === undefined) return;
    this.#stopGrace();
    this.#grace = setTimeout(() => this.#graceOver(), AFTER_ANSWER_MS);
  }

  #ask(): void {
    this.#gathering = undefined;
    const { client, asking } = this.#options;
    const { askPerson } = client;
    const fresh = this.approvals.filter(({ id }) => !this.#asked.has(id));
    if (askPerson === undefined || fresh.length === 0 || this.#asksWithAnswer) return;
    for (const { id } of fresh) this.#asked.add(id);
    // A client that cannot ask, or whose user closed the form, leaves the decision to the other surfaces.
    void askPerson(fresh, asking())
      .catch(() => {})
      .then(() => this.#wasAsked(fresh));
  }

  /** The run is about to be suspended, and its response asks the person: the client is not asked before. */
  get #asksWithAnswer(): boolean {
    const { client, suspend } = this.#options;
    return client.suspendsToAsk === true && suspend !== undefined && !this.#staysInMemory && this.#held.size === 0;
  }

  #wasAsked(approvals: readonly Approval[]): void {
    const waiting = new Set(this.approvals.map(({ id }) => id));
    if (approvals.some(({ id }) => waiting.has(id))) this.#happened('leftUndecided');
  }
}
