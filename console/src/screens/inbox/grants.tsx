import type { GrantView } from '../../../../src/domain/console/approvals.js';
import { request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { useResource } from '../../api/use-resource.js';
import { callerInSentence, sessionLabel } from '../../lib/caller-label.js';
import { time } from '../../lib/format.js';
import { runLink } from '../../lib/run-link.js';
import { Countdown } from '../../ui/countdown.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { ActionButton, Empty, Loading, Panel, Problem } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';

/** Approvals for a run or an hour: calls pass by them without anybody being asked, so they are listed and can be ended. */
export function Grants() {
  const grants = useResource(
    'grants',
    async (signal) => (await request<{ grants: readonly GrantView[] }>('grants', { signal })).grants,
    // Given with a decision, and a revocation by somebody else is recorded.
    ({ type }) => type === 'approvals' || type === 'audit' || type === 'runs',
  );
  const revoke = async ({ id, serverId, toolName }: GrantView) => {
    try {
      await request('revokeGrant', { path: { id } });
      say(`Revoked. The next call of ${foreignLabel(`${serverId}/${toolName}`, 80)} waits for a decision.`);
    } finally {
      grants.reload();
    }
  };
  if (grants.data === undefined)
    return grants.error === undefined ? (
      <Loading what="standing approvals" />
    ) : (
      <Problem error={grants.error} retry={grants.reload} />
    );
  if (grants.data.length === 0)
    return (
      <div class="panel">
        <Empty icon="inbox" title="No standing approvals">
          <p>
            Approve a call for an hour, or until its run ends, and it is listed here until it expires. You can revoke it
            at any time.
          </p>
        </Empty>
      </div>
    );
  return (
    <Panel title="Calls of these tools are made without asking" flush>
      <ul class="grants">
        {grants.data.map((grant) => (
          <Row key={grant.id} grant={grant} onRevoke={() => revoke(grant)} />
        ))}
      </ul>
    </Panel>
  );
}

function Row({ grant, onRevoke }: { grant: GrantView; onRevoke: () => Promise<void> }) {
  const { serverId, toolName, scope, caller, runId, by, atMs, reason, reasons, expiresAtMs } = grant;
  const name = `${serverId}/${toolName}`;
  return (
    <li class="rule">
      <div class="row spread">
        <span class="mono strong">
          <Foreign text={name} limit={160} />
        </span>
        <span class="row tight">
          {scope === 'hour' ? <Countdown atMs={expiresAtMs} /> : <span class="muted small">until the run ends</span>}
          {isOwner() && (
            <ActionButton class="small danger" label={`Revoke ${foreignLabel(name, 80)}`} run={onRevoke}>
              Revoke
            </ActionButton>
          )}
        </span>
      </div>
      <p class="small">
        {scope === 'hour' ? 'Every run of ' : 'One run of '}
        <span title={foreignLabel(caller)}>{foreignLabel(callerInSentence(caller), 80)}</span>, as long as the reason to
        ask is: <Foreign text={reasons.join('; ')} limit={400} />
      </p>
      <p class="small muted">
        Given by <Foreign text={sessionLabel(by)} limit={80} /> at {time(atMs)}
        {reason !== undefined && (
          <>
            : <Foreign text={reason} limit={400} />
          </>
        )}{' '}
        · <a href={runLink(runId)}>Open the run</a>
      </p>
    </li>
  );
}
