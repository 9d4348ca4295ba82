import type { ApprovalReason } from '../../../../src/domain/console/approvals.js';
import { sentence } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { Badge } from '../../ui/parts.js';

/** Why a person is asked: the rule, the annotation, or what the run had read before. */
export function Reasons({ reasons, isPending }: { reasons: readonly ApprovalReason[]; isPending: boolean }) {
  return (
    <div class="reasons">
      <h3>{isPending ? 'Why you are asked' : 'Why a person was asked'}</h3>
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
        <span>
          Before this call, the run read <Foreign text={text} limit={200} />
          {text.startsWith('private')
            ? '. This call sends data to an external server.'
            : ', which may contain injected instructions.'}
        </span>
        <Badge tone="bad">flow guard</Badge>
        {readFrom !== undefined && (
          <a class="small" href={linkTo(['tools', readFrom])}>
            Open that server
          </a>
        )}
      </li>
    );
  }
  const [, source, words] = /^(rule \d+|preset \w+)[:,]?\s*(.+)$/s.exec(text) ?? [];
  if (source === undefined || words === undefined) {
    return (
      <li>
        <Foreign text={sentence(text)} limit={600} />
        {kind === 'budget' && <Badge tone="wait">budget</Badge>}
      </li>
    );
  }
  if (source.startsWith('rule')) {
    // `rule 2 (codemode.yaml:18:7): posts in public`: the rule's own reason first, then which rule it is and where it stands.
    const [, place, own] = /^\(([^)]+)\)(?::\s*(.+))?$/s.exec(words) ?? [];
    return (
      <li>
        {own === undefined ? (
          <span>{place === undefined ? <Foreign text={sentence(words)} limit={600} /> : 'Your policy asks.'}</span>
        ) : (
          <Foreign text={sentence(own)} limit={600} />
        )}
        <a
          class="badge wait"
          href={linkTo(['policy'])}
          title={place === undefined ? undefined : foreignLabel(place, 300)}
        >
          {source}
        </a>
        {place !== undefined && (
          <span class="small muted mono">
            <Foreign text={place.slice(place.lastIndexOf('/') + 1)} limit={120} />
          </span>
        )}
      </li>
    );
  }
  // `preset default: destructive tools ask: its server says that it is destructive`: shows the fact first, then the rule.
  const [, clause, fact = words] = (source.startsWith('preset') ? /^([^:]+): (.+)$/s.exec(words) : undefined) ?? [];
  return (
    <li>
      <Foreign text={sentence(fact)} limit={600} />
      <a class="badge wait" href={linkTo(['policy'])}>
        {clause === undefined ? source : `${source}: ${foreignLabel(clause, 80)}`}
      </a>
    </li>
  );
}
