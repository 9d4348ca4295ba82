import { violationOf, withinBounds } from '../broker/capabilities/bounds.js';
import { readCapabilities } from '../broker/capabilities/read.js';
import type { CapabilitySet } from '../domain/capability.js';
import { HostError } from '../domain/errors.js';

/** A request asks for what it may not have. Nothing of it has run. */
export class CapabilityViolation extends HostError {
  /** In the words that would grant it. */
  readonly violation: string;

  constructor(violation: string, whose: string) {
    const advice = violation.startsWith('system:')
      ? 'no host grants a system capability; leave it out'
      : 'ask for less, or ask whoever runs this host';
    super('capability_violation', `${whose} does not grant ${violation}; ${advice}`);
    this.violation = violation;
  }
}

/** What the configuration says about capabilities; what it does not say is not granted, but for its own servers. */
export interface CapabilitySetting {
  readonly network?: object | undefined;
  readonly filesystem?: object | undefined;
  readonly mcp?: { readonly allowedServers?: readonly string[] | undefined } | undefined;
}

/** The most that any request gets. The servers that the configuration names may be asked for without being named twice. */
export function configuredBounds({ network, filesystem, mcp }: CapabilitySetting): CapabilitySet {
  return readCapabilities(
    {
      ...(network === undefined ? {} : { network: present(network) }),
      ...(filesystem === undefined ? {} : { filesystem: present(filesystem) }),
      mcp: present({ ...mcp, allowedServers: mcp?.allowedServers ?? ['*'] }),
    },
    () => false,
  );
}

/**
 * What a request is granted: all that it asks for, or nothing at all. Throws `bad_input` where it cannot be read and
 * `capability_violation` where it is too much.
 */
export function grantsOf(
  asked: unknown,
  { configured, ofCaller }: { readonly configured: CapabilitySet; readonly ofCaller?: CapabilitySet | undefined },
  isServer: (name: string) => boolean,
): CapabilitySet {
  let grants = readCapabilities(asked, isServer);
  for (const [bounds, whose] of [
    [ofCaller, 'the token'],
    [configured, 'the configuration'],
  ] as const) {
    if (bounds === undefined) continue;
    const violation = violationOf(grants, bounds);
    if (violation !== undefined) throw new CapabilityViolation(violation, whose);
    grants = withinBounds(grants, bounds);
  }
  return grants;
}

function present(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
