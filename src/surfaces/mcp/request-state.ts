import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';

/**
 * Identifies the call of the newer era that a later round belongs to. The client carries it between rounds and cannot forge it:
 * it is signed.
 */
export interface RequestState {
  readonly caller: string;
  /** A run that is suspended until a person decides. */
  readonly runId?: string;
  /** The calls that its user was shown: the approval ids of each card. */
  readonly cards?: readonly (readonly string[])[];
  /** A call that continues in the background and waits for answers to servers' questions. */
  readonly call?: string;
  /** The call's round number: no two rounds have the same state. */
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

/** The capabilities that the client sent with this call. Undefined in the older era, where it sends them once. */
export function capabilitiesOf({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope = mcpReq.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
  return envelope === undefined ? undefined : (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {});
}
