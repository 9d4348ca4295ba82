import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  isInputRequiredResult,
  ProtocolError,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json.js';
import { traceCarrier } from '../../../domain/trace.js';
import type { ToolReply, UpstreamFailure, UpstreamOutcome } from '../../../domain/upstream.js';
import { LinkedAbort } from '../../../lib/async/linked-abort.js';
import { pause } from '../../../lib/async/pause.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { ConnectionCheck, McpCall } from '../connection.js';
import { failureOf } from '../failures.js';
import type { Questions } from '../questions/questions.js';
import { RAW, type SanitizingTransport } from '../sanitizing-transport.js';
import type { CallClock } from './call-clock.js';
import { EXACT } from './messages.js';
import type { OpenCall } from './open-calls.js';
import { awaitTask, taskOf } from './tasks.js';

type CallToolRequestOptions = NonNullable<Parameters<Client['callTool']>[1]>;

/** The most rounds in which a call is answered with questions. A server that asks more never intends to answer. */
const MAX_ROUNDS = 20;
/** The pause before a request is repeated at the server's request. */
const AGAIN_MS = 250;
const TOO_MANY_ROUNDS = -32_000;
/** The longest delay of a Node timer. */
const NEVER_MS = 2 ** 31 - 1;

/** How one connection makes calls. */
export interface CallPath {
  readonly client: Client;
  readonly questions: Questions;
  /** Present if calls can bypass the client library: over a pipe or a socket. */
  readonly direct?: DirectPath | undefined;
}

export interface DirectPath {
  readonly channel: SanitizingTransport;
  /** What every message of the newer era carries. Absent in the older era. */
  readonly envelope?: JsonObject | undefined;
}

/** Calls a tool and normalizes the outcome. Also reports whether the connection is still usable. */
export function callTool(
  path: CallPath,
  call: McpCall,
): Promise<{ readonly outcome: UpstreamOutcome; readonly connection: ConnectionCheck }> {
  return path.questions.during(call.respondent, call.timeoutMs, async (open) => {
    try {
      const raw = await request(path, call, open);
      const task = taskOf(raw);
      if (task === undefined) return { outcome: answered(raw, undefined), connection: 'usable' };
      const result = await untilEnded(call, open.clock, (signal) =>
        awaitTask(path.client, task, { remainingMs: () => open.clock.remainingMs, signal }),
      );
      return { outcome: answered(result, task.taskId), connection: 'usable' };
    } catch (error) {
      const { failure, connection } = failureOf(error);
      const said = inOurWords(failure, call, open.clock.expired.aborted);
      open.wasLeft = said.kind === 'cancelled' || said.kind === 'timeout';
      return { outcome: { status: 'failed', failure: said }, connection };
    }
  });
}

/** Repeats the call until it has a result: in the newer era the answer may be a question, and the call is sent again with its answer. */
async function request(path: CallPath, call: McpCall, open: OpenCall): Promise<unknown> {
  const { client, questions, direct } = path;
  const parameters = {
    name: call.tool,
    arguments: call.arguments,
    // Asks the server to keep the task at least as long as we poll for it.
    ...(call.asTask ? { task: { ttl: call.timeoutMs } } : {}),
    ...metaOf(client, call, direct?.envelope),
  };
  let answers: JsonObject = {};
  for (let round = 1; ; round++) {
    const asked = round === 1 ? parameters : { ...parameters, ...answers };
    const answer = await (direct === undefined
      ? requestByLibrary(client, asked, call, open.clock)
      : requestDirectly(direct, asked, call, open.clock));
    if ('raw' in answer) return answer.raw;
    if (round > MAX_ROUNDS) throw new ProtocolError(TOO_MANY_ROUNDS, `it keeps asking after ${MAX_ROUNDS} rounds`);
    const { inputRequests, requestState } = answer;
    const isAsking = inputRequests !== undefined && Object.keys(inputRequests).length > 0;
    if (!isAsking)
      await untilEnded(call, open.clock, async (signal) => {
        await pause(Math.min(AGAIN_MS, open.clock.remainingMs), signal);
        signal.throwIfAborted();
      });
    answers = {
      ...(isAsking ? { inputResponses: await questions.answerAll(inputRequests, open) } : {}),
      ...omitUndefined({ requestState }),
    };
  }
}

/** The result that the server wrote, or the questions it asks first. */
type RoundAnswer =
  | { readonly raw: unknown }
  | { readonly inputRequests?: object | undefined; readonly requestState?: string | undefined };

type CallParameters = JsonObject & { readonly name: string };

async function requestByLibrary(
  client: Client,
  parameters: CallParameters,
  call: McpCall,
  clock: CallClock,
): Promise<RoundAnswer> {
  const result: unknown = await untilEnded(call, clock, (signal) =>
    client.callTool(parameters, optionsOf(call, signal)),
  );
  return isInputRequiredResult(result) ? result : { raw: (result as { [key: string]: unknown })[RAW] };
}

