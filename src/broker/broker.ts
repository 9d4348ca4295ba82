import type { Approval } from '../domain/approval.js';
import type { ApprovalNote, CallVerdict } from '../domain/audit.js';
import type { GrantLimits } from '../domain/capability.js';
import { HostError, isHostError } from '../domain/errors.js';
import { isJsonObject, type JsonValue } from '../domain/json.js';
import type { GuestError } from '../domain/run.js';
import type { Tool } from '../domain/tool.js';
import { SPANS } from '../domain/trace.js';
import type { ToolReply, UpstreamFailure } from '../domain/upstream.js';
import type { Awaitable } from '../lib/async/awaitable.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import type { ApprovalRequest, Approvals } from './approvals/approvals.js';
import type { ToolChecker } from './arguments/tool-checker.js';
import type { AuditTrail } from './audit/audit-trail.js';
import { CallTrace } from './audit/call-trace.js';
import type { BrokerCall, BrokerOutcome, CallDelegate } from './call.js';
import {
  errorOfFailure,
  errorOfNoAnswer,
  errorOfRefusal,
  errorOfReply,
  errorOfStore,
  isRateLimited,
  shortened,
} from './call-errors.js';
import { endCallSpan, startCallSpan } from './call-observer.js';
import { asUnauthorized } from './detect-unauthorized.js';
import type { Hooks } from './hooks/hooks.js';
import { AdmissionControl } from './limits/admission-control.js';
import type { CallLimits } from './limits/call-limits.js';
import type { Bill } from './policy/budget.js';
import type { Judgement, PolicyGate } from './policy/gate.js';
import type { PolicyCall } from './policy/policy.js';
import { hideSecretsOfCall } from './redaction/hide-secrets.js';
import { redactInFlight, redactOutcome } from './redaction/redact-call.js';
import type { Redactor } from './redaction/redactor.js';
import {
  busyError,
  denialError,
  expiredError,
  outdatedError,
  serverOf,
  toolCallError,
  unpaidError,
  vetoError,
} from './refusals.js';
import { callUpstream, credentialKey, timeoutKeys, type UpstreamCallOptions } from './upstream-call.js';

export type { BrokerCall, BrokerOutcome, CallDelegate };

/** The parts that the pipeline uses. */
export interface BrokerOptions extends UpstreamCallOptions {
  readonly checker: ToolChecker;
  readonly gate: PolicyGate;
  readonly limits: CallLimits;
  /** Limits of every run with a grant; absent: the defaults of the contract. */
  readonly grantLimits?: GrantLimits;
  /** An answer that breaks its own schema is a failure rather than a warning. */
  readonly isOutputStrict: boolean;
  readonly approvals: Approvals;
  /** Why the stored definition of a tool must not be used for a call; absent if no definitions of earlier processes are kept. */
  readonly whyOutdated?: (tool: Tool) => Promise<string | undefined> | undefined;
  /** The user's own commands that may refuse a call; absent if none is configured. */
  readonly hooks?: Hooks;
  /** Absent if redaction is off, as in some tests. */
  readonly redactor?: Redactor;
  /** Absent if the audit log is off: `audit.enabled: false`. */
  readonly audit?: AuditTrail;
}

