import type {
  Crash,
  ToolListing,
  UpstreamCall,
  UpstreamHealth,
  UpstreamIdentity,
  UpstreamKind,
  UpstreamOutcome,
} from '../domain/upstream.js';

/** The events that an upstream reports. */
export type AdapterEvent =
  /** Its tools may be others now: ask again. */
  { readonly type: 'changed' } | { readonly type: 'state'; readonly health: UpstreamHealth };

/** One upstream, of whatever kind: an MCP server, an OpenAPI document, functions of this process. */
export interface Adapter {
  readonly id: string;
  readonly kind: UpstreamKind;
  /** The setting with its credential, where that is set by hand; absent where `codemode auth login` gets one. */
  readonly credentialSetting?: 'env' | 'headers' | 'auth' | undefined;

  /** Connects if it is not connected. Throws `upstream_unavailable` with the reason. */
  connect(signal?: AbortSignal): Promise<UpstreamIdentity>;

  /** All tools, under the names their server gave them. Throws `upstream_unavailable`. */
  listTools(signal?: AbortSignal): Promise<ToolListing>;

  /** Makes one call, connecting first if need be. Never throws for what the upstream does: see `UpstreamOutcome`. */
  call(call: UpstreamCall): Promise<UpstreamOutcome>;

  health(): UpstreamHealth;
  /** Pings a connected server. Never throws; `health` has the result. */
  check?(): Promise<void>;

  /** The last that its process wrote to stderr. */
  lastCrash?(): Crash | undefined;
  /** Ends the connection for a new one. */
  reconnect?(): void;

  /** Returns the function that stops listening. */
  onEvent(listener: (event: AdapterEvent) => void): () => void;

  /** Ends it for good, with everything it started. */
  close(): Promise<void>;
}
