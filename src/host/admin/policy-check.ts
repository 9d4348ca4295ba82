import { toText } from '../../broker/policy/budget.js';
import type { PolicyGate } from '../../broker/policy/gate.js';
import type { PolicyCall, RuleReference } from '../../broker/policy/policy.js';
import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Decision, Label } from '../../domain/policy.js';
import type { Tool } from '../../domain/tool.js';
import { nearest } from '../../lib/text/nearest.js';
import { findServer } from '../tools/discovery.js';

export interface PolicyCheck {
  /** `server/tool`. */
  readonly name: string;
  readonly arguments?: JsonObject;
  readonly caller?: string;
  readonly profile?: string;
}

/** The policy's decision about a tool, with the reason. */
export interface PolicyReport {
  readonly serverId: string;
  readonly toolName: string;
  readonly decision: Decision;
  readonly reason: string;
  readonly rule: RuleReference;
  /** Whether the tool is in the catalog. Otherwise it was judged by its name alone. */
  readonly isKnown: boolean;
  /** Names similar to the unknown one. */
  readonly nearest: readonly string[];
  /** Rules whose decision depends on arguments, if none were given. */
  readonly dependsOn: readonly RuleReference[];
  readonly isTrusted: boolean;
  readonly labels: readonly Label[];
  /** The price of one call, if it has one. */
  readonly price?: string;
}

/** Evaluates the policy as for a call, without making one. Ignores the data received and the money spent by runs. */
export function checkPolicy(
  check: PolicyCheck,
  snapshot: CatalogSnapshot,
  gate: PolicyGate,
  viewer: { readonly caller: string; readonly profile: string },
): PolicyReport {
  const slash = check.name.indexOf('/');
  if (slash < 1 || slash === check.name.length - 1)
    throw new HostError('bad_input', `expected SERVER/TOOL, found ${JSON.stringify(check.name)}; see: codemode tools`);
  const [serverName, toolName] = [check.name.slice(0, slash), check.name.slice(slash + 1)];
  const server = findServer(serverName, snapshot);
  if (server === undefined) throw noSuchServer(serverName, snapshot);
  const known = server.tools.find(({ tool, exportName }) => tool.name === toolName || exportName === toolName)?.tool;
  const tool: Tool = known ?? { serverId: server.id, name: toolName };
  const call: Omit<PolicyCall, 'arguments'> = {
    tool,
    serverPath: server.path,
    caller: check.caller ?? viewer.caller,
    profile: check.profile ?? viewer.profile,
  };
  const { decision, reason, rule } = gate.policy.decide({ ...call, arguments: check.arguments ?? {} });
  const price = gate.priceOf(call);
  const { isTrusted, labels } = gate.policy.traitsOf(tool.serverId);
  return {
    serverId: tool.serverId,
    toolName: tool.name,
    decision,
    reason,
    rule,
    isKnown: known !== undefined,
    nearest: known === undefined ? nearestNames(check.name, snapshot) : [],
    dependsOn: check.arguments === undefined ? gate.policy.conditionalRules(call) : [],
    isTrusted,
    labels,
    ...(price === 0 ? {} : { price: toText(price) }),
  };
}

/** A call could be neither allowed nor denied, because the server does not exist. */
function noSuchServer(name: string, { servers }: CatalogSnapshot): HostError {
  const ids = servers.map(({ id }) => id);
  const close = nearest(name, ids, 3);
  const next = close.length > 0 ? `did you mean ${close.join(' or ')}?` : 'see: codemode servers';
  return new HostError('not_found', `no server ${JSON.stringify(name)} is configured; ${next}`);
}

function nearestNames(name: string, { toolByTarget }: CatalogSnapshot): string[] {
  return nearest(name, [...toolByTarget.keys()], 3);
}