/** The pipeline between a call of a program and an upstream. Nothing else calls an upstream. */
export class Broker {
  readonly #options: BrokerOptions;
  readonly #admissionControl: AdmissionControl;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#admissionControl = new AdmissionControl(options.limits, options.grantLimits);
  }

  /** Every tool call of every program and every client passes here and is recorded. No call is made without a record. */
  async handle(call: BrokerCall): Promise<BrokerOutcome> {
    const { tracer, observer } = this.#options;
    const startedAt = performance.now();
    const span = tracer === undefined ? undefined : startCallSpan(tracer, call);
    let outcome: BrokerOutcome = { ok: false, error: MISTAKE };
    try {
      outcome = await this.#record(span === undefined ? call : { ...call, span });
      return outcome;
    } finally {
      const durationMs = performance.now() - startedAt;
      if (span !== undefined) endCallSpan(span, outcome);
      observer?.onCall(call.serverPath, outcome.ok, durationMs);
      this.#options.hooks?.tellOutcome(call, outcome, durationMs);
    }
  }

  async #record(call: BrokerCall): Promise<BrokerOutcome> {
    const { audit, redactor } = this.#options;
    if (audit?.isOpen === false) {
      const refusal = await audit.refusal();
      if (refusal !== undefined) return { ok: false, error: refusal };
    }
    const trace = audit && new CallTrace(audit, call);
    try {
      const raw = await this.#carryOut(redactor === undefined ? call : redactInFlight(redactor, call), trace);
      const outcome = shortened(redactor === undefined ? raw : await redactOutcome(redactor, raw));
      await trace?.end(outcome);
      return outcome;
    } catch (error) {
      // A bug in the host. The call may have been made.
      await trace?.end({ ok: false, error: MISTAKE });
      throw error;
    }
  }

  /** Records a call that was refused before it reached the pipeline. */
  async refuse(call: BrokerCall, error: GuestError, verdict: CallVerdict): Promise<BrokerOutcome> {
    const { audit } = this.#options;
    const outcome: BrokerOutcome = { ok: false, error, verdict };
    // A store that cannot be opened is not an error here: no call was made.
    if (audit !== undefined && (await audit.refusal()) === undefined) await new CallTrace(audit, call).end(outcome);
    return outcome;
  }

  /**
   * Whether a program may be given the answer that an earlier run of it got to the same call. A call that needs a person, or
   * exceeds a rate limit, may still reuse it; any other obstacle rules it out. The answer counts as received and spent, and
   * nothing is sent.
   */
  async admitReuse(call: BrokerCall): Promise<boolean> {
    if (this.#isExpired(call) || (await this.#options.whyOutdated?.(call.tool)) !== undefined) return false;
    if (!this.#options.checker.checkArguments(call.tool, call.exportName, call.input).ok) return false;
    if (this.#admissionControl.refusalOf(call) !== undefined) return false;
    const { gate } = this.#options;
    const judgement = await gate.judge(policyCallOf(call), call.run.ledger);
    if (judgement.decision === 'deny') return false;
    if (judgement.decision === 'allow') await judgement.bill.giveBack();
    gate.countEarlierCall(call.tool, call.serverPath, call.run.ledger);
    return true;
  }

  #isExpired({ run: { authorizedUntilMs = Number.POSITIVE_INFINITY } }: BrokerCall): boolean {
    return Date.now() >= authorizedUntilMs;
  }

  async #carryOut(call: BrokerCall, trace: CallTrace | undefined): Promise<BrokerOutcome> {
    let isSending = false;
    try {
      return await this.#steps(call, (approval) => {
        isSending = true;
        return trace?.sending(approval);
      });
    } catch (error) {
      // Budgets, rates and approvals are in the store. Without it nothing was decided, so nothing was sent.
      if (isSending || !isHostError(error, 'store_unavailable')) throw error;
      return { ok: false, error: errorOfStore(call, error), verdict: 'not_sent' };
    }
  }

  /** The steps of a call, in this order. */
  async #steps(
    call: BrokerCall,
    recordSending: (approval: ApprovalNote | undefined) => Awaitable<GuestError | undefined>,
  ): Promise<BrokerOutcome> {
    if (this.#isExpired(call)) return { ok: false, error: expiredError(call), verdict: 'denied' };
    const checking = this.#options.whyOutdated?.(call.tool);
    const outdated = checking === undefined ? undefined : await checking;
    if (outdated !== undefined) return { ok: false, error: outdatedError(call, outdated), verdict: 'not_sent' };
    const checked = this.#options.checker.checkArguments(call.tool, call.exportName, call.input);
    if (!checked.ok) return { ok: false, error: checked.error, verdict: 'invalid_arguments' };
    const ungranted = this.#admissionControl.refusalOf(call);
    if (ungranted !== undefined) return { ok: false, error: ungranted, verdict: 'denied' };
    // The cost is reserved before anything is awaited, so that concurrent calls see what earlier ones have reserved.
    const policyCall = policyCallOf(call);
    const judgement = await this.#options.gate.judge(policyCall, call.run.ledger);
    call.span?.set({ 'codemode.policy.decision': judgement.decision });
    if (judgement.decision === 'deny') return { ok: false, error: denialError(call, judgement), verdict: 'denied' };
    const bill = judgement.decision === 'allow' ? judgement.bill : undefined;
    const busy =
      call.delegate?.isReplayed === true ? undefined : await this.#admissionControl.takeRate(call.run, policyCall);
    if (busy !== undefined) {
      await bill?.giveBack();
      return { ok: false, error: busyError(call, busy), verdict: 'limited' };
    }
    // Hooks run before a person is asked: nobody should decide about a call that is refused anyway.
    const vetoed = await this.#options.hooks?.refusalOf(call);
    if (vetoed !== undefined) {
      await bill?.giveBack();
      return { ok: false, error: vetoError(call, vetoed), verdict: 'denied' };
    }
    const mayBeAsked = judgement.decision === 'ask' || call.delegate?.isReplayed === true;
    const asked = mayBeAsked ? await this.#ask(call, judgement) : undefined;
    if (asked?.error !== undefined) {
      await bill?.giveBack();
      return asked;
    }
    const sending = () => recordSending(asked?.approval);
    const answer = await this.#send(call, { policyCall, paid: bill, sending });
    return asked === undefined ? answer : { ...answer, approval: asked.approval };
  }

  /** A person decides if the policy says so, or if a person was asked before the run was suspended: a refusal stays a refusal. */
  async #ask(call: BrokerCall, judgement: Judgement): Promise<Answered | undefined> {
    const isAsked =
      judgement.decision === 'ask' ||
      (call.delegate?.isReplayed === true && (await this.#options.approvals.isAsked(call.run.runId, call.number)));
    if (!isAsked) return undefined;
    const span = call.span && this.#options.tracer?.start(SPANS.approval, { parent: call.span.context });
    try {
      return await this.#approve(call, call.input ?? {}, judgement);
    } finally {
      span?.end();
    }
  }

  /** Makes a call that passed all checks. A concurrency slot is not held while a person decides. */
  async #send(call: BrokerCall, { policyCall, paid, sending }: Sending): Promise<BrokerOutcome> {
    const { gate } = this.#options;
    const bill = paid ?? (await gate.payApproved(policyCall, call.run.ledger));
    if (bill === undefined) return { ok: false, error: unpaidError(call), verdict: 'denied' };
    const entering = this.#admissionControl.enter(call.run, policyCall, call.signal);
    const place = entering instanceof Promise ? await entering : entering;
    if (place.kind !== 'entered') {
      await bill.giveBack();
      return place.kind === 'busy'
        ? { ok: false, error: busyError(call, place.busy), verdict: 'limited' }
        : { ok: false, error: errorOfFailure(call, CANCELLED), verdict: 'cancelled' };
    }
    try {
      const unrecorded = await sending();
      if (unrecorded !== undefined) {
        await bill.giveBack();
        return { ok: false, error: unrecorded, verdict: 'not_sent' };
      }
      await call.delegate?.onSending();
      const times = this.#admissionControl.timesOf(call.run, policyCall);
      const outcome = asUnauthorized(await callUpstream(this.#options, call, policyCall.arguments, times), call.input);
      // From here on the program has received the server's text, whether it is an answer or an error.
      gate.received(call.tool.serverId, call.run.ledger);
      if (outcome.status === 'answered') return this.#outcomeOf(call, outcome.reply);
      if (outcome.failure.kind === 'not_sent') await bill.giveBack();
      const { registry } = this.#options;
      const keys = timeoutKeys(registry, call.tool, times);
      const error = errorOfFailure(call, outcome.failure, keys, credentialKey(registry, call.tool));
      const { kind, refusal } = outcome.failure;
      return { ok: false, error, verdict: isRateLimited(refusal) ? 'limited' : kind };
    } finally {
      place.leave();
    }
  }

  #outcomeOf(call: BrokerCall, reply: ToolReply): BrokerOutcome {
    if (!reply.isError) return this.#checkOutput(call, reply);
    const error = errorOfReply(call, reply, credentialKey(this.#options.registry, call.tool));
    const verdict = error.errorClass === 'AuthenticationError' ? 'unauthorized' : 'tool_error';
    return { ok: false, error, reply, verdict: isRateLimited(reply.refusal) ? 'limited' : verdict };
  }

  /** Waits for a person. Returns the outcome of the call if it is not approved. */
  async #approve(call: BrokerCall, input: JsonValue, { reason, reasons }: Judgement): Promise<Answered> {
    const { run, number, tool, exportName, signal, delegate } = call;
    const { redactor } = this.#options;
    if (call.asksNobody === true)
      return unanswered(errorOfNoAnswer(call, undefined, new HostError('bad_input', 'nobody can be asked')));
    let asked: Approval | undefined;
    const note = (approval: Approval) => {
      asked = approval;
      delegate?.onPending(approval);
    };
    try {
      const request: ApprovalRequest = {
        ...{ run, call: number, tool, exportName, input, reason, reasons, signal, onPending: note },
        ...(delegate === undefined ? {} : { locate: () => delegate.locate() }),
        ...(redactor === undefined ? {} : { hideSecrets: (shown) => hideSecretsOfCall(redactor, shown) }),
      };
      const { state, approval } = await this.#options.approvals.ask(request);
      delegate?.onDecided();
      if (state === 'APPROVED') return { approval: noteOf(approval, state) };
      const error = errorOfRefusal(call, state, approval);
      return { ok: false, error, verdict: 'denied', approval: noteOf(approval, state) };
    } catch (error) {
      delegate?.onDecided();
      return unanswered(errorOfNoAnswer(call, asked, error), asked);
    }
  }

  #checkOutput(call: BrokerCall, reply: ToolReply): BrokerOutcome {
    const problem = this.#options.checker.checkOutput(call.tool, reply.structuredContent);
    if (problem === undefined) return { ok: true, reply, warnings: [] };
    const message = `${serverOf(call)}: ${problem}`;
    if (!this.#options.isOutputStrict) return { ok: true, reply, warnings: [message] };
    return {
      ok: false,
      error: toolCallError(call, message, 'Ask the user to set strictOutput: false.'),
      reply,
      verdict: 'invalid_output',
    };
  }
}

/** A call that passed all checks. */
interface Sending {
  readonly policyCall: PolicyCall;
  readonly paid: Bill | undefined;
  /** Records that the call is sent, or returns why it must not be. */
  readonly sending: () => Awaitable<GuestError | undefined>;
}

/** A person's decision: an approval, or the outcome of the refused call. */
type Answered =
  | { readonly approval: ApprovalNote; readonly error?: undefined }
  | (Extract<BrokerOutcome, { ok: false }> & { readonly approval: ApprovalNote });

function unanswered(error: GuestError, asked?: Approval): Answered {
  return { ok: false, error, verdict: 'pending', approval: { state: 'PENDING', ...(asked && { id: asked.id }) } };
}

const MISTAKE: GuestError = { errorClass: 'ToolCallError', message: 'a bug in codemode', hint: 'Report it.' };

/** The decision as the audit log records it. */
function noteOf({ id, decision }: Approval, state: ApprovalNote['state']): ApprovalNote {
  if (decision === undefined) return { state, id };
  const { by, atMs, reason } = decision;
  return { state, id, by, at: new Date(atMs).toISOString(), ...omitUndefined({ reason }) };
}

const CANCELLED: UpstreamFailure = { kind: 'cancelled', message: 'cancelled before it was sent', mayHaveRun: false };

function policyCallOf({ tool, serverPath, run, input = {} }: BrokerCall): PolicyCall {
  const { caller, profile } = run;
  // MCP arguments are objects; a schema with another root gets its value wrapped in a named property.
  return { tool, serverPath, caller, profile, arguments: isJsonObject(input) ? input : { input } };
}
