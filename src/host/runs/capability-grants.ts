import { shortfallsOf, violationOf, withinBounds } from '../../broker/capabilities/bounds.js';
import { readCapabilities } from '../../broker/capabilities/read.js';
import { isServerGranted, isToolGranted } from '../../broker/capabilities/run-grants.js';
import { type CapabilitySet, DEFAULT_GRANT_LIMITS, type GrantLimits } from '../../domain/capability.js';
import { HostError } from '../../domain/errors.js';
import type { Tool } from '../../domain/tool.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';

/** A request asks for a capability that it may not have. Nothing has run. */
export class CapabilityViolation extends HostError {
  /** The capability string that would grant it. */
  readonly violation: string;

  constructor(violation: string, whose: string) {
    const advice = violation.startsWith('system:')
      ? 'no host grants a system capability; leave it out'
      : 'ask for less, or ask the operator of this host';
    super('capability_violation', `${whose} does not grant ${violation}; ${advice}`);
    this.violation = violation;
  }
}

/** The configured capabilities. What the configuration does not mention is not granted, except its own servers. */
export interface CapabilityOptions {
  readonly network?: { readonly timeoutPerRequest?: number | undefined } | undefined;
  readonly filesystem?: object | undefined;
  readonly mcp?:
    | {
        readonly allowedServers?: readonly string[] | undefined;
        readonly maxCallsPerSecond?: number | undefined;
        readonly maxConcurrentCalls?: number | undefined;
        readonly timeoutPerCall?: number | undefined;
      }
    | undefined;
}

/** Limits of every run with a grant, for all callers. */
export function configuredGrantLimits({ network, mcp }: CapabilityOptions): GrantLimits {
  return {
    maxConcurrentCalls: mcp?.maxConcurrentCalls ?? DEFAULT_GRANT_LIMITS.maxConcurrentCalls,
    timeoutPerCallMs: mcp?.timeoutPerCall ?? DEFAULT_GRANT_LIMITS.timeoutPerCallMs,
    timeoutPerRequestMs: network?.timeoutPerRequest ?? DEFAULT_GRANT_LIMITS.timeoutPerRequestMs,
    ...omitUndefined({ maxCallsPerSecond: mcp?.maxCallsPerSecond }),
  };
}

/** The maximum for any request. Without `allowedServers`, a request may name every configured server. */
export function configuredBounds({ network, filesystem, mcp }: CapabilityOptions): CapabilitySet {
  const { timeoutPerRequest: _, ...web } = network ?? {};
  const { timeoutPerCall: _time, maxConcurrentCalls: _calls, ...tools } = mcp ?? {};
  return readCapabilities(
    {
      ...(network === undefined ? {} : { network: present(web) }),
      ...omitUndefined({ filesystem: ifDefined(filesystem, present) }),
      mcp: present({ ...tools, allowedServers: mcp?.allowedServers ?? ['*'] }),
    },
    () => false,
  );
}

/** The bounds of a token in every contract. A rate that is not configured sets no bound. */
export function configuredReach(options: CapabilityOptions): CapabilitySet {
  const { mcp, ...others } = configuredBounds(options);
  if (mcp === undefined || options.mcp?.maxCallsPerSecond !== undefined) return { ...others, ...(mcp && { mcp }) };
  return { ...others, mcp: { ...mcp, maxCallsPerSecond: Number.POSITIVE_INFINITY } };
}

export interface Granted {
  readonly grants: CapabilitySet;
  /** Notes for the caller if the grant is less than a request's default. */
  readonly notes: readonly string[];
}

/**
 * The capabilities granted to a request: all that it asks for, or nothing. Throws `bad_input` if the request is invalid and
 * `capability_violation` if it asks for too much.
 */
export function grantsOf(
  asked: unknown,
  { configured, ofCaller }: { readonly configured: CapabilitySet; readonly ofCaller?: CapabilitySet | undefined },
  isServer: (name: string) => boolean,
): Granted {
  let grants = readCapabilities(asked, isServer);
  const notes: string[] = [];
  for (const [bounds, whose] of [
    [ofCaller, 'the token'],
    [configured, 'the configuration'],
  ] as const) {
    if (bounds === undefined) continue;
    const violation = violationOf(grants, bounds);
    if (violation !== undefined) throw new CapabilityViolation(violation, whose);
    notes.push(...shortfallsOf(grants, bounds).map((less) => `${whose} grants ${less}`));
    grants = withinBounds(grants, bounds);
  }
  return { grants, notes };
}

/** Whether a request may be granted this tool within all of these bounds. */
export function mayCall(tool: Tool, bounds: readonly CapabilitySet[]): boolean {
  return bounds.every(({ mcp }) => isToolGranted(tool, mcp));
}

/** The same for a server, judged by its name. */
export function mayCallServer(serverId: string, bounds: readonly CapabilitySet[]): boolean {
  return bounds.every(({ mcp }) => isServerGranted(serverId, mcp));
}

function present(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
