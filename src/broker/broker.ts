import type { Approval } from '../domain/approval.js';
import type { ApprovalNote, CallVerdict } from '../domain/audit.js';
import type { GrantLimits } from '../domain/capability.js';
import { HostError } from '../domain/errors.js';
import type { GuestError } from '../domain/execution.js';
import { isJsonObject, type JsonValue } from '../domain/json.js';
import { SPANS } from '../domain/trace.js';
import type { ToolReply, UpstreamFailure } from '../domain/upstream.js';
import type { ApprovalQuestion, Approvals } from './approvals/approvals.js';
import type { ToolChecker } from './arguments/tool-checker.js';
import type { AuditTrail } from './audit/audit-trail.js';
import { CallTrace } from './audit/call-trace.js';
import type { BrokerCall, BrokerOutcome } from './call.js';
import {
  errorOfFailure,
  errorOfNoAnswer,
  errorOfRefusal,
  errorOfReply,
  isRateLimited,
  shortened,
} from './call-errors.js';
import { endCallSpan, startCallSpan } from './call-observer.js';
import { Admittance } from './limits/admittance.js';
import type { CallLimits } from './limits/call-limits.js';
import type { Bill } from './policy/budget.js';
import type { Judgement, PolicyGate } from './policy/gate.js';
import type { PolicyQuestion } from './policy/policy.js';
import { hideSecretsOfCall } from './redaction/hide-secrets.js';
import { redactOnTheWay, redactOutcome } from './redaction/redact-call.js';
import type { Redactor } from './redaction/redactor.js';
import { busyError, denialError, expiredError, toolCallError, unpaidError } from './refusals.js';
import { asUnauthorized } from './unauthorized-words.js';
import { callUpstream, credentialKey, timeoutKeys, type UpstreamCallOptions } from './upstream-call.js';

export type { BrokerCall, BrokerOutcome };

/** What the pipeline asks of others. */
export interface BrokerOptions extends UpstreamCallOptions {
  readonly checker: ToolChecker;
  readonly gate: PolicyGate;
  readonly limits: CallLimits;
  /** What holds for every run with a grant; absent: the defaults of the contract. */
  readonly grantLimits?: GrantLimits;
  /** An answer that breaks its own schema is a failure rather than a warning. */
  readonly isOutputStrict: boolean;
  readonly approvals: Approvals;
  /** Absent where redaction is not wanted, as in tests of other things. */
  readonly redactor?: Redactor;
  /** Absent where nothing is recorded: `audit.enabled: false`. */
  readonly audit?: AuditTrail;
}

