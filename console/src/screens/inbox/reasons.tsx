import type { ApprovalReason } from '../../../../src/domain/console/approvals.js';
import { linkTo } from '../../lib/router.js';
import { Foreign } from '../../ui/foreign.js';
import { Badge } from '../../ui/parts.js';

/** Why a person is asked: the rule, the annotation, or what the run had read before. */
export function Reasons({ reasons }: { reasons: readonly ApprovalReason[] }) {
  return (
    <div class="reasons">
      <h3>Why you are asked</h3>
      <ul>
        {reasons.map((reason) => (
          <Reason key={reason.text} reason={reason} />
        ))}
      </ul>
    </div>
  );
}

function Reason({ reason: { kind, text, readFrom } }: { reason: ApprovalReason }) {
  if (kind === 'flow') {
    return (
      <li>
        <Badge tone="bad">flow guard</Badge> Before this call, the run has received <Foreign text={text} limit={200} />.
        {readFrom !== undefined && (
          <>
            {' '}
            <a href={linkTo(['tools', readFrom])}>Open that server</a>
          </>
        )}
      </li>
    );
  }
  const [, source, words] = /^(rule \d+|preset \w+)[:,]?\s*(.+)$/s.exec(text) ?? [];
  if (source === undefined || words === undefined) {
    return (
      <li>
        {kind === 'budget' && <Badge tone="wait">budget</Badge>} <Foreign text={text} limit={600} />
      </li>
    );
  }
  return (
    <li>
      <a class="badge wait" href={linkTo(['policy'])}>
        {source}
      </a>{' '}
      <Foreign text={words} limit={600} />
    </li>
  );
}
