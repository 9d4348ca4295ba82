import { authOfHeaders, credentialMethodOfHeaders, type TargetKind } from './target-kind.js';

/** A server that speaks MCP over HTTP. */
export interface HttpTarget {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `auto` tries Streamable HTTP first and then the older HTTP+SSE transport. */
  readonly flavour: 'auto' | 'streamable' | 'sse';
}

/** A server that speaks MCP over a WebSocket. */
export interface WebSocketTarget {
  readonly kind: 'websocket';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const REMOTE: Omit<TargetKind<HttpTarget | WebSocketTarget>, 'login'> = {
  identityOf: ({ url }) => {
    const { origin, pathname } = new URL(url);
    return [origin, pathname];
  },
  secretPlacesOf: ({ headers, url }) => ({ settings: [headers], words: [], addresses: [url], credentials: [] }),
  authOf: ({ headers }) => authOfHeaders(headers),
  credentialMethodOf: ({ headers }) => credentialMethodOfHeaders(headers),
};

export const HTTP: TargetKind<HttpTarget> = { ...REMOTE, login: 'possible' };

export const WEBSOCKET: TargetKind<WebSocketTarget> = {
  ...REMOTE,
  login: { whyNot: 'it is reached over a WebSocket, where tokens go into headers of the configuration' },
};
