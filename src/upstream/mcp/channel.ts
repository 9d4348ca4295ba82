import type { McpDefinition, UpstreamIdentity } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { ConnectionOptions } from './connection.js';
import { EraFallback } from './era-fallback.js';
import type * as HttpTransports from './http/http.js';
import { ReadBudget } from './read-budget.js';
import { SanitizingChannel, SanitizingTransport } from './sanitizing-transport.js';
import { StdioTransport } from './stdio/stdio.js';
import type { WebSocketTransport } from './websocket.js';

/** A transport behind its sanitizer, and the function that ends it. */
export interface Channel {
  readonly sanitizing: SanitizingTransport;
  /** `single` if everything goes through one pipe or socket. */
  readonly kind: 'single' | 'http';
  readonly transport: UpstreamIdentity['transport'];
  diagnosis?(): string | undefined;
  dispose(): Promise<void>;
}

/** Receives reports of odd behaviour of a server. */
export interface ChannelListener {
  warn(warning: string): void;
  /** A line or frame that is not a message. */
  noise(line: string): void;
  /** The server exceeded the read limits and was cut off. */
  overBudget(reason: string): void;
}

export type OpenChannel = (definition: McpDefinition, options: ConnectionOptions, listener: ChannelListener) => Channel;

/** How targets of a kind are reached. Only the needed code is loaded: the library for HTTP takes 100 ms. */
export async function channelOpener(kind: Target['kind']): Promise<OpenChannel> {
  switch (kind) {
    case 'stdio':
      return openStdio;
    case 'websocket': {
      const { WebSocketTransport } = await import('./websocket.js');
      return (definition, options, listener) => openWebSocket(WebSocketTransport, definition, options, listener);
    }
    case 'http': {
      const transports = await import('./http/http.js');
      return (definition, options, listener) => openHttp(transports, definition, options, listener);
    }
  }
}

type Target = McpDefinition['target'];

/** The target, narrowed to its known kind. */
function targetOf<Kind extends Target['kind']>({ target }: McpDefinition, kind: Kind): Extract<Target, { kind: Kind }> {
  if (target.kind !== kind) throw new Error(`a target of kind ${target.kind} was opened as ${kind}`);
  return target as Extract<Target, { kind: Kind }>;
}

/** How long a server on a pipe or socket may be silent before it is also asked in the older era's protocol. */
const SILENCE_MS = 5_000;

function silenceMs({ connectTimeoutMs }: McpDefinition): number {
  return Math.min(SILENCE_MS, connectTimeoutMs / 4);
}

const noiseOf = (listener: ChannelListener) => (line: string) => {
  listener.noise(line);
  listener.warn(`not a message: ${line}`);
};

function budgetOf(options: ConnectionOptions, listener: ChannelListener, cut: (reason: string) => void): ReadBudget {
  const { maxMessageBytes, readLimits } = options;
  const onOver = (reason: string): void => {
    listener.overBudget(reason);
    cut(reason);
  };
  return new ReadBudget(maxMessageBytes, onOver, readLimits);
}

const openStdio: OpenChannel = (definition, options, listener) => {
  const { baseEnvironment, groups, maxMessageBytes } = options;
  const target = targetOf(definition, 'stdio');
  const budget = budgetOf(options, listener, (reason) => transport.cut(reason));
  const transport = new StdioTransport({
    target,
    baseEnvironment,
    groups,
    maxMessageBytes,
    budget,
    onNoise: noiseOf(listener),
  });
  return {
    sanitizing: new SanitizingChannel(new EraFallback(transport, silenceMs(definition)), budget),
    kind: 'single',
    transport: 'stdio',
    diagnosis: () => transport.diagnosis(),
    dispose: () => transport.close(),
  };
};

function openWebSocket(
  Transport: typeof WebSocketTransport,
  definition: McpDefinition,
  options: ConnectionOptions,
  listener: ChannelListener,
): Channel {
  const { maxMessageBytes } = options;
  const budget = budgetOf(options, listener, () => transport.cut());
  const transport = new Transport({
    target: targetOf(definition, 'websocket'),
    handshakeTimeoutMs: definition.connectTimeoutMs,
    maxMessageBytes,
    budget,
    onNoise: noiseOf(listener),
  });
  return {
    sanitizing: new SanitizingChannel(new EraFallback(transport, silenceMs(definition)), budget),
    kind: 'single',
    transport: 'websocket',
    dispose: () => transport.close(),
  };
}

function openHttp(
  { openSse, openStreamable }: typeof HttpTransports,
  definition: McpDefinition,
  options: ConnectionOptions,
  listener: ChannelListener,
): Channel {
  const { maxMessageBytes, authorizer } = options;
  const target = targetOf(definition, 'http');
  const isOlder = target.flavour === 'sse';
  const budget = budgetOf(options, listener, () => cut());
  const { transport, dispose, cut } = (isOlder ? openSse : openStreamable)({
    target,
    maxMessageBytes,
    budget,
    onOversize: (maxBytes) => listener.warn(`a message was longer than ${maxBytes} bytes and was dropped`),
    onExcess: (excess) => listener.warn(`a message had ${excess} and was dropped`),
    ...omitUndefined({ authorizer }),
  });
  return {
    sanitizing: new SanitizingTransport(transport, budget),
    kind: 'http',
    transport: isOlder ? 'sse' : 'streamable-http',
    dispose,
  };
}
