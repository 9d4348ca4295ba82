import type { UpstreamKind } from '../../domain/upstream.js';

/** Adds and removes servers at run time. For people and the user's own programs; no agent reaches it. */
export interface ServerControl {
  /** Adds a server with settings as in the configuration. Throws `bad_input` with the invalid key, or if the name is taken. */
  register(name: string, settings: unknown): Promise<void>;
  /** Open calls end as lost. Throws `not_found`. */
  unregister(name: string): Promise<void>;
  describe(name: string): ServerFacts | undefined;
}

/** Where the tools of a server come from. */
export type ToolSource = UpstreamKind;

/** What is known about a server without asking it. Contains no secrets. */
export interface ServerFacts {
  readonly source: ToolSource;
  /** How calls are authenticated, if they are. */
  readonly auth?: { readonly type: 'bearer' | 'basic' | 'apiKey' | 'oauth2' | 'header' };
}
