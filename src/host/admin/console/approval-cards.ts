import { type Approval, cardsOf, DIRECT_CALL, type Grant, scopesOf } from '../../../domain/approval.js';
import type { ApprovalCard, ApprovalReason, ApprovalView, GrantView } from '../../../domain/console/approvals.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { visibleLine, visibleSentence, visibleText } from '../../../lib/text/visible-text.js';
import { cutValue } from './cut-value.js';

/** Limit for arguments in a list; `approval` shows more. */
const LISTED_CHARACTERS = 4_096;
const WHOLE_CHARACTERS = 16 * 1024 * 1024;
const MAX_LISTED_CALLS = 200;

/** Approvals as cards. `titleOf` returns the line by which a person recognises the run. */
export function approvalCards(
  approvals: readonly Approval[],
  titleOf: (runId: string) => string | undefined,
): ApprovalCard[] {
  return cardsOf(approvals).map((card) => {
    const [first] = card as readonly [Approval];
    const runTitle = titleOf(first.runId);
    return {
      id: first.id,
      runId: first.runId,
      caller: visibleLine(first.caller),
      ...omitUndefined({ runTitle: ifDefined(runTitle, visibleLine) }),
      serverId: visibleLine(first.tool.serverId),
      toolName: visibleLine(first.tool.toolName),
      state: first.state,
      reason: visibleSentence(first.reason),
      reasons: first.reasons.map(reasonOf),
      code: visibleText(first.code),
      scopes: scopesOf(first).filter((scope) => scope !== 'calls'),
      calls: card.slice(0, MAX_LISTED_CALLS).map((approval) => approvalView(approval)),
      callCount: card.length,
      createdAtMs: first.createdAtMs,
      expiresAtMs: Math.min(...card.map(({ expiresAtMs }) => expiresAtMs)),
      isDirect: first.call === DIRECT_CALL,
    };
  });
}

export function approvalView(approval: Approval, size: 'listed' | 'whole' = 'listed'): ApprovalView {
  const { id, call, hiddenParts, isUnreadable = false, state, createdAtMs, expiresAtMs, decision } = approval;
  const json = JSON.stringify(approval.arguments) ?? 'null';
  const { value, isCut } = cutValue(json, size === 'listed' ? LISTED_CHARACTERS : WHOLE_CHARACTERS);
  return {
    ...{ id, call, arguments: value, isCut, argumentsBytes: Buffer.byteLength(json) },
    digest: approval.argumentsDigest,
    ...{ hiddenParts, isUnreadable, state, createdAtMs, expiresAtMs },
    ...omitUndefined({
      decision: ifDefined(decision, (decision) => ({
        by: visibleLine(decision.by),
        atMs: decision.atMs,
        scope: decision.scope,
        ...omitUndefined({ reason: ifDefined(decision.reason, visibleSentence) }),
      })),
    }),
  };
}

export function grantView({ approval, scope, expiresAtMs }: Grant, runTitle: string | undefined): GrantView {
  const { id, runId, caller, tool, reasons, createdAtMs, decision } = approval;
  return {
    ...{ id, runId, caller: visibleLine(caller), scope, expiresAtMs },
    ...omitUndefined({ runTitle: ifDefined(runTitle, visibleLine) }),
    serverId: visibleLine(tool.serverId),
    toolName: visibleLine(tool.toolName),
    reasons: reasons.map((each) => visibleSentence(each)),
    by: visibleLine(decision?.by ?? ''),
    atMs: decision?.atMs ?? createdAtMs,
    ...omitUndefined({ reason: ifDefined(decision?.reason, visibleSentence) }),
  };
}

/** `broker/policy` writes the parts of a reason. They are recognised by their wording, and an unknown part is shown unchanged. */
function reasonOf(text: string): ApprovalReason {
  const shown = visibleSentence(text);
  const flow = /^(?:private data|untrusted text) from (.*)$/s.exec(text)?.[1];
  if (flow !== undefined) return { kind: 'flow', text: shown, readFrom: visibleLine(flow) };
  if (text === 'policy.budget') return { kind: 'budget', text: shown };
  if (/^rule \d/.test(text)) return { kind: 'rule', text: shown };
  if (text.startsWith('preset ')) return { kind: 'preset', text: shown };
  return { kind: 'other', text: shown };
}
