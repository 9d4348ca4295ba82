import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';

/**
 * What a call of the newer era is a later round of. The client carries it from one round to the next, and cannot make one
 * up: it is signed.
 */
export interface RequestState {
  readonly caller: string;
  /** A run that is suspended until a person decides. */
  readonly runId?: string;
  /** The calls that its user was shown, card by card, by the ids of their approvals. */
  readonly cards?: readonly (readonly string[])[];
  /** A call that continues meanwhile, and waits for answers to questions of servers. */
  readonly call?: string;
  /** How many rounds that call has had: no two have the same state. */
  readonly number?: number;
}

const ROUND_SECONDS = 60 * 60;

export type RequestStates = RequestStateCodec<RequestState>;

export function requestStates(key: Uint8Array): RequestStates {
  return createRequestStateCodec<RequestState>({ key, ttlSeconds: ROUND_SECONDS });
}

export function requestStateOf({ mcpReq }: ServerContext): RequestState | undefined {
  const round = mcpReq.requestState<RequestState>();
  return typeof round === 'object' && round !== null ? round : undefined;
}

/** What the client said with this call that it can be asked. Undefined in the older era, where it says so once for all. */
export function capabilitiesOf({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
  return envelope === undefined ? undefined : (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {});
}
