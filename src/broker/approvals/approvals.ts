import { randomUUID } from 'node:crypto';
import {
  type Approval,
  type ApprovalState,
  coversReasons,
  DIRECT_CALL,
  type GrantScope,
  type ToolIdentity,
} from '../../domain/approval.js';
import { HostError } from '../../domain/errors.js';
import type { SourcePosition } from '../../domain/execution.js';
import type { JsonValue } from '../../domain/json.js';
import { CallerQuotas, inMebibytes, quotaExceeded } from '../../domain/quotas.js';
import type { Tool } from '../../domain/tool.js';
import { type ApprovalStore, type Decided, isSameTool } from '../../store/approvals.js';
import type { AuditTrail } from '../audit/audit-trail.js';
import type { RunContext } from '../run-context.js';
import { type Answer, checkAnswer } from './check-answer.js';
import { excerptOf } from './excerpt.js';
import { argumentsDigest, identityOf } from './identity.js';

export type { Answer };

export interface ApprovalsOptions {
  /** Opened at the first question: most programs need none. */
  readonly store: () => Promise<ApprovalStore>;
  /** Digest of how a server is reached. */
  readonly fingerprintOf: (serverId: string) => string;
  /** A question that nobody answered for so long is closed. */
  readonly expireAfterMs: number;
  /** What one caller may have open; absent: the defaults. */
  readonly quotas?: CallerQuotas;
  /** Where decisions are put on record; absent where nothing is recorded. */
  readonly audit?: Pick<AuditTrail, 'refusal' | 'decided'>;
}

/** A call that may only be made if a person says so. */
export interface ApprovalQuestion {
  readonly run: RunContext;
  readonly call: number;
  readonly tool: Tool;
  /** How the program calls it. */
  readonly exportName: string;
  readonly input: JsonValue;
  readonly reason: string;
  /** Each part of the reason by itself. */
  readonly reasons: readonly string[];
  readonly signal: AbortSignal;
  /** Replaces secrets in what people are shown by marks. The call is made with what the program gave. */
  readonly hideSecrets?: (shown: Shown) => { readonly shown: Shown; readonly hiddenParts: number };
  /** Where in the source it was made, innermost first. */
  readonly locate?: () => Promise<readonly SourcePosition[]>;
  /** A person is being waited for. Not said where the answer is there already. */
  readonly onPending?: (approval: Approval) => void;
}

/** What a person sees of a call; a type, so that it is JSON. */
type Shown = { readonly arguments: JsonValue; readonly code: string };

export interface Verdict {
  readonly state: Exclude<ApprovalState, 'PENDING' | 'NOT_REQUIRED'>;
  /** The question that was answered. Its decision says who, when and why. */
  readonly approval: Approval;
}

interface NewQuestion {
  readonly identity: ToolIdentity;
  readonly digest: string;
  readonly nowMs: number;
}

interface Asked {
  readonly verdict: Verdict;
  /** Given for this call, and not for a tool. */
  readonly isForThisCall: boolean;
}

interface Waiter {
  readonly id: string;
  resolve(verdict: Verdict): void;
}

/** People answer on other screens, through other processes: how often the file is looked at while somebody is waited for. */
const LOOK_EVERY_MS = 200;
const HOUR_MS = 60 * 60 * 1000;
/** A run's permission ends with the run; this only keeps the table from growing for ever. */
const RUN_GRANT_MS = 30 * 24 * HOUR_MS;

