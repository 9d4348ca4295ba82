import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import type { CodeModeError as RenderedError } from '../../profiles/unified/errors.js';
import type { ExecuteResponse, ExecutionMetrics } from '../../profiles/unified/render.js';

/** The kinds of errors in the contract. */
export const ErrorType = {
  VALIDATION: 'validation',
  SECURITY: 'security',
  TIMEOUT: 'timeout',
  MEMORY: 'memory',
  NETWORK: 'network',
  MCP: 'mcp',
  RUNTIME: 'runtime',
} as const;
export type ErrorType = (typeof ErrorType)[keyof typeof ErrorType];

/** Why code failed, or why it was not run. In JSON `timestamp` is ISO 8601. */
export interface CodeModeError {
  readonly type: ErrorType;
  readonly code: string;
  readonly message: string;
  readonly details?: Record<string, unknown>;
  readonly stack?: string;
  readonly timestamp: Date;
  readonly requestId: string;
}

/** The result of code. Code that fails and requests that are refused are results too: `success` is false. */
export interface ExecutionResult {
  readonly success: boolean;
  readonly result?: unknown;
  readonly error?: CodeModeError;
  readonly metrics: ExecutionMetrics;
  readonly logs: string[];
  readonly requestId: string;
}

export function executionResult({ error, logs, ...response }: ExecuteResponse): ExecutionResult {
  return { ...response, ...omitUndefined({ error: ifDefined(error, errorOf) }), logs: [...logs] };
}

function errorOf({ timestamp, ...error }: RenderedError): CodeModeError {
  return { ...error, timestamp: new Date(timestamp) };
}