/** Everything between a program's wish and an upstream. Nothing else calls one. */
export class Broker {
  readonly #options: BrokerOptions;
  readonly #admittance: Admittance;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#admittance = new Admittance(options.limits, options.grantLimits);
  }

  /** Every tool call of every program and every client passes here, and leaves a record. None is made without one. */
  async handle(call: BrokerCall): Promise<BrokerOutcome> {
    const { tracer, observer } = this.#options;
    const startedAt = performance.now();
    const span = tracer === undefined ? undefined : startCallSpan(tracer, call);
    let outcome: BrokerOutcome = { ok: false, error: MISTAKE };
    try {
      outcome = await this.#record(span === undefined ? call : { ...call, span });
      return outcome;
    } finally {
      if (span !== undefined) endCallSpan(span, outcome);
      observer?.onCall(call.serverPath, outcome.ok, performance.now() - startedAt);
    }
  }

  async #record(call: BrokerCall): Promise<BrokerOutcome> {
    const { audit, redactor } = this.#options;
    const refusal = await audit?.refusal();
    if (refusal !== undefined) return { ok: false, error: refusal };
    const trace = audit && new CallTrace(audit, call);
    try {
      const raw = await this.#carryOut(redactor === undefined ? call : redactOnTheWay(redactor, call), trace);
      const outcome = shortened(redactor === undefined ? raw : await redactOutcome(redactor, raw));
      trace?.end(outcome);
      return outcome;
    } catch (error) {
      // A mistake of ours; the call may have been made all the same.
      trace?.end({ ok: false, error: MISTAKE });
      throw error;
    }
  }

  /** A call that was refused before it came here, for the record. */
  async refuse(call: BrokerCall, error: GuestError, verdict: CallVerdict): Promise<BrokerOutcome> {
    const { audit } = this.#options;
    const outcome: BrokerOutcome = { ok: false, error, verdict };
    // Of a store that cannot be opened nothing more is made than of a call: there was none.
    if (audit !== undefined && (await audit.refusal()) === undefined) new CallTrace(audit, call).end(outcome);
    return outcome;
  }

  /** The steps between a wish and its answer, in this order. */
  async #carryOut(call: BrokerCall, trace: CallTrace | undefined): Promise<BrokerOutcome> {
    const { authorizedUntilMs = Number.POSITIVE_INFINITY } = call.run;
    if (Date.now() >= authorizedUntilMs) return { ok: false, error: expiredError(call), verdict: 'denied' };
    const checked = this.#options.checker.checkArguments(call.tool, call.exportName, call.input);
    if (!checked.ok) return { ok: false, error: checked.error, verdict: 'invalid_arguments' };
    const ungranted = this.#admittance.refusalOf(call);
    if (ungranted !== undefined) return { ok: false, error: ungranted, verdict: 'denied' };
    // Up to the first wait all of this is one step: calls made at once see what those before them have spent and taken.
    const question = questionOf(call);
    const judgement = this.#options.gate.judge(question, call.run.ledger);
    call.span?.set({ 'codemode.policy.decision': judgement.decision });
    if (judgement.decision === 'deny') return { ok: false, error: denialError(call, judgement), verdict: 'denied' };
    const bill = judgement.decision === 'allow' ? judgement.bill : undefined;
    const busy = call.isAgain === true ? undefined : this.#admittance.takeRate(call.run, question);
    if (busy !== undefined) {
      bill?.giveBack();
      return { ok: false, error: busyError(call, busy), verdict: 'limited' };
    }
    const asked = await this.#ask(call, judgement);
    if (asked?.error !== undefined) {
      bill?.giveBack();
      return asked;
    }
    const sending = () => trace?.sending(asked?.approval);
    const answer = await this.#make(call, { question, paid: bill, sending });
    return asked === undefined ? answer : { ...answer, approval: asked.approval };
  }

  /** A person decides where the policy says so, and where one was asked before the program slept: a no stays a no. */
  async #ask(call: BrokerCall, judgement: Judgement): Promise<Answered | undefined> {
    const isAsked =
      judgement.decision === 'ask' ||
      (call.isAgain === true && (await this.#options.approvals.isAsked(call.run.runId, call.number)));
    if (!isAsked) return undefined;
    const span = call.span && this.#options.tracer?.start(SPANS.approval, { parent: call.span.context });
    try {
      return await this.#approve(call, call.input ?? {}, judgement);
    } finally {
      span?.end();
    }
  }

  /** Makes a call that nothing speaks against any more. A place among those under way is not held while a person thinks. */
  async #make(call: BrokerCall, { question, paid, sending }: Departure): Promise<BrokerOutcome> {
    const { gate } = this.#options;
    const bill = paid ?? gate.payApproved(question, call.run.ledger);
    if (bill === undefined) return { ok: false, error: unpaidError(call), verdict: 'denied' };
    const place = await this.#admittance.enter(call.run, question, call.signal);
    if (place.kind !== 'entered') {
      bill.giveBack();
      return place.kind === 'busy'
        ? { ok: false, error: busyError(call, place.busy), verdict: 'limited' }
        : { ok: false, error: errorOfFailure(call, CANCELLED), verdict: 'cancelled' };
    }
    try {
      const unrecorded = sending();
      if (unrecorded !== undefined) {
        bill.giveBack();
        return { ok: false, error: unrecorded, verdict: 'not_sent' };
      }
      call.onSending?.();
      const times = this.#admittance.timesOf(call.run, question);
      const outcome = asUnauthorized(await callUpstream(this.#options, call, question.arguments, times), call.input);
      // Whatever comes back is text that the program has from then on, an error no less than an answer.
      gate.received(call.tool.serverId, call.run.ledger);
      if (outcome.status === 'answered') return this.#answer(call, outcome.reply);
      if (outcome.failure.kind === 'not_sent') bill.giveBack();
      const { registry } = this.#options;
      const keys = timeoutKeys(registry, call.tool, times);
      const error = errorOfFailure(call, outcome.failure, keys, credentialKey(registry, call.tool));
      const { kind, refusal } = outcome.failure;
      return { ok: false, error, verdict: isRateLimited(refusal) ? 'limited' : kind };
    } finally {
      place.leave();
    }
  }

  #answer(call: BrokerCall, reply: ToolReply): BrokerOutcome {
    if (!reply.isError) return this.#checkOutput(call, reply);
    const error = errorOfReply(call, reply, credentialKey(this.#options.registry, call.tool));
    const verdict = error.errorClass === 'AuthenticationError' ? 'unauthorized' : 'tool_error';
    return { ok: false, error, reply, verdict: isRateLimited(reply.refusal) ? 'limited' : verdict };
  }

  /** Waits for a person. Gives the outcome with which the call ends where there is no yes. */
  async #approve(call: BrokerCall, input: JsonValue, { reason, reasons }: Judgement): Promise<Answered> {
    const { run, number, tool, exportName, signal, locate, onPending, onDecided } = call;
    const { redactor } = this.#options;
    if (call.asksNobody === true)
      return unanswered(errorOfNoAnswer(call, undefined, new HostError('bad_input', 'nobody is there to ask')));
    let asked: Approval | undefined;
    const note = (approval: Approval) => {
      asked = approval;
      onPending?.(approval);
    };
    try {
      const question: ApprovalQuestion = {
        ...{ run, call: number, tool, exportName, input, reason, reasons, signal, onPending: note },
        ...(locate === undefined ? {} : { locate }),
        ...(redactor === undefined ? {} : { hideSecrets: (shown) => hideSecretsOfCall(redactor, shown) }),
      };
      const { state, approval } = await this.#options.approvals.ask(question);
      onDecided?.();
      if (state === 'APPROVED') return { approval: noteOf(approval, state) };
      const error = errorOfRefusal(call, state, approval);
      return { ok: false, error, verdict: 'denied', approval: noteOf(approval, state) };
    } catch (error) {
      onDecided?.();
      return unanswered(errorOfNoAnswer(call, asked, error), asked);
    }
  }

  #checkOutput(call: BrokerCall, reply: ToolReply): BrokerOutcome {
    const problem = this.#options.checker.checkOutput(call.tool, reply.structuredContent);
    if (problem === undefined) return { ok: true, reply, warnings: [] };
    const message = `${call.serverPath}: ${problem}`;
    if (!this.#options.isOutputStrict) return { ok: true, reply, warnings: [message] };
    return {
      ok: false,
      error: toolCallError(call, message, 'Ask the user to set strictOutput: false.'),
      reply,
      verdict: 'invalid_output',
    };
  }
}

/** A call that nothing speaks against any more. */
interface Departure {
  readonly question: PolicyQuestion;
  readonly paid: Bill | undefined;
  /** Puts on record that it is sent, or says why it must not be. */
  readonly sending: () => GuestError | undefined;
}

/** What came of asking a person: a yes, or how the call ends without one. */
type Answered =
  | { readonly approval: ApprovalNote; readonly error?: undefined }
  | (Extract<BrokerOutcome, { ok: false }> & { readonly approval: ApprovalNote });

function unanswered(error: GuestError, asked?: Approval): Answered {
  return { ok: false, error, verdict: 'pending', approval: { state: 'PENDING', ...(asked && { id: asked.id }) } };
}

const MISTAKE: GuestError = { errorClass: 'ToolCallError', message: 'a mistake of codemode', hint: 'Report it.' };

/** What a decision leaves on record. */
function noteOf({ id, decision }: Approval, state: ApprovalNote['state']): ApprovalNote {
  if (decision === undefined) return { state, id };
  const { by, atMs, reason } = decision;
  return { state, id, by, at: new Date(atMs).toISOString(), ...(reason === undefined ? {} : { reason }) };
}

const CANCELLED: UpstreamFailure = { kind: 'cancelled', message: 'cancelled before it was sent', mayHaveRun: false };

function questionOf({ tool, serverPath, run, input = {} }: BrokerCall): PolicyQuestion {
  const { caller, profile } = run;
  // The protocol knows objects only; a schema with another root gets its value under the name it would have.
  return { tool, serverPath, caller, profile, arguments: isJsonObject(input) ? input : { input } };
}
