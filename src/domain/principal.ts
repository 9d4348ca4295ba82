import type { CapabilitySet } from './capability.js';

/**
 * What a token may be used for. `approve` is for people: no token that an agent holds has it, and `servers` lets its
 * holder start processes on this machine, so it is never given by default either.
 */
export const SCOPES = ['execute', 'tools', 'servers', 'approve'] as const;
export type Scope = (typeof SCOPES)[number];

/** Who speaks over the network: the one the work is done for. */
export interface Principal {
  readonly subject: string;
  readonly scopes: ReadonlySet<Scope>;
  /** What it may ask for; absent: what the configuration grants. */
  readonly capabilities?: CapabilitySet;
}

/** What an agent's token is good for where nothing else is said. */
export const AGENT_SCOPES: ReadonlySet<Scope> = new Set(['execute', 'tools']);
