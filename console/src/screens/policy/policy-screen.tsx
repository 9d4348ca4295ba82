import type { PolicyRuleView, PolicyView } from '../../../../src/domain/console/policy.js';
import type { JsonObject } from '../../../../src/domain/json.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { counted, percent } from '../../lib/format.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { Badge, DecisionBadge, Empty, Loading, PageHead, Panel, Problem } from '../../ui/parts.js';
import type { ScreenProps } from '../screen-props.js';
import { DraftForm } from './draft-form.js';

const PRESET_WORDS = {
  default: 'Reads are allowed; calls that may destroy or send something need an approval.',
  strict: 'Calls that no rule allows need an approval.',
  open: 'Calls that no rule forbids are allowed.',
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
        lead={`The first rule that matches a call decides it.${callCount === 0 ? '' : ` Beside each rule: how many of the last ${counted(callCount, 'call')} of ended runs it decides.`}`}
      />
      {!isInEffect && (
        <p class="note wait">
          The rules of the file are not in effect yet. Restart the hosts, and the clients that started them, to apply
          them.
        </p>
      )}
      <div class="policy">
        <Panel title={`Rules (${rules.length})`} flush>
          {rules.length === 0 && (
            <Empty icon="policy" title="You have no rules yet">
              <p>The preset decides every call. Draft a rule, and see what it would have done to past calls.</p>
            </Empty>
          )}
          <ol class="rules">
            {rules.map((rule) => (
              <Rule key={rule.number} rule={rule} callCount={callCount} />
            ))}
            <li class="rule">
              <div class="row spread">
                <span>
                  <span class="strong">Preset {preset}</span> <span class="muted">decides the rest.</span>
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
      {typeof rule.rule['reason'] === 'string' && (
        <p class="small">
          <Foreign text={rule.rule['reason']} limit={400} />
        </p>
      )}
      {conditionsOf(rule.rule).map(([name, value]) => (
        <p key={name} class="small">
          <span class="muted">{foreignLabel(name, 40)}:</span>{' '}
          <code>
            <Foreign text={value} limit={240} />
          </code>
        </p>
      ))}
      {rule.place !== undefined && (
        <p class="small muted mono">
          <Foreign text={rule.place} limit={160} />
        </p>
      )}
    </li>
  );
}

const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set(['tools', 'decision', 'reason', 'examples']);

/** The rule's other conditions, each with its value as written. */
function conditionsOf(rule: JsonObject): readonly (readonly [string, string])[] {
  return Object.entries(rule)
    .filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const);
}

function Hits({ hits, callCount }: { hits: number; callCount: number }) {
  return (
    <span class="hits" title={percent(hits, callCount)}>
      <span class="meter" aria-hidden="true">
        <span style={{ width: `${callCount === 0 ? 0 : (hits / callCount) * 100}%` }} />
      </span>
      <span class="num small nowrap">{counted(hits, 'call')}</span>
    </span>
  );
}

function titleOf(rule: JsonObject): string {
  const tools = rule['tools'];
  return Array.isArray(tools) ? tools.join(', ') : typeof tools === 'string' ? tools : 'any tool';
}
