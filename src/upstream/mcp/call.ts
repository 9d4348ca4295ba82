import {
  CLIENT_CAPABILITIES_META_KEY,
  type Client,
  isInputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { traceCarrier } from '../../domain/trace.js';
import type { ToolReply, UpstreamFailure, UpstreamOutcome } from '../../domain/upstream.js';
import { LinkedAbort } from '../../lib/linked-abort.js';
import { pause } from '../../lib/pause.js';
import type { CallClock } from './call-clock.js';
import type { ConnectionCheck, McpCall } from './connection.js';
import { failureOf } from './failures.js';
import { EXACT } from './messages.js';
import type { Questions } from './questions.js';
import { RAW } from './sanitizing-transport.js';
import { awaitTask, taskOf } from './tasks.js';

type CallToolRequestOptions = NonNullable<Parameters<Client['callTool']>[1]>;

/** Of a call whose answers are questions: more is a server that never means to answer. */
const MAX_ROUNDS = 20;
/** The pause before a request is repeated because the server asked for that. */
const AGAIN_MS = 250;
const TOO_MANY_ROUNDS = -32_000;
/** The longest that a timer of Node takes. */
const NEVER_MS = 2 ** 31 - 1;

/** Calls a tool and normalizes the outcome. Also reports whether the connection is still usable. */
export function callTool(
  client: Client,
  questions: Questions,
  call: McpCall,
): Promise<{ readonly outcome: UpstreamOutcome; readonly connection: ConnectionCheck }> {
  return questions.during(call.respondent, call.timeoutMs, async (open) => {
    const ended = new LinkedAbort([call.signal, open.clock.expired]);
    const { signal } = ended;
    try {
      const raw = await request(client, call, open.clock, signal, (asked) => questions.answerAll(asked, open));
      const task = taskOf(raw);
      const wait = { remainingMs: () => open.clock.remainingMs, signal };
      const result = task === undefined ? raw : await awaitTask(client, task, wait);
      return { outcome: answered(result, task?.taskId), connection: 'usable' };
    } catch (error) {
      const { failure, connection } = failureOf(error);
      const said = inOurWords(failure, call, open.clock.expired.aborted);
      open.wasLeft = said.kind === 'cancelled' || said.kind === 'timeout';
      return { outcome: { status: 'failed', failure: said }, connection };
    } finally {
      ended.release();
    }
  });
}

/** Until there is an answer: one of the newer era may be a question, with which the call is made again. */
async function request(
  client: Client,
  call: McpCall,
  clock: CallClock,
  signal: AbortSignal,
  answersTo: (questions: unknown) => Promise<JsonObject>,
): Promise<unknown> {
  const parameters = {
    name: call.tool,
    arguments: call.arguments,
    // Kept by the server at least as long as we are going to ask for it.
    ...(call.asTask ? { task: { ttl: call.timeoutMs } } : {}),
    ...metaOf(client, call),
  };
  let answers = {};
  for (let round = 1; ; round++) {
    const result: unknown = await client.callTool({ ...parameters, ...answers }, optionsOf(call, signal));
    if (!isInputRequiredResult(result)) return (result as { [key: string]: unknown })[RAW];
    if (round > MAX_ROUNDS) throw new ProtocolError(TOO_MANY_ROUNDS, `it asks on after ${MAX_ROUNDS} rounds`);
    const { inputRequests, requestState } = result;
    const isAsking = inputRequests !== undefined && Object.keys(inputRequests).length > 0;
    if (!isAsking) {
      await pause(Math.min(AGAIN_MS, clock.remainingMs), signal);
      signal.throwIfAborted();
    }
    answers = {
      ...(isAsking ? { inputResponses: await answersTo(inputRequests) } : {}),
      ...(requestState === undefined ? {} : { requestState }),
    };
  }
}

/** In the newer era it is said with each call what can be asked of whom it is made for. A trace goes along in both. */
function metaOf(client: Client, { respondent, trace }: McpCall): { _meta?: Record<string, unknown> } {
  const isModern = client.getProtocolEra() === 'modern';
  if (!isModern && trace === undefined) return {};
  return {
    _meta: {
      ...(isModern ? { [CLIENT_CAPABILITIES_META_KEY]: respondent?.capabilities ?? {} } : {}),
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
    // Without an output schema the library checks nothing; with the input schema it mirrors arguments into the
    // headers that a gateway wants to see.
    toolDefinition: { name: call.tool, inputSchema: { type: 'object', ...call.inputSchema } as { type: 'object' } },
    ...(onProgress === undefined
      ? {}
      : {
          onprogress: ({ progress, total, message }) =>
            onProgress({
              progress,
              ...(total === undefined ? {} : { total }),
              ...(message === undefined ? {} : { message }),
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

/** A tool's answer as servers really give it: content that is a string, blocks that are none, results of older protocols. */
export function normaliseReply(raw: unknown): ToolReply | undefined {
  if (!isJsonObject(raw)) return undefined;
  const { content, structuredContent, toolResult, isError, _meta: meta, resultType: _, ...rest } = raw;
  // `null` is a value; only the older `toolResult` was null if a tool returned nothing.
  const structured = structuredContent === undefined ? (toolResult ?? undefined) : structuredContent;
  const exact: unknown = Reflect.get(raw, EXACT);
  return {
    content: normaliseContent(content),
    ...(content === undefined ? { hasNoContent: true } : {}),
    ...(structured === undefined ? {} : { structuredContent: structured }),
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