/** The same without the client library, which takes 100 µs for it: see `DirectCalls`. */
function requestDirectly(
  { channel, envelope }: DirectPath,
  parameters: CallParameters,
  call: McpCall,
  clock: CallClock,
): Promise<RoundAnswer> {
  const { signal, onProgress } = call;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      const reason = signal?.aborted === true ? String(signal.reason) : `no answer within ${call.timeoutMs} ms`;
      cancel(reason);
      release();
      reject(new SdkError(SdkErrorCode.RequestTimeout, reason));
    };
    const release = (): void => {
      signal?.removeEventListener('abort', stop);
      clock.expired.removeEventListener('abort', stop);
    };
    const cancel = channel.call(
      parameters,
      {
        onResult: (result) => {
          release();
          const asked = result.resultType === 'input_required' ? questionIn(result, envelope !== undefined) : result;
          if (asked === undefined)
            reject(new SdkError(SdkErrorCode.InvalidResult, 'it asked for input without saying for what'));
          else resolve(asked === result ? { raw: result } : asked);
        },
        onFailure: (error) => {
          release();
          reject(error);
        },
        onProgress,
      },
      envelope,
    );
    signal?.addEventListener('abort', stop);
    clock.expired.addEventListener('abort', stop);
    if (signal?.aborted === true || clock.expired.aborted) stop();
  });
}

/** The questions in an answer. The older era has no questions, so there such an answer has no result. */
function questionIn({ inputRequests, requestState }: JsonObject, isModern: boolean): RoundAnswer | undefined {
  if (!isModern) return { raw: undefined };
  const asked = isJsonObject(inputRequests) && Object.keys(inputRequests).length > 0 ? inputRequests : undefined;
  const state = typeof requestState === 'string' ? requestState : undefined;
  return asked === undefined && state === undefined ? undefined : { inputRequests: asked, requestState: state };
}

/** Runs work that is aborted with the call: when it is cancelled or times out. */
async function untilEnded<Result>(
  call: McpCall,
  clock: CallClock,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ended = new LinkedAbort([call.signal, clock.expired]);
  try {
    return await work(ended.signal);
  } finally {
    ended.release();
  }
}

/** In the newer era each call announces which questions its client can answer. The trace context is sent in both eras. */
function metaOf(
  client: Client,
  { respondent, trace }: McpCall,
  envelope: JsonObject | undefined,
): { _meta?: JsonObject } {
  const isModern = client.getProtocolEra() === 'modern';
  if (!isModern && trace === undefined) return {};
  return {
    _meta: {
      ...envelope,
      ...(isModern ? { [CLIENT_CAPABILITIES_META_KEY]: (respondent?.capabilities ?? {}) as JsonObject } : {}),
      ...(trace === undefined ? {} : traceCarrier(trace)),
    },
  };
}

function optionsOf(call: McpCall, signal: AbortSignal): CallToolRequestOptions {
  const { onProgress } = call;
  return {
    signal,
    // The call has its own timeout, which is paused while a person is asked.
    timeout: NEVER_MS,
    allowInputRequired: true,
    // Without an output schema the library checks nothing. With the input schema it mirrors arguments into the headers that a
    // gateway wants to see.
    toolDefinition: { name: call.tool, inputSchema: { type: 'object', ...call.inputSchema } as { type: 'object' } },
    ...(onProgress === undefined
      ? {}
      : {
          onprogress: ({ progress, total, message }) =>
            onProgress({
              progress,
              ...omitUndefined({ total, message }),
            }),
        }),
  };
}

/** The library ends aborted and timed-out requests with the same error: the signals tell them apart. */
function inOurWords(failure: UpstreamFailure, call: McpCall, isLate: boolean): UpstreamFailure {
  if (call.signal?.aborted === true) return { ...failure, kind: 'cancelled', message: 'the call was cancelled' };
  if (isLate)
    return {
      ...failure,
      kind: 'timeout',
      mayHaveRun: true,
      message: `no answer within ${call.timeoutMs} ms; the call was cancelled, but it may have taken effect`,
    };
  return failure;
}

function answered(raw: unknown, taskId: string | undefined): UpstreamOutcome {
  const reply = normaliseReply(raw);
  if (reply !== undefined) return { status: 'answered', reply: taskId === undefined ? reply : { ...reply, taskId } };
  return {
    status: 'failed',
    failure: { kind: 'invalid_reply', mayHaveRun: true, message: 'the answer is not a tool result' },
  };
}

/** Normalizes a tool's answer as real servers send it: content that is a string, malformed blocks, results of older protocols. */
export function normaliseReply(raw: unknown): ToolReply | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { content, structuredContent, toolResult, _meta: meta, resultType: _, ...whole } = raw;
  const { isError, ...others } = whole;
  // `false` is a field that the server wrote, and stays. `true` is the verdict; another value says nothing.
  const rest = isError === false ? whole : others;
  // `null` is a value; only the older `toolResult` was null if a tool returned nothing.
  const structured = structuredContent === undefined ? (toolResult ?? undefined) : structuredContent;
  const exact: unknown = Reflect.get(raw, EXACT);
  return {
    content: normaliseContent(content),
    ...(content === undefined ? { hasNoContent: true } : {}),
    ...omitUndefined({ structuredContent: structured }),
    ...(typeof exact === 'string' ? { structuredJson: exact } : {}),
    isError: isError === true,
    ...(isJsonObject(meta) && Object.keys(meta).length > 0 ? { meta } : {}),
    ...(Object.keys(rest).length > 0 ? { rest } : {}),
  };
}

function normaliseContent(content: JsonValue | undefined): JsonObject[] {
  if (content === undefined || content === null) return [];
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.map((block) => {
    if (isJsonObject(block) && typeof block.type === 'string') return block;
    return { type: 'text', text: typeof block === 'string' ? block : JSON.stringify(block) };
  });
}
