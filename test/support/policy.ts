import { readPattern } from '../../src/broker/arguments/pattern.js';
import { Budgets, type BudgetsOptions } from '../../src/broker/policy/budget.js';
import { PolicyGate } from '../../src/broker/policy/gate.js';
import { Policy } from '../../src/broker/policy/policy.js';
import type { PolicyRule, PolicySettings, ServerTraits } from '../../src/domain/policy.js';
import { omitUndefined } from '../../src/lib/omit-undefined.js';

export interface GateOptions extends Partial<PolicySettings> {
  readonly servers?: Readonly<Record<string, Partial<ServerTraits>>>;
  readonly store?: BudgetsOptions['store'];
  readonly now?: () => Date;
}

/** A policy as it is without a configuration, or with as much of one as is given. */
export function openGate({ servers = {}, store, now, ...more }: GateOptions = {}): PolicyGate {
  const settings: PolicySettings = { preset: 'default', rules: [], prices: {}, budget: {}, ...more };
  const policy = new Policy({
    settings,
    readPattern,
    servers: new Map(Object.entries(servers).map(([id, traits]) => [id, { isTrusted: false, labels: [], ...traits }])),
  });
  const budgets = new Budgets({
    settings,
    ...omitUndefined({ store, now }),
  });
  return new PolicyGate(policy, budgets);
}

/** A rule without examples, unless it has some. */
export function ruleOf(rule: Omit<PolicyRule, 'examples'> & Partial<PolicyRule>): PolicyRule {
  return { examples: [], ...rule };
}
