import { randomUUID } from 'node:crypto';
import {
  type Approval,
  coversReasons,
  DIRECT_CALL,
  type Grant,
  type GrantScope,
  type ToolIdentity,
} from '../../domain/approval.js';
import { HostError, isHostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { CallerQuotas, inMebibytes, quotaExceeded, tooManyApprovals, WAIT_FIRST } from '../../domain/quotas.js';
import type { SourcePosition } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import { KeyedLock } from '../../lib/async/keyed-lock.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { isSameTool } from '../../store/approval-seals.js';
import type { ApprovalStore, Decided } from '../../store/approvals.js';
import type { AuditTrail } from '../audit/audit-trail.js';
import type { RunContext, RunStart } from '../run-context.js';
import { type Answer, checkAnswer } from './check-answer.js';
import { excerptOf } from './excerpt.js';
import { argumentsDigest, identityOf } from './identity.js';
import { type ApprovalVerdict, ApprovalWaiters } from './waiters.js';

export type { Answer, ApprovalVerdict };

export interface ApprovalsOptions {
  /** Opened at the first approval: most runs need none. */
  readonly store: () => Promise<ApprovalStore>;
  /** Digest of how a server is reached. */
  readonly fingerprintOf: (serverId: string) => string;
  /** An approval without a decision expires after this time. */
  readonly expireAfterMs: number;
  /** What one caller may have open; absent: the defaults. */
  readonly quotas?: CallerQuotas;
  /** Records decisions; absent if the audit log is off. */
  readonly audit?: Pick<AuditTrail, 'refusal' | 'decided' | 'revoked'>;
}

/** A call that needs a person's approval. */
export interface ApprovalRequest {
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
  /** Redacts what people are shown. The call itself is made with the program's arguments. */
  readonly hideSecrets?: (shown: Shown) => { readonly shown: Shown; readonly hiddenParts: number };
  /** Where in the source it was made, innermost first. */
  readonly locate?: () => Promise<readonly SourcePosition[]>;
  /** Called when the wait for a person starts; not called if the decision exists already. */
  readonly onPending?: (approval: Approval) => void;
}

/** What a person sees of a call; a type, so that it is JSON. */
type Shown = { readonly arguments: JsonValue; readonly code: string };

interface NewApproval {
  readonly identity: ToolIdentity;
  readonly digest: string;
  readonly nowMs: number;
}

interface Asked {
  readonly verdict: ApprovalVerdict;
  /** The decision is for this call, not a grant for the tool. */
  readonly isForThisCall: boolean;
}

const HOUR_MS = 60 * 60 * 1000;
/** How many approvals of ended runs are closed at once to make room for new ones. */
const CLOSED_TOGETHER = 10;
const ALL = Number.MAX_SAFE_INTEGER;
/** Open approvals of one caller. All of them are read whenever a person lists pending approvals. */
const MAX_OPEN_BYTES = 32 * 1024 * 1024;
/** Decided and expired approvals of one caller. */
const MAX_ENDED_BYTES = 64 * 1024 * 1024;
/** A grant for a run ends with the run; this only bounds the table. */
const RUN_GRANT_MS = 30 * 24 * HOUR_MS;

/** Approvals and their decisions. No interface for agents reaches `decide`. */
export class Approvals {
  readonly #options: ApprovalsOptions;
  readonly #quotas: CallerQuotas;
  readonly #waiters = new ApprovalWaiters();
  readonly #additions = new KeyedLock();

  constructor(options: ApprovalsOptions) {
    this.#options = options;
    this.#quotas = options.quotas ?? new CallerQuotas();
  }

  /** Waits until a person has decided about exactly this call, or until it expires. */
  async ask(request: ApprovalRequest): Promise<ApprovalVerdict> {
    const store = await this.#options.store();
    for (;;) {
      const { verdict, isForThisCall } = await this.#askOnce(store, request);
      // If two identical calls wait for the same approval, in any process, one of them uses it, and a new approval is
      // opened for the other.
      const isTaken = isUsedOnce(request) && isForThisCall && verdict.state === 'APPROVED';
      if (isTaken && !(await store.use(verdict.approval.id))) continue;
      // The denial ends this wait. The next run asks again.
      if (request.run.cannotSuspend !== undefined && verdict.state === 'DENIED') await store.use(verdict.approval.id);
      return verdict;
    }
  }

  async #askOnce(store: ApprovalStore, request: ApprovalRequest): Promise<Asked> {
    const { run, call, tool, input, reasons } = request;
    const identity = identityOf(tool, this.#options.fingerprintOf(tool.serverId));
    const digest = argumentsDigest(input);
    const nowMs = Date.now();
    await store.expire(nowMs);
    const runId = call === DIRECT_CALL ? undefined : run.runId;
    // This call was asked about before, in this process or in an earlier one. Other arguments or another tool make it another approval.
    const known = await store.ofCall(run.runId, call);
    const isSame =
      known !== undefined &&
      known.argumentsDigest === digest &&
      isSameTool(known.tool, identity) &&
      // A direct call may be repeated much later, and for another reason.
      (runId !== undefined || (known.expiresAtMs > nowMs && coversReasons(known, reasons)));
    // A grant is for later calls. A call that is already pending was not shown when the grant was given, so it waits for its own decision.
    const isWaiting = isSame && known.state === 'PENDING';
    const granted = isWaiting
      ? undefined
      : await store.grantFor(identity, { runId, caller: run.caller, reasons }, nowMs);
    if (granted !== undefined) return { verdict: { state: 'APPROVED', approval: granted }, isForThisCall: false };
    if (isSame && known.state !== 'PENDING' && (!isUsedOnce(request) || !(await store.isUsed(known.id)))) {
      if (known.state !== 'APPROVED') await store.use(known.id);
      return { verdict: { state: known.state, approval: known }, isForThisCall: true };
    }
    // A refusal is final for the run: repeating the call does not ask the person again.
    const denied = runId === undefined ? undefined : await store.deniedOfRun(runId, identity, digest);
    if (denied !== undefined) return { verdict: { state: 'DENIED', approval: denied }, isForThisCall: true };
    const earlier = isSame ? undefined : await this.#ofEarlierRun(store, request, { identity, digest, nowMs });
    if (earlier !== undefined && earlier.state !== 'PENDING')
      return { verdict: { state: earlier.state, approval: earlier }, isForThisCall: true };
    const open = isSame && known.state === 'PENDING' ? known : earlier;
    const approval = open ?? (await this.#write(store, request, { identity, digest, nowMs }));
    request.onPending?.(approval);
    return { verdict: await this.#waiters.wait(store, approval.id, request.signal), isForThisCall: true };
  }

  /**
   * The approval of the same call, for the same reasons, from an earlier run of the same program: decided after that run ended,
   * or still pending. A person is not asked twice because a program was run twice.
   */
  async #ofEarlierRun(
    store: ApprovalStore,
    { run, reasons }: ApprovalRequest,
    { identity, digest, nowMs }: NewApproval,
  ): Promise<Approval | undefined> {
    if (run.cannotSuspend === undefined) return undefined;
    const program = startDigest(run.source, run.cannotSuspend);
    const same = { tool: identity, argumentsDigest: digest, caller: run.caller, program };
    // A run that still waits for its decision receives it itself. Each call of one run is asked about separately.
    return (await store.ofSameCall(same, nowMs)).find(
      (each) =>
        !this.#waiters.has(each.id) &&
        (each.state !== 'PENDING' || each.runId !== run.runId) &&
        coversReasons(each, reasons),
    );
  }

  /** Stores an approval, so that people see it. */
  async #write(
    store: ApprovalStore,
    request: ApprovalRequest,
    { identity, digest, nowMs }: NewApproval,
  ): Promise<Approval> {
    const { run, call, input, reason, reasons } = request;
    const places = await request.locate?.();
    request.signal.throwIfAborted();
    const whole: Shown = { arguments: input, code: excerptOf(run.source, request.exportName, places) };
    const { shown, hiddenParts } = request.hideSecrets?.(whole) ?? { shown: whole, hiddenParts: 0 };
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
      ...omitUndefined({
        program: ifDefined(run.cannotSuspend, (cannotSuspend) => startDigest(run.source, cannotSuspend)),
      }),
      state: 'PENDING',
      createdAtMs: nowMs,
      expiresAtMs: nowMs + this.#options.expireAfterMs,
    };
    // One at a time: concurrent calls must not all take the same last place.
    return this.#additions.run(run.caller, async () => {
      await this.#mustHaveRoom(store, run);
      try {
        return await store.add(approval, this.#quotas.limits.approvals);
      } catch (error) {
        // Another host has added the last one meanwhile.
        if (isHostError(error, 'quota_exceeded')) this.#quotas.countRefusal('approvals');
        throw error;
      }
    });
  }

  /** Limits open approvals: one caller must not hide those of others, or fill the disk. */
  async #mustHaveRoom(store: ApprovalStore, { caller }: RunContext): Promise<void> {
    const { approvals, history } = this.#quotas.limits;
    const suspended = Math.min(this.#quotas.limits.suspended, MAX_OPEN_BYTES);
    await store.forgetOldest(caller, { count: history, bytes: MAX_ENDED_BYTES });
    const before = await store.pendingOf(caller);
    // Approvals of ended runs can be decided for another hour, but are the first to be closed when room is needed.
    const isFull = before.count >= approvals || before.bytes >= suspended;
    const most = before.count < approvals ? ALL : CLOSED_TOGETHER;
    const closed = isFull && (await store.closeOfEnded(caller, most)) > 0;
    const { count, bytes } = closed ? await store.pendingOf(caller) : before;
    if (count >= approvals) {
      this.#quotas.countRefusal('approvals');
      throw tooManyApprovals(count);
    }
    if (bytes < suspended) return;
    this.#quotas.countRefusal('suspended');
    throw quotaExceeded('suspended', `your calls that wait for approval take ${inMebibytes(bytes)}`, WAIT_FIRST);
  }

  /**
   * Records a person's decision. Throws `not_found` if there is no such approval, `bad_input` for a scope that it does not
   * offer, `conflict` if it is not what the person was shown.
   */
  async decide(id: string, state: 'APPROVED' | 'DENIED', answer: Answer): Promise<Decided> {
    const store = await this.#options.store();
    const nowMs = Date.now();
    await store.expire(nowMs);
    const { by, reason, scope } = answer;
    const decision = { by, atMs: nowMs, scope, ...omitUndefined({ reason }) };
    const asked = await store.find(id);
    const others = asked?.state === 'PENDING' ? await checkAnswer(store, asked, state, answer) : [];
    const unrecorded = await this.#options.audit?.refusal();
    // A refusal has no effect, so it does not wait for its audit record.
    if (unrecorded !== undefined && state === 'APPROVED')
      throw new HostError('conflict', `nothing was decided: ${unrecorded.message}`);
    const grant = grantOf(scope, asked?.runId, nowMs);
    const decided = await store.decide(id, state, decision, { others, grant });
    if (decided === undefined)
      throw new HostError(
        'not_found',
        `there is no approval ${JSON.stringify(id)}; list them with: codemode approvals`,
      );
    if (decided.isFirst && unrecorded === undefined) await this.#options.audit?.decided(decided.approvals);
    await this.#waiters.poll(store);
    return decided;
  }

  /** The standing decisions that let calls through now. */
  async grants(): Promise<Grant[]> {
    return (await this.#options.store()).grants(Date.now());
  }

  /**
   * Ends a grant by the id of its approval: the next call asks again, in every host. Throws `not_found` if there is none. Calls that
   * were decided with it stay decided.
   */
  async revoke(id: string, { by, reason }: Pick<Answer, 'by' | 'reason'>): Promise<Grant> {
    const store = await this.#options.store();
    const atMs = Date.now();
    const grant = (await store.grants(atMs)).find(({ approval }) => approval.id === id);
    if (grant === undefined || !(await store.revokeGrant(id)))
      throw new HostError(
        'not_found',
        `${JSON.stringify(id.slice(0, 100))} is not a grant; list them with: codemode approvals grants`,
      );
    // Like a refusal: it takes effect even if it cannot be recorded.
    if ((await this.#options.audit?.refusal()) === undefined)
      await this.#options.audit?.revoked(grant.approval, { by, atMs, ...omitUndefined({ reason }) });
    return grant;
  }

  /** Closes the approvals of an ended run: its calls will not be made. */
  async closeOfRun(runId: string): Promise<number> {
    const store = await this.#options.store();
    return store.closeOfRun(runId);
  }

  /** Ids of decisions that came after a run of this program had ended, and that no run has used. */
  async decidedLate(caller: string, source: string, start: RunStart): Promise<ReadonlySet<string>> {
    const store = await this.#options.store();
    const late = await store.decidedLate(caller, startDigest(source, start), Date.now());
    return new Set(late.map(({ id }) => id));
  }

  async pending(): Promise<Approval[]> {
    const store = await this.#options.store();
    await store.expire(Date.now());
    return store.pending();
  }

  /** Ids of pending approvals, without their content. */
  async pendingIds(): Promise<ReadonlySet<string>> {
    const store = await this.#options.store();
    await store.expire(Date.now());
    return store.pendingIds();
  }

  async recent(limit: number): Promise<Approval[]> {
    const store = await this.#options.store();
    await store.expire(Date.now());
    return store.recent(limit);
  }

  async find(id: string): Promise<Approval | undefined> {
    const store = await this.#options.store();
    await store.expire(Date.now());
    return store.find(id);
  }

  /** Ids that start with these characters, including decided and expired approvals. */
  async idsWith(prefix: string, limit: number): Promise<string[]> {
    return (await this.#options.store()).idsWith(prefix, limit);
  }

  async ofRun(runId: string): Promise<Approval[]> {
    return (await this.ofRuns([runId])).get(runId) ?? [];
  }

  /** For many runs at once: a shared database is queried once for a whole list. */
  async ofRuns(runIds: readonly string[]): Promise<ReadonlyMap<string, Approval[]>> {
    const store = await this.#options.store();
    await store.expire(Date.now());
    const found = new Map<string, Approval[]>();
    for (const approval of await store.ofRuns(runIds))
      found.set(approval.runId, [...(found.get(approval.runId) ?? []), approval]);
    return found;
  }

  /** Whether a person was asked about this call of this run. */
  async isAsked(runId: string, call: number): Promise<boolean> {
    const store = await this.#options.store();
    return (await store.ofCall(runId, call)) !== undefined;
  }
}

/** The person approved this language and input too: the same source computes something else with others. */
function startDigest(source: string, { language, input = null }: RunStart): string {
  return argumentsDigest([language, source, input]);
}

/** No stored run records that such a call was made, so its approval is marked as used. */
function isUsedOnce({ run, call }: ApprovalRequest): boolean {
  return call === DIRECT_CALL || run.cannotSuspend !== undefined || run.usesDecisionsOnce === true;
}

function grantOf(scope: GrantScope, runId: string | undefined, nowMs: number) {
  if (scope === 'run' && runId !== undefined) return { runId, expiresAtMs: nowMs + RUN_GRANT_MS };
  return scope === 'hour' ? { runId: undefined, expiresAtMs: nowMs + HOUR_MS } : undefined;
}

/** Short enough to be typed, long enough not to be guessed. */
function newId(): string {
  return randomUUID().replaceAll('-', '').slice(0, 16);
}
