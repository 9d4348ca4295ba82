import { useState } from 'preact/hooks';
import type { ApprovalCard, ApprovalView } from '../../../../src/domain/console/approvals.js';
import { messageOf, request } from '../../api/request.js';
import { callerInSentence } from '../../lib/caller-label.js';
import { bytes, counted, time } from '../../lib/format.js';
import { useKeys } from '../../lib/keys.js';
import { isUndo, runLink } from '../../lib/run-link.js';
import { Countdown } from '../../ui/countdown.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { ActionButton, Badge } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';
import { ArgumentsTable } from './arguments-table.js';
import { type CardDraft, forgetDraft, keepDraft, NO_DRAFT, readDraft } from './card-draft.js';
import type { Decision } from './decide.js';
import { Decided } from './decided.js';
import { Excerpt } from './excerpt.js';
import { Reasons } from './reasons.js';

type Scope = Decision['scope'];

function scopeWords(scope: Scope, callCount: number): string {
  if (scope === 'run') return 'This tool, until the run ends';
  if (scope === 'hour') return 'This tool, for an hour';
  return callCount === 1 ? 'This call only' : 'These calls only';
}

/** One card: the tool, the arguments, the position in the program, and why a person is asked. */
export function CardDetail({
  card,
  onDecide,
}: {
  card: ApprovalCard;
  onDecide: (decision: Decision) => Promise<void>;
}) {
  const [draft, setDraft] = useState(() => readDraft(card.id));
  const [whole, setWhole] = useState<ReadonlyMap<string, ApprovalView>>(new Map());

  const { leftOut, reason } = draft;
  const scope = card.scopes.includes(draft.scope) ? draft.scope : 'call';
  const change = (part: Partial<CardDraft>) => {
    setDraft({ ...draft, ...part });
    keepDraft(card.id, { ...draft, ...part });
  };
  // In program order: a list of decided cards has the newest first.
  const calls = [...card.calls].sort((a, b) => a.call - b.call).map((call) => whole.get(call.id) ?? call);
  // A single call has no row, so it cannot be left out.
  const chosen = calls.length === 1 ? calls : calls.filter(({ id }) => !leftOut.has(id));
  const isPending = card.state === 'PENDING';
  const isUnreadable = chosen.some((call) => call.isUnreadable);
  const hidden = calls.reduce((sum, call) => sum + call.hiddenParts, 0);
  const cut = calls.filter((call) => call.isCut);
  // The calls that were left out may remain under the same card: their draft starts over.
  const press = async (decision: Decision['decision']) => {
    await onDecide({ decision, calls: chosen, scope, reason });
    setDraft(NO_DRAFT);
    forgetDraft();
  };
  const toggle = (id: string) => {
    const next = new Set(leftOut);
    if (!next.delete(id)) next.add(id);
    change({ leftOut: next });
  };
  const loadWhole = async () => {
    const loaded = await Promise.all(
      cut.slice(0, 20).map(({ id }) => request<ApprovalView>('approval', { path: { id } })),
    );
    setWhole(new Map([...whole, ...loaded.map((each) => [each.id, each] as const)]));
  };
  const canApprove = isPending && chosen.length > 0 && !isUnreadable;
  const canDeny = isPending && chosen.length > 0;
  const pressKey = (decision: Decision['decision']) => {
    press(decision).catch((error: unknown) => say(messageOf(error), 'bad'));
  };
  useKeys([
    { key: 'a', label: 'Approve the shown card', isOnce: true, run: () => canApprove && pressKey('approve') },
    { key: 'd', label: 'Deny the shown card', isOnce: true, run: () => canDeny && pressKey('deny') },
  ]);

  return (
    <article class="panel card" aria-label={`${foreignLabel(card.serverId)}/${foreignLabel(card.toolName)}`}>
      <div class="card-head">
        <div class="grow">
          <h2 class="mono card-tool">
            <Foreign text={`${card.serverId}/${card.toolName}`} limit={200} />
          </h2>
          <p class="muted small">
            {counted(card.callCount, 'call')} from{' '}
            <span title={foreignLabel(card.caller)}>{foreignLabel(callerInSentence(card.caller), 80)}</span>, asked at{' '}
            {time(card.createdAtMs)}
            {card.isDirect ? '. The client made it itself, outside of a program.' : ' · '}
            {!card.isDirect && (
              <a href={runLink(card.runId)}>{isUndo(card.runId) ? 'It undoes a run: open it' : 'Open the run'}</a>
            )}
          </p>
        </div>
        {isPending ? <Countdown atMs={card.expiresAtMs} /> : <StateBadge state={card.state} />}
      </div>

      <Reasons reasons={card.reasons} isPending={isPending} />

      {isUnreadable && <p class="note bad">The stored record of this call was changed, so it can only be denied.</p>}
      {calls.length > 1 ? (
        <ArgumentsTable calls={calls} leftOut={leftOut} onToggle={isPending ? toggle : undefined} />
      ) : (
        calls.map((call) => (
          <div key={call.id}>
            <h3>Arguments</h3>
            <JsonTree value={call.arguments} label="Arguments" open={3} bare isCut={call.isCut} />
          </div>
        ))
      )}
      {card.callCount > calls.length && (
        <p class="note">
          The first {calls.length} of {card.callCount} calls are shown. A decision counts for these; the others follow.
        </p>
      )}
      {hidden > 0 && (
        <p class="muted small">
          {counted(hidden, 'secret')} {hidden === 1 ? 'is shown as a mark' : 'are shown as marks'}.
        </p>
      )}
      {cut.length > 0 && (
        <div class="row">
          <span class="muted small">
            Large arguments are cut here ({bytes(cut.reduce((sum, call) => sum + call.argumentsBytes, 0))}).
          </span>
          <ActionButton class="small" run={loadWhole}>
            Show whole arguments
          </ActionButton>
        </div>
      )}

      {card.code !== '' && <Excerpt code={card.code} />}

      {isPending ? (
        <div class="card-actions">
          <label class="field grow">
            <span>Reason (optional, the agent reads it)</span>
            <input
              class="input"
              value={reason}
              maxLength={500}
              onInput={(event) => change({ reason: event.currentTarget.value })}
            />
          </label>
          <label class="field">
            <span>Approval applies to</span>
            <select
              class="input"
              value={scope}
              onChange={(event) => change({ scope: event.currentTarget.value as Scope })}
            >
              {(['call', 'run', 'hour'] as const)
                .filter((each) => card.scopes.includes(each))
                .map((each) => (
                  <option key={each} value={each}>
                    {scopeWords(each, calls.length)}
                  </option>
                ))}
            </select>
          </label>
          <div class="row tight decide">
            {calls.length > 1 && (
              <span class="small muted nowrap">
                {chosen.length === calls.length
                  ? `all ${calls.length} calls`
                  : `${chosen.length} of ${calls.length} calls`}
              </span>
            )}
            <ActionButton class="danger" disabled={!canDeny} run={() => press('deny')}>
              Deny{' '}
              <span class="key-hint" aria-hidden="true">
                d
              </span>
            </ActionButton>
            <ActionButton class="primary" disabled={!canApprove} run={() => press('approve')}>
              Approve{' '}
              <span class="key-hint" aria-hidden="true">
                a
              </span>
            </ActionButton>
          </div>
        </div>
      ) : (
        <Decided calls={calls} />
      )}
    </article>
  );
}

/** The state of a card. */
export function StateBadge({ state }: { state: ApprovalCard['state'] }) {
  return (
    <Badge tone={state === 'APPROVED' ? 'good' : state === 'DENIED' ? 'bad' : 'calm'}>{state.toLowerCase()}</Badge>
  );
}
