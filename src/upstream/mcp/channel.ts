import type { McpDefinition, UpstreamIdentity } from '../../domain/upstream.js';
import type { ConnectionOptions } from './connection.js';
import type * as HttpTransports from './http.js';
import { ChannelShield, Shield } from './shield.js';
import { StdioTransport } from './stdio.js';
import type { WebSocketTransport } from './websocket.js';

/** A transport with its shield, and what ends it. */
export interface Channel {
  readonly shield: Shield;
  /** Whether everything goes through one pipe or socket. */
  readonly kind: 'single' | 'http';
  readonly transport: UpstreamIdentity['transport'];
  diagnosis?(): string | undefined;
  dispose(): Promise<void>;
}

export type OpenChannel = (
  definition: McpDefinition,
  options: ConnectionOptions,
  warn: (warning: string) => void,
) => Channel;

/** How targets of a kind are reached. Only what that needs is loaded: the library for HTTP takes 100 ms. */
export async function channelOpener(kind: Target['kind']): Promise<OpenChannel> {
  switch (kind) {
    case 'stdio':
      return openStdio;
    case 'websocket': {
      const { WebSocketTransport } = await import('./websocket.js');
      return (definition, options, warn) => openWebSocket(WebSocketTransport, definition, options, warn);
    }
    case 'http': {
      const transports = await import('./http.js');
      return (definition, options, warn) => openHttp(transports, definition, options, warn);
    }
  }
}

type Target = McpDefinition['target'];

/** The target, of which it is known what kind it is. */
function targetOf<Kind extends Target['kind']>({ target }: McpDefinition, kind: Kind): Extract<Target, { kind: Kind }> {
  if (target.kind !== kind) throw new Error(`a target of kind ${target.kind} was opened as ${kind}`);
  return target as Extract<Target, { kind: Kind }>;
}

const noiseOf = (warn: (warning: string) => void) => (line: string) => warn(`not a message: ${line}`);

const openStdio: OpenChannel = (definition, { baseEnvironment, groups, maxMessageBytes }, warn) => {
  const target = targetOf(definition, 'stdio');
  const transport = new StdioTransport({ target, baseEnvironment, groups, maxMessageBytes, onNoise: noiseOf(warn) });
  return {
    shield: new ChannelShield(transport),
    kind: 'single',
    transport: 'stdio',
    diagnosis: () => transport.diagnosis(),
    dispose: () => transport.close(),
  };
};

function openWebSocket(
  Transport: typeof WebSocketTransport,
  definition: McpDefinition,
  { maxMessageBytes }: ConnectionOptions,
  warn: (warning: string) => void,
): Channel {
  const transport = new Transport({
    target: targetOf(definition, 'websocket'),
    handshakeTimeoutMs: definition.connectTimeoutMs,
    maxMessageBytes,
    onNoise: noiseOf(warn),
  });
  return {
    shield: new ChannelShield(transport),
    kind: 'single',
    transport: 'websocket',
    dispose: () => transport.close(),
  };
}

function openHttp(
  { openSse, openStreamable }: typeof HttpTransports,
  definition: McpDefinition,
  { maxMessageBytes, authorizer }: ConnectionOptions,
  warn: (warning: string) => void,
): Channel {
  const target = targetOf(definition, 'http');
  const isOlder = target.flavour === 'sse';
  const { transport, dispose } = (isOlder ? openSse : openStreamable)({
    target,
    maxMessageBytes,
    onOversize: () => warn(`a message was longer than ${maxMessageBytes} bytes and was dropped`),
    ...(authorizer === undefined ? {} : { authorizer }),
  });
  return { shield: new Shield(transport), kind: 'http', transport: isOlder ? 'sse' : 'streamable-http', dispose };
}
