import type { GuestError } from '../../domain/run.js';
import { readText } from '../quickjs/guest/text/read-text.js';
import type { CallPromises } from './call-promises.js';
import type { Connection } from './connection.js';
import { strictJson } from './strict-json.js';

/** The key under which the client that programs import finds this code: both are in one process, in different modules. */
export const CLIENT_KEY = Symbol.for('codemode.client');

/** `/workspace/client/mcp_client.js`. */
export const CLIENT_SOURCE = `const client = globalThis[Symbol.for('codemode.client')];

/** A tool call that failed: type, message, retryable, hint, raw. */
export const ToolError = client.ToolError;

/** Calls a tool and gives its MCP result. Throws ToolError. callTool(serverId, name, arguments) or callTool({ ... }). */
export const callTool = client.callTool;

/** A call, or its promise, as { ok: true, data, raw } or { ok: false, error: { type, message, retryable }, raw }. */
export const normalize = client.normalize;

/** The data of a tool's answer or of a text: also of JSON, JSON lines, a Python literal, CSV or a table in its text. */
export const dataOf = client.dataOf;

/** searchTools({ query, serverId, detail }) and getToolDefinition({ serverId, name }). */
export const catalog = client.catalog;
`;

/** The target of catalog calls: no server has this name. */
const CATALOG = '@catalog';

export interface Client {
  readonly ToolError: typeof ToolError;
  callTool(serverId: string | NamedCall, toolName?: string, args?: unknown): Promise<unknown>;
  normalize(call: unknown): Promise<Normalized>;
  dataOf(answer: unknown): unknown;
  readonly catalog: {
    searchTools(question?: unknown): Promise<unknown>;
    getToolDefinition(question?: unknown): Promise<unknown>;
  };
}

/** A call whose parts are named. */
export interface NamedCall {
  readonly serverId: string;
  readonly name: string;
  readonly arguments?: unknown;
}

export type Normalized =
  | { readonly ok: true; readonly data: unknown; readonly raw: unknown }
  | {
      readonly ok: false;
      readonly error: { readonly type: string; readonly message: string; readonly retryable: boolean };
      readonly raw?: unknown;
    };

/** A tool call that failed. */
export class ToolError extends Error {
  /** The kind of failure. */
  readonly type: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** What to do next. */
  readonly hint: string;
  /** The tool's answer, or everything known about the failure. */
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

/** The calls of a program: how many it has made, and which are open. */
export class OpenCalls extends Map<number, Open> {
  last = 0;

  /** The most recent open call, or 0 if none is open. */
  get newest(): number {
    return Math.max(0, ...[...this.keys()].slice(-1));
  }
}

interface Open {
  resolve(value: unknown): void;
  reject(error: ToolError): void;
  readonly error: ToolError;
}

/** The host gets the lines of this many calls; later calls have only their number. */
const MAX_LOCATED_CALLS = 50;

/** `lineOf`: the program's line in a stack. */
export function createClient(
  connection: Connection,
  promises: CallPromises,
  open: OpenCalls,
  lineOf: (stack: string) => number | undefined,
): Client {
  connection.onAnswer = ({ type, call }, body) => {
    const waiting = open.get(call);
    open.delete(call);
    if (waiting === undefined) return;
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (type === 'call/result') waiting.resolve(value);
    else waiting.reject(filled(waiting.error, value as GuestError));
  };
  const call = (server: string, toolName: string, args: unknown, error: ToolError) =>
    new Promise<unknown>((resolve, reject) => {
      const argumentsJson = jsonOfArguments(args ?? {});
      const number = ++open.last;
      open.set(number, { resolve, reject, error });
      const line = number > MAX_LOCATED_CALLS ? undefined : lineAt(error);
      connection.request(number, `${server}/${toolName}`, argumentsJson, line);
    });
  /** A program may have its own `prepareStackTrace`, which may throw. */
  const lineAt = (site: Error) => {
    try {
      return lineOf(String(site.stack));
    } catch {
      return undefined;
    }
  };
  const callTool: Client['callTool'] = (server, toolName, args) => {
    if (server !== null && typeof server === 'object') return callTool(server.serverId, server.name, server.arguments);
    if (typeof server !== 'string' || typeof toolName !== 'string')
      return Promise.reject(new TypeError('the server and the tool are named by strings'));
    // Created here, so that its stack leads to the line of the call and not to the arrival of its answer.
    const error = new ToolError('');
    return promises.follow(call(server, toolName, args, error), `${server}/${toolName}`, error);
  };
  return Object.freeze({
    ToolError,
    callTool,
    normalize,
    dataOf: dataIn,
    catalog: Object.freeze({
      searchTools: (question: unknown = {}) => callTool(CATALOG, 'searchTools', question),
      getToolDefinition: (question: unknown = {}) => callTool(CATALOG, 'getToolDefinition', question),
    }),
  });
}

/** A NaN, a function or a Map would reach the tool as something else. */
function jsonOfArguments(args: unknown): string {
  try {
    return `[${strictJson(args) ?? 'null'}]`;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolError(`the arguments are not JSON: ${why}`, {
      type: 'InvalidArguments',
      hint: 'Pass plain objects, arrays, strings, finite numbers, booleans and null.',
    });
  }
}

async function normalize(call: unknown): Promise<Normalized> {
  try {
    const raw: unknown = await (typeof call === 'function' ? call() : call);
    const data = dataOf(raw);
    if ((raw as { isError?: unknown } | null | undefined)?.isError !== true) return { ok: true, data, raw };
    // A result that the program kept or got from elsewhere: a failed call throws.
    const message = typeof data === 'string' ? data : JSON.stringify(data);
    return { ok: false, error: { type: 'ToolError', message, retryable: false }, raw };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { type, message, retryable, raw } = error;
    return { ok: false, error: { type, message, retryable }, raw };
  }
}

/** The structured content if there is any, else a single text, else the content blocks. */
function dataOf(raw: unknown): unknown {
  if (raw === null || typeof raw !== 'object') return raw;
  const { structuredContent, content } = raw as { structuredContent?: unknown; content?: unknown };
  if (structuredContent !== undefined) return structuredContent;
  const [only] = Array.isArray(content) ? (content as { type?: unknown; text?: unknown }[]) : [];
  if (Array.isArray(content) && content.length === 1 && only?.type === 'text') return only.text;
  return content ?? raw;
}

/** The structured value, else the data parsed from the text, else the text itself. Several blocks give a list. */
function dataIn(answer: unknown): unknown {
  if (typeof answer === 'string') return dataInText(answer);
  if (answer === null || typeof answer !== 'object') return answer;
  const { structuredContent, content = answer } = answer as { structuredContent?: unknown; content?: unknown };
  if (structuredContent !== undefined) return structuredContent;
  if (!Array.isArray(content)) return content;
  const blocks = content.map((block: { type?: unknown; text?: unknown } | null) =>
    block?.type === 'text' && typeof block.text === 'string' ? dataInText(block.text) : block,
  );
  return blocks.length === 1 ? blocks[0] : blocks;
}

function dataInText(text: string): unknown {
  try {
    return readText(text);
  } catch {
    return text;
  }
}

function filled(error: ToolError, raw: GuestError): ToolError {
  const stack = error.stack ?? '';
  Object.assign(error, {
    type: raw.errorClass,
    hint: raw.hint,
    retryable: raw.fields?.['retryable'] === true,
    // The tool's own answer, if the tool itself failed.
    raw: raw.fields?.['result'] ?? raw,
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
