import type { BrokerOutcome } from '../../broker/broker.js';
import type { CallVerdict } from '../../domain/audit.js';
import { isJsonObject, type JsonValue } from '../../domain/json.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { CalledTool } from './called-tool.js';

/** One call in a response's list of calls. */
export interface TraceEntry {
  readonly serverId: string;
  readonly toolName: string;
  readonly durationMs: number;
  readonly ok: boolean;
  readonly error?: string;
  /** Present if the server answered with a task, which was followed until it ended. */
  readonly taskId?: string;
}

const MAX_ERROR_CHARACTERS = 300;

export function traceOf({ tool, server }: CalledTool, outcome: BrokerOutcome, durationMs: number): TraceEntry {
  const taskId = outcome.reply?.taskId;
  return {
    serverId: server.path,
    toolName: tool.name,
    durationMs: Math.round(durationMs),
    ok: outcome.ok,
    ...omitUndefined({ taskId }),
    ...(!outcome.ok && { error: summary(outcome, tool.inputSchema) }),
  };
}

/** Paths of the servers that have answered. */
export function serversUsed(trace: readonly TraceEntry[]): ReadonlySet<string> {
  return new Set(trace.filter(({ ok }) => ok).map(({ serverId }) => serverId));
}

/** A summary, not a copy: a tool's error text may be its output, and a schema error may quote the input. */
function summary(
  { error: { errorClass, message, fields }, verdict }: FailedCall,
  inputSchema: JsonValue | undefined,
): string {
  if (errorClass === 'SchemaValidationError')
    return `${errorClass} at ${JSON.stringify(declaredPath(String(fields?.path ?? ''), inputSchema))}`;
  const foreign = verdict === undefined ? undefined : FOREIGN_WORDS[verdict];
  if (foreign !== undefined) return `${errorClass}: ${foreign}`;
  const line = message.split('\n')[0] as string;
  return `${errorClass}: ${line.length > MAX_ERROR_CHARACTERS ? `${line.slice(0, MAX_ERROR_CHARACTERS)}...` : line}`;
}

/** The path as far as the schema declares it: a key that the program invented is part of its input. */
function declaredPath(path: string, inputSchema: JsonValue | undefined): string {
  let schema: JsonValue | undefined = inputSchema;
  const parts = path.split('/').slice(1);
  const named = parts.map((part) => {
    const { properties, items } = (isJsonObject(schema) ? schema : {}) as { properties?: JsonValue; items?: JsonValue };
    const isDeclared = isJsonObject(properties) && Object.hasOwn(properties, part);
    schema = isDeclared ? properties[part] : items;
    return isDeclared || /^\d+$/.test(part) ? part : '*';
  });
  return ['', ...named].join('/');
}

const WAITING = "waits for a person's approval; nothing was sent";

/** The program could not wait for the decision. The call has not failed. */
export function isWaiting({ error }: TraceEntry): boolean {
  return error?.endsWith(WAITING) === true;
}

/** Failures whose message comes from the server or contains the input. */
const FOREIGN_WORDS: Partial<Record<CallVerdict, string>> = {
  pending: WAITING,
  tool_error: 'the tool reported an error',
  refused: 'the server refused the call',
  unauthorized: 'the server asks for a valid credential',
  invalid_reply: 'the answer is not a tool result',
  invalid_output: 'the answer does not fit the output schema',
};

export type FailedCall = Extract<BrokerOutcome, { ok: false }>;
