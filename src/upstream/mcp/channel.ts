import type { McpDefinition, UpstreamIdentity } from '../../domain/upstream.js';
import type { ConnectionOptions } from './connection.js';
import { openSse, openStreamable } from './http.js';
import { ChannelShield, Shield } from './shield.js';
import { StdioTransport } from './stdio.js';
import { WebSocketTransport } from './websocket.js';

/** A transport with its shield, and what ends it. */
export interface Channel {
  readonly shield: Shield;
  /** Whether everything goes through one pipe or socket. */
  readonly kind: 'single' | 'http';
  readonly transport: UpstreamIdentity['transport'];
  diagnosis?(): string | undefined;
  dispose(): Promise<void>;
}

/** The transport for a target. Nothing is started yet. */
export function openChannel(
  definition: McpDefinition,
  options: ConnectionOptions,
  warn: (warning: string) => void,
): Channel {
  const { target } = definition;
  const limits = { maxMessageBytes: options.maxMessageBytes };
  const onNoise = (line: string): void => warn(`not a message: ${line}`);
  switch (target.kind) {
    case 'stdio': {
      const { baseEnvironment, groups } = options;
      const transport = new StdioTransport({ target, baseEnvironment, groups, onNoise, ...limits });
      return {
        shield: new ChannelShield(transport),
        kind: 'single',
        transport: 'stdio',
        diagnosis: () => transport.diagnosis(),
        dispose: () => transport.close(),
      };
    }
    case 'websocket': {
      const transport = new WebSocketTransport({
        target,
        onNoise,
        handshakeTimeoutMs: definition.connectTimeoutMs,
        ...limits,
      });
      return {
        shield: new ChannelShield(transport),
        kind: 'single',
        transport: 'websocket',
        dispose: () => transport.close(),
      };
    }
    case 'http': {
      const onOversize = (): void => warn(`a message was longer than ${options.maxMessageBytes} bytes and was dropped`);
      const open = target.flavour === 'sse' ? openSse : openStreamable;
      const { authorizer } = options;
      const { transport, dispose } = open({
        target,
        onOversize,
        ...limits,
        ...(authorizer === undefined ? {} : { authorizer }),
      });
      return {
        shield: new Shield(transport),
        kind: 'http',
        transport: target.flavour === 'sse' ? 'sse' : 'streamable-http',
        dispose,
      };
    }
  }
}