/** Questions to people. Nothing that an agent can reach leads to `decide`. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #quotas: CallerQuotas;
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#quotas = options.quotas ?? new CallerQuotas();
  }

  /** Waits until a person has decided about exactly this call, or did not in time. */
  async ask(question: ApprovalQuestion): Promise<Verdict> {
    const store = await this.#options.store();
    for (;;) {
      const { verdict, isForThisCall } = await this.#askOnce(store, question);
      // A direct call has no run that remembers it was made. Of two that are alike and wait for the same yes, in however many
      // processes, one takes it, and the other is asked about anew.
      const isTaken = question.call === DIRECT_CALL && isForThisCall && verdict.state === 'APPROVED';
      if (!isTaken || store.use(verdict.approval.id)) return verdict;
    }
  }

  async #askOnce(store: ApprovalStore, question: ApprovalQuestion): Promise<Asked> {
    const { run, call, tool, input, reasons } = question;
    const identity = identityOf(tool, this.#options.fingerprintOf(tool.serverId));
    const digest = argumentsDigest(input);
    const nowMs = Date.now();
    store.expire(nowMs);
    const runId = call === DIRECT_CALL ? undefined : run.runId;
    const granted = store.grantFor(identity, { runId, caller: run.caller, reasons }, nowMs);
    if (granted !== undefined) return { verdict: { state: 'APPROVED', approval: granted }, isForThisCall: false };
    // Asked before, in this process or in one that is gone. With other arguments or another tool it is another question.
    const known = store.ofCall(run.runId, call);
    const isSame =
      known !== undefined &&
      known.argumentsDigest === digest &&
      isSameTool(known.tool, identity) &&
      // A direct call that is made again may be made much later, and for another reason.
      (runId !== undefined || (known.expiresAtMs > nowMs && coversReasons(known, reasons)));
    if (isSame && known.state !== 'PENDING' && (runId !== undefined || !store.isUsed(known.id))) {
      if (known.state !== 'APPROVED') store.use(known.id);
      return { verdict: { state: known.state, approval: known }, isForThisCall: true };
    }
    const isOpen = isSame && known.state === 'PENDING';
    const approval = isOpen ? known : await this.#write(store, question, { identity, digest, nowMs });
    question.onPending?.(approval);
    return { verdict: await this.#wait(approval.id, question.signal), isForThisCall: true };
  }

  /** Puts a question where people find it. */
  async #write(
    store: ApprovalStore,
    question: ApprovalQuestion,
    { identity, digest, nowMs }: NewQuestion,
  ): Promise<Approval> {
    const { run, call, input, reason, reasons } = question;
    const places = await question.locate?.();
    question.signal.throwIfAborted();
    const whole: Shown = { arguments: input, code: excerptOf(run.source, question.exportName, places) };
    const { shown, hiddenParts } = question.hideSecrets?.(whole) ?? { shown: whole, hiddenParts: 0 };
    const approval: Approval = {
      id: newId(),
      runId: run.runId,
      call,
      caller: run.caller,
      tool: identity,
      ...shown,
      hiddenParts,
      argumentsDigest: digest,
      reason,
      reasons,
      state: 'PENDING',
      createdAtMs: nowMs,
      expiresAtMs: nowMs + this.#options.expireAfterMs,
    };
    this.#mustHaveRoom(store, run);
    return store.add(approval);
  }

  /** Nobody reads hundreds of cards, and those of one caller must not hide those of another or fill the disk. */
  #mustHaveRoom(store: ApprovalStore, { caller }: RunContext): void {
    const { approvals, suspended } = this.#quotas.limits;
    const { count, bytes } = store.pendingOf(caller);
    const next = 'wait for the answers before you ask for more';
    if (count >= approvals) {
      this.#quotas.countRefusal('approvals');
      throw quotaExceeded('approvals', `${count} of your calls wait for approval already`, next);
    }
    if (bytes < suspended) return;
    this.#quotas.countRefusal('suspended');
    throw quotaExceeded('suspended', `the calls of yours that wait for approval take ${inMebibytes(bytes)}`, next);
  }

  /**
   * Writes down what a person said. Throws `not_found` where there is no such question, `bad_input` for a scope that it does
   * not have, `conflict` where it is not what the person was shown.
   */
  async decide(id: string, state: 'APPROVED' | 'DENIED', answer: Answer): Promise<Decided> {
    const store = await this.#options.store();
    const nowMs = Date.now();
    store.expire(nowMs);
    const { by, reason, scope } = answer;
    const decision = { by, atMs: nowMs, scope, ...(reason === undefined ? {} : { reason }) };
    const asked = store.find(id);
    const others = asked?.state === 'PENDING' ? checkAnswer(store, asked, state, answer) : [];
    const unrecorded = await this.#options.audit?.refusal();
    // A no changes nothing, so it does not wait for a record.
    if (unrecorded !== undefined && state === 'APPROVED')
      throw new HostError('conflict', `nothing was decided: ${unrecorded.message}`);
    const grant = grantOf(scope, asked?.runId, nowMs);
    const decided = store.decide(id, state, decision, { others, grant });
    if (decided === undefined)
      throw new HostError(
        'not_found',
        `there is no approval ${JSON.stringify(id)}; list them with: codemode approvals`,
      );
    if (decided.isFirst && unrecorded === undefined) this.#options.audit?.decided(decided.approvals);
    this.#look(store);
    return decided;
  }

  /** Closes the questions of a run that is over: nobody will make its calls. */
  async closeOfRun(runId: string): Promise<number> {
    const store = await this.#options.store();
    return store.closeOfRun(runId);
  }

  async pending(): Promise<Approval[]> {
    const store = await this.#options.store();
    store.expire(Date.now());
    return store.pending();
  }

  async recent(limit: number): Promise<Approval[]> {
    const store = await this.#options.store();
    store.expire(Date.now());
    return store.recent(limit);
  }

  async find(id: string): Promise<Approval | undefined> {
    const store = await this.#options.store();
    store.expire(Date.now());
    return store.find(id);
  }

  /** Ids that start with these characters: also of what was decided or has expired. */
  async idsWith(prefix: string, limit: number): Promise<string[]> {
    return (await this.#options.store()).idsWith(prefix, limit);
  }

  async ofRun(runId: string): Promise<Approval[]> {
    const store = await this.#options.store();
    store.expire(Date.now());
    return store.ofRun(runId);
  }

  /** Whether a person was asked about this call of this run. */
  async isAsked(runId: string, call: number): Promise<boolean> {
    const store = await this.#options.store();
    return store.ofCall(runId, call) !== undefined;
  }

  async #wait(id: string, signal: AbortSignal): Promise<Verdict> {
    const store = await this.#options.store();
    return new Promise<Verdict>((resolve, reject) => {
      const waiter: Waiter = {
        id,
        resolve: (verdict) => {
          leave();
          resolve(verdict);
        },
      };
      const stop = () => {
        leave();
        reject(new HostError('cancelled', 'nobody waits for this approval any more'));
      };
      const leave = () => {
        signal.removeEventListener('abort', stop);
        this.#waiters.delete(waiter);
        if (this.#waiters.size === 0) clearInterval(this.#timer);
        if (this.#waiters.size === 0) this.#timer = undefined;
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop);
      this.#waiters.add(waiter);
      this.#timer ??= setInterval(() => this.#look(store), LOOK_EVERY_MS);
    });
  }

  #look(store: ApprovalStore): void {
    if (this.#waiters.size === 0) return;
    store.expire(Date.now());
    const pending = store.pendingIds();
    for (const waiter of [...this.#waiters]) {
      if (pending.has(waiter.id)) continue;
      const approval = store.find(waiter.id);
      if (approval !== undefined && approval.state !== 'PENDING') waiter.resolve({ state: approval.state, approval });
    }
  }
}

function grantOf(scope: GrantScope, runId: string | undefined, nowMs: number) {
  if (scope === 'run' && runId !== undefined) return { runId, expiresAtMs: nowMs + RUN_GRANT_MS };
  return scope === 'hour' ? { runId: undefined, expiresAtMs: nowMs + HOUR_MS } : undefined;
}

/** Short enough to be typed, long enough not to be guessed. */
function newId(): string {
  return randomUUID().replaceAll('-', '').slice(0, 16);
}
