import type { UpstreamKind } from '../../domain/upstream.js';

/** What adds and removes servers while the program runs. For people and programs of the user's own; no agent reaches it. */
export interface ServerControl {
  /** A server in the words of the configuration. Throws `bad_input` with the key that is wrong, or for a name that is taken. */
  register(name: string, settings: unknown): Promise<void>;
  /** Its open calls end as lost. Throws `not_found`. */
  unregister(name: string): Promise<void>;
  describe(name: string): ServerFacts | undefined;
}

/** Where the tools of a server come from. */
export type ToolSource = UpstreamKind;

/** What is known of a server without asking it. Nothing here is secret. */
export interface ServerFacts {
  readonly source: ToolSource;
  /** How it is shown who calls, where anything is. */
  readonly auth?: { readonly type: 'bearer' | 'basic' | 'apiKey' | 'oauth2' | 'header' };
}
