import type { ExecutionResult } from './errors.js';
import type { ExecutionOptions } from './sandbox-runtime.js';

/** What goes over a connection to `/api/v1/ws`, both ways, for clients that are written in TypeScript. */
export interface WebSocketMessage {
  readonly id: string;
  readonly type: 'execute' | 'result' | 'error' | 'log';
  readonly payload: unknown;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}

/** A client runs code. */
export interface ExecuteMessage extends WebSocketMessage {
  readonly type: 'execute';
  readonly payload: {
    readonly code: string;
    readonly options: Omit<ExecutionOptions, 'auth' | 'signal' | 'onLog'>;
  };
}

/** What became of the code. Times in it are texts in ISO 8601, as JSON has no dates. */
export interface ResultMessage extends WebSocketMessage {
  readonly type: 'result';
  readonly payload: ExecutionResult;
}

/** What the code writes, while it runs. */
export interface LogMessage extends WebSocketMessage {
  readonly type: 'log';
  readonly payload: { readonly level: 'info' | 'warn' | 'error'; readonly message: string };
}
