import type { ExecutionResult } from './errors.js';
import type { ExecutionOptions } from './sandbox-runtime.js';

/** Messages of a connection to `/api/v1/ws`, in both directions, for clients written in TypeScript. */
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

/** The result of the code. Its times are ISO 8601 texts, because JSON has no dates. */
export interface ResultMessage extends WebSocketMessage {
  readonly type: 'result';
  readonly payload: ExecutionResult;
}

/** A log entry of the code, sent while it runs. */
export interface LogMessage extends WebSocketMessage {
  readonly type: 'log';
  readonly payload: { readonly level: 'info' | 'warn' | 'error'; readonly message: string };
}
