import type { AuditEntry, CallVerdict } from '../../domain/audit.js';
import type { BrokerCall, BrokerOutcome } from '../call.js';
import type { AuditTrail } from './audit-trail.js';

/** Notes one call that has ended. Resolved when it is on record, where the call may have changed something. */
export function recordCall(
  trail: AuditTrail,
  call: BrokerCall,
  outcome: BrokerOutcome,
  { atMs, durationMs }: { readonly atMs: number; readonly durationMs: number },
): Promise<void> | undefined {
  const { run, tool } = call;
  const verdict = verdictOf(outcome);
  const entry: AuditEntry = {
    atMs,
    runId: run.runId,
    caller: run.caller,
    profile: run.profile,
    codeDigest: run.codeDigest,
    serverId: tool.serverId,
    toolName: tool.name,
    argumentsDigest: trail.digest(JSON.stringify(call.input ?? {})),
    resultBytes: outcome.reply === undefined ? null : bytesOf(outcome.reply),
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    verdict,
    approval: outcome.approval ?? { state: 'NOT_REQUIRED' },
    redactions: outcome.redactions ?? {},
  };
  const mayHaveActed = tool.annotations?.readOnlyHint !== true && !WITHOUT_EFFECT.has(verdict);
  return trail.record(entry, mayHaveActed);
}

/** The server has not heard of these calls. */
const WITHOUT_EFFECT: ReadonlySet<CallVerdict> = new Set([
  'invalid_arguments',
  'denied',
  'limited',
  'pending',
  'not_sent',
]);

function verdictOf(outcome: BrokerOutcome): CallVerdict {
  if (outcome.ok) return 'ok';
  if (outcome.verdict !== undefined) return outcome.verdict;
  return outcome.error.errorClass === 'SandboxLimitError' ? 'limited' : 'failed';
}

/** Of structured content where there is some, else of the texts and data: what a program is given. */
function bytesOf({ content, structuredContent, structuredJson }: NonNullable<BrokerOutcome['reply']>): number {
  if (structuredContent !== undefined) return Buffer.byteLength(structuredJson ?? JSON.stringify(structuredContent));
  let bytes = 0;
  for (const { text, data } of content) {
    if (typeof text === 'string') bytes += Buffer.byteLength(text);
    if (typeof data === 'string') bytes += data.length;
  }
  return bytes;
}
