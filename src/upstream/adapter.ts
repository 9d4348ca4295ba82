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
  /** The upstream's tools may have changed: list them again. */
  { readonly type: 'changed' } | { readonly type: 'state'; readonly health: UpstreamHealth };

/** One upstream of any kind: an MCP server, an OpenAPI document, functions of this process. */
export interface Adapter {
  readonly id: string;
  readonly kind: UpstreamKind;
  /** The setting that holds its credential, if it is set by hand. Absent if `codemode auth login` gets one. */
  readonly credentialSetting?: 'env' | 'headers' | 'auth' | undefined;

  /** Connects if it is not connected. Throws `upstream_unavailable` with the reason. */
  connect(signal?: AbortSignal): Promise<UpstreamIdentity>;

  /** All tools, under the names their server gave them. Throws `upstream_unavailable`. */
  listTools(signal?: AbortSignal): Promise<ToolListing>;

  /** Makes one call, connecting first if necessary. Never throws for what the upstream does: see `UpstreamOutcome`. */
  call(call: UpstreamCall): Promise<UpstreamOutcome>;

  health(): UpstreamHealth;
  /** Pings a connected server. Never throws; `health` has the result. */
  check?(): Promise<void>;

  /** The last output of its process on stderr. */
  lastCrash?(): Crash | undefined;
  /** Replaces the connection with a new one. */
  reconnect?(): void;

  /** Returns the function that stops listening. */
  onEvent(listener: (event: AdapterEvent) => void): () => void;

  /** Closes the upstream for good, with everything it started. */
  close(): Promise<void>;
}
