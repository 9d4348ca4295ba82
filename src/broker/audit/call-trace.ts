import type { ApprovalNote, AuditEntry, CallVerdict } from '../../domain/audit.js';
import type { GuestError } from '../../domain/run.js';
import type { Awaitable } from '../../lib/async/awaitable.js';
import type { BrokerCall, BrokerOutcome } from '../call.js';
import { replyBytes } from '../reply-bytes.js';
import type { AuditTrail } from './audit-trail.js';

/** The audit records of one call: that it was sent, if it was, and how it ended. */
export class CallTrace {
  readonly #trail: AuditTrail;
  readonly #startedAt = performance.now();
  /** One object for both records, sent and ended. The trail has written the first before the second one changes it. */
  readonly #entry: { -readonly [Field in keyof AuditEntry]: AuditEntry[Field] };

  constructor(trail: AuditTrail, { run, tool, input }: BrokerCall) {
    this.#trail = trail;
    this.#entry = {
      callId: trail.nextCallId(),
      atMs: Date.now(),
      runId: run.runId,
      caller: run.caller,
      profile: run.profile,
      codeDigest: run.codeDigest,
      serverId: tool.serverId,
      toolName: tool.name,
      argumentsDigest: trail.digest(JSON.stringify(input ?? {})),
      resultBytes: null,
      durationMs: 0,
      verdict: 'sent',
      approval: NOT_ASKED,
      redactions: NONE,
    };
  }

  /** The call is about to be sent. Returns the reason if it must not be sent. */
  sending(approval: ApprovalNote = NOT_ASKED): Awaitable<GuestError | undefined> {
    this.#entry.approval = approval;
    return this.#trail.sending(this.#entry);
  }

  end(outcome: BrokerOutcome): Awaitable<void> {
    const entry = this.#entry;
    entry.resultBytes = outcome.reply === undefined ? null : replyBytes(outcome.reply);
    entry.durationMs = Math.round((performance.now() - this.#startedAt) * 1_000) / 1_000;
    entry.verdict = verdictOf(outcome);
    entry.approval = outcome.approval ?? NOT_ASKED;
    entry.redactions = outcome.redactions ?? NONE;
    return this.#trail.record(entry);
  }
}

const NOT_ASKED: ApprovalNote = { state: 'NOT_REQUIRED' };
const NONE: AuditEntry['redactions'] = {};

function verdictOf(outcome: BrokerOutcome): CallVerdict {
  if (outcome.ok) return 'ok';
  if (outcome.verdict !== undefined) return outcome.verdict;
  return outcome.error.errorClass === 'SandboxLimitError' ? 'limited' : 'failed';
}
