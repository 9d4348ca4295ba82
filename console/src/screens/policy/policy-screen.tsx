import type { PolicyRuleView, PolicyView } from '../../../../src/domain/console/policy.js';
import type { JsonObject } from '../../../../src/domain/json.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { count, percent } from '../../lib/format.js';
import { Foreign } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Badge, DecisionBadge, Empty, Loading, PageHead, Panel, Problem } from '../../ui/parts.js';
import type { ScreenProps } from '../screen-props.js';
import { DraftForm } from './draft-form.js';

const PRESET_WORDS = {
  default: 'Reads are allowed; calls that may destroy or send something are asked about.',
  strict: 'Every call is asked about that no rule allows.',
  open: 'Every call is allowed that no rule forbids.',
} as const;

/** The rules in order, how often each decided, and a draft that is tried before it is saved. */
export function PolicyScreen(_: ScreenProps) {
  const policy = useResource('policy', (signal) => request<PolicyView>('policy', { signal }));
  if (policy.data === undefined) {
    return policy.error === undefined ? (
      <Loading what="the policy" />
    ) : (
      <Problem error={policy.error} retry={policy.reload} />
    );
  }
  const { rules, isInEffect, preset, presetHits, callCount } = policy.data;
  return (
    <>
      <PageHead
        title="Policy"
        lead={`The first rule that matches decides. Hits are counted among the last ${count(callCount)} calls.`}
      />
      {!isInEffect && (
        <p class="note wait">
          The file has other rules than the ones in effect. Restart hosts, and the clients that started them, for its
          rules to count.
        </p>
      )}
      <div class="policy">
        <Panel title={`Rules (${rules.length})`} flush>
          {rules.length === 0 && (
            <Empty icon="policy" title="No rules of yours">
              <p>The preset decides every call. Write a rule beside this list, and see what it would have done.</p>
            </Empty>
          )}
          <ol class="rules">
            {rules.map((rule) => (
              <Rule key={rule.number} rule={rule} callCount={callCount} />
            ))}
            <li class="rule">
              <div class="row spread">
                <span>
                  <span class="strong">Preset {preset}</span> <span class="muted">decides what no rule does.</span>
                </span>
                <Hits hits={presetHits} callCount={callCount} />
              </div>
              <p class="muted small">{PRESET_WORDS[preset]}</p>
            </li>
          </ol>
        </Panel>
        <DraftForm policy={policy.data} onSaved={policy.reload} />
      </div>
    </>
  );
}

function Rule({ rule, callCount }: { rule: PolicyRuleView; callCount: number }) {
  return (
    <li class="rule">
      <div class="row spread">
        <span class="row">
          <span class="num muted">{rule.number}</span>
          <DecisionBadge decision={rule.decision} />
          <span class="mono strong">
            <Foreign text={titleOf(rule.rule)} limit={200} />
          </span>
          {!rule.isInEffect && <Badge tone="wait">after a restart</Badge>}
        </span>
        <Hits hits={rule.hits} callCount={callCount} />
      </div>
      <div class="row spread">
        <JsonTree value={rule.rule} label={`Rule ${rule.number}`} open={0} />
        {rule.place !== undefined && (
          <code class="muted">
            <Foreign text={rule.place} limit={120} />
          </code>
        )}
      </div>
    </li>
  );
}

function Hits({ hits, callCount }: { hits: number; callCount: number }) {
  return (
    <span class="hits" title={percent(hits, callCount)}>
      <span class="meter" aria-hidden="true">
        <span style={{ width: `${callCount === 0 ? 0 : (hits / callCount) * 100}%` }} />
      </span>
      <span class="num small nowrap">{count(hits)} hits</span>
    </span>
  );
}

function titleOf(rule: JsonObject): string {
  const tools = rule['tools'];
  return Array.isArray(tools) ? tools.join(', ') : typeof tools === 'string' ? tools : 'any tool';
}
