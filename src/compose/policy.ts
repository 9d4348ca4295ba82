import { Budgets } from '../broker/policy/budget.js';
import { PolicyGate } from '../broker/policy/gate.js';
import { Policy, type PolicyOptions } from '../broker/policy/policy.js';
import type { LoadedConfig } from '../config/load.js';
import { policySettings } from '../config/schema/policy-schema.js';
import type { Config } from '../config/schema/schema.js';
import type { UpstreamDefinition } from '../domain/upstream.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import type { Servers } from './servers.js';

/** The policy gate without usage counters. The code that makes calls keeps those. */
export async function openGate({ config, upstreams, placeOf }: LoadedConfig, { traits }: Servers): Promise<PolicyGate> {
  const options = await policyOptions(config, upstreams);
  const policy = new Policy({ ...options, servers: traits, placeOf: (index) => placeOf(['policy', 'rules', index]) });
  return new PolicyGate(policy, new Budgets({ settings: options.settings }));
}

export async function policyOptions(config: Config, upstreams: readonly UpstreamDefinition[]): Promise<PolicyOptions> {
  const settings = policySettings(config.policy);
  const conditions = settings.rules.flatMap(({ arguments: places = {} }) => Object.values(places));
  const hasPatterns = conditions.some(({ matches }) => matches !== undefined);
  const { allowedServers: servers, allowedTools: tools } = config.security.capabilities.mcp ?? {};
  return {
    settings,
    ...(hasPatterns ? { readPattern: (await import('../broker/arguments/pattern.js')).readPattern } : {}),
    servers: new Map(upstreams.map(({ id, isTrusted, labels }) => [id, { isTrusted, labels }])),
    only: { ...omitUndefined({ servers, tools }) },
  };
}
