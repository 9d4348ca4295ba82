import {
  type AuthProvider,
  type FetchLike,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { Agent, fetch as undiciFetch } from 'undici';
import type { UpstreamAuthorizer } from '../../../domain/authorization.js';
import type { HttpTarget } from '../../../domain/targets/http.js';
import { pause } from '../../../lib/async/pause.js';
import { retryAfterMs } from '../../../lib/async/retry-after.js';
import { within } from '../../../lib/async/within.js';
import { RETRY_AFTER_MARK } from '../failures.js';
import type { ReadBudget } from '../read-budget.js';
import { authorizedFetch } from './authorized-fetch.js';
import { eventRepair } from './event-repair.js';
import { budgetedBody } from './http-body.js';

/** The time limit for ending a session. */
const TERMINATE_TIMEOUT_MS = 1_000;
/** How the client library reopens the standing stream of a session before it gives up. */
const STREAM_RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 10_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};
/** A server says with `retry` when to come back. One that says 0 and ends each stream at once is not asked hundreds of times a second. */
const SHORTEST_RECONNECTION_MS = 100;

export interface HttpOptions {
  readonly target: HttpTarget;
  readonly maxMessageBytes: number;
  readonly budget: ReadBudget;
  readonly onOversize: (maxBytes: number) => void;
  readonly onExcess: (excess: string) => void;
  readonly authorizer?: UpstreamAuthorizer;
}

/** An HTTP transport, and the functions that end it. */
export interface HttpChannel {
  readonly transport: Transport;
  /** Ends the session gracefully if the server has one, then closes every open socket. */
  dispose(): Promise<void>;
  /** Closes without ending the session. */
  cut(): void;
}

/** Streamable HTTP, in either protocol era. Redirects to another origin are not followed: they would leak the headers. */
export function openStreamable(options: HttpOptions): HttpChannel {
  const network = openNetwork(options);
  const transport = new StreamableHTTPClientTransport(new URL(options.target.url), {
    fetch: network.fetch,
    ...network.authorization,
    requestInit: { headers: { ...options.target.headers } },
    reconnectionOptions: STREAM_RECONNECTION,
    reconnectionScheduler: (reconnect, delayMs) => {
      const timer = setTimeout(reconnect, Math.max(delayMs, SHORTEST_RECONNECTION_MS));
      return () => clearTimeout(timer);
    },
  });
  const dispose = async (): Promise<void> => {
    if (transport.sessionId !== undefined)
      await within(
        transport.terminateSession().catch(() => {}),
        TERMINATE_TIMEOUT_MS,
      );
    await transport.close();
    await network.close();
  };
  const cut = (): void => void transport.close().finally(() => network.close());
  return { transport, dispose, cut };
}

/** The older transport: one long event stream down, one POST for each message up. */
export function openSse(options: HttpOptions): HttpChannel {
  const network = openNetwork(options);
  const transport = new SSEClientTransport(new URL(options.target.url), {
    fetch: network.fetch,
    ...network.authorization,
    eventSourceInit: { fetch: spaced(network.fetch) as typeof fetch },
    requestInit: { headers: { ...options.target.headers } },
  });
  const dispose = async (): Promise<void> => {
    await transport.close();
    await network.close();
  };
  const cut = (): void => void transport.close().finally(() => network.close());
  return { transport, dispose, cut };
}

/** Each request a while after the one before it. */
function spaced(fetch: FetchLike): FetchLike {
  let lastMs = Number.NEGATIVE_INFINITY;
  return async (url, init) => {
    const waitMs = lastMs + SHORTEST_RECONNECTION_MS - performance.now();
    if (waitMs > 0) await pause(waitMs, init?.signal ?? undefined);
    lastMs = performance.now();
    return fetch(url, init);
  };
}

interface Network {
  readonly fetch: FetchLike;
  readonly authorization: { readonly authProvider?: AuthProvider };
  close(): Promise<void>;
}

function openNetwork(options: HttpOptions): Network {
  const { target, authorizer } = options;
  const bounded = boundedFetch(options);
  if (authorizer === undefined) return { ...bounded, authorization: {} };
  const { fetch, provider } = authorizedFetch(bounded.fetch, target.url, authorizer);
  return { fetch, authorization: { authProvider: provider }, close: bounded.close };
}

/**
 * `fetch` for one upstream. It has no timeouts of its own: Node's would end a tool that takes more than five minutes, and calls
 * have their own. It limits the length of each message, which the client library would buffer without a bound, and the total by the
 * budget of the connection.
 */
function boundedFetch(options: HttpOptions): { readonly fetch: FetchLike; close(): Promise<void> } {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 15_000 } });
  const bounded: FetchLike = async (url, init) => {
    const answer = await undiciFetch(url, { ...(init as object), dispatcher: agent });
    const response = answer as unknown as Response;
    const statusText = statusTextOf(response);
    if (response.body === null && statusText === response.statusText) return response;
    const isStream = /^\s*text\/event-stream/i.test(response.headers.get('content-type') ?? '');
    const read = response.body?.pipeThrough(budgetedBody({ ...options, isStream })) ?? null;
    const body = isStream ? (read?.pipeThrough(eventRepair(requestIdIn(init?.body))) ?? null) : read;
    return new Response(body, {
      status: response.status,
      statusText,
      headers: [...response.headers],
    });
  };
  return { fetch: bounded, close: () => agent.destroy() };
}

/** The request id in a body. The client library writes it last. */
function requestIdIn(body: unknown): number | undefined {
  const [, id] = typeof body === 'string' ? (/"id":(\d{1,15})\}$/.exec(body.slice(-40)) ?? []) : [];
  return id === undefined ? undefined : Number(id);
}

/** The client library keeps the status text of a refusal but no headers, so the requested wait is passed on in the status text. */
function statusTextOf({ status, statusText, headers }: Response): string {
  const waitMs = status === 429 || status === 503 ? retryAfterMs(headers.get('retry-after')) : undefined;
  return waitMs === undefined ? statusText : `${statusText}${RETRY_AFTER_MARK}${waitMs}`;
}
