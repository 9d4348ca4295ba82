import type { GuestError } from '../../domain/execution.js';
import type { Connection } from './connection.js';

/** Where the client that programs import finds us: both are in one process, in different modules. */
export const CLIENT_KEY = Symbol.for('codemode.client');

/** `/workspace/client/mcp_client.js`. */
export const CLIENT_SOURCE = `const client = globalThis[Symbol.for('codemode.client')];

/** A tool call that failed: type, message, retryable, hint, raw. */
export const ToolError = client.ToolError;

/** Calls a tool of a server and gives its result. Throws ToolError. */
export const callTool = client.callTool;
`;

export interface Client {
  readonly ToolError: typeof ToolError;
  callTool(serverId: string, toolName: string, args?: unknown): Promise<unknown>;
}

/** A tool call that failed. */
export class ToolError extends Error {
  /** The kind of failure. */
  readonly type: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** What to do next. */
  readonly hint: string;
  /** Everything that is known about it. */
  readonly raw: unknown;

  constructor(message: string, details: { type?: string; retryable?: boolean; hint?: string; raw?: unknown } = {}) {
    super(message);
    this.name = 'ToolError';
    this.type = details.type ?? 'ToolCallError';
    this.retryable = details.retryable ?? false;
    this.hint = details.hint ?? '';
    this.raw = details.raw;
  }
}

interface Open {
  resolve(value: unknown): void;
  reject(error: ToolError): void;
  readonly error: ToolError;
}

export function createClient(connection: Connection): Client {
  const open = new Map<number, Open>();
  let lastNumber = 0;
  connection.onAnswer = ({ type, call }, body) => {
    const waiting = open.get(call);
    open.delete(call);
    if (waiting === undefined) return;
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (type === 'call/result') waiting.resolve(value);
    else waiting.reject(filled(waiting.error, value as GuestError));
  };
  return Object.freeze({
    ToolError,
    callTool: async (serverId: string, toolName: string, args: unknown = {}) => {
      if (typeof serverId !== 'string' || typeof toolName !== 'string')
        throw new TypeError('the server and the tool are named by strings');
      const argumentsJson = JSON.stringify([args]);
      // Made here, so that its stack leads to the line of the call and not to the arrival of its answer.
      const error = new ToolError('');
      return new Promise<unknown>((resolve, reject) => {
        open.set(++lastNumber, { resolve, reject, error });
        connection.request(lastNumber, `${serverId}/${toolName}`, argumentsJson);
      });
    },
  });
}

function filled(error: ToolError, raw: GuestError): ToolError {
  const stack = error.stack ?? '';
  Object.assign(error, {
    type: raw.errorClass,
    hint: raw.hint,
    retryable: raw.fields?.['retryable'] === true,
    raw,
  });
  Object.defineProperty(error, 'message', { value: raw.message, configurable: true, writable: true });
  const frames = stack.slice(stack.indexOf('\n    at '));
  Object.defineProperty(error, 'stack', {
    value: `ToolError: ${raw.message}${frames}`,
    configurable: true,
    writable: true,
  });
  return error;
}
