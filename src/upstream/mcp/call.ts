import type { Client } from '@modelcontextprotocol/client';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { ToolReply, UpstreamFailure, UpstreamOutcome } from '../../domain/upstream.js';
import type { ConnectionVerdict, McpCall } from './connection.js';
import { failureOf } from './failures.js';
import { RAW } from './shield.js';
import { awaitTask, taskOf } from './tasks.js';

/** Calls a tool and brings whatever comes of it to one shape. Also says whether the connection is still good. */
export async function callTool(
  client: Client,
  call: McpCall,
): Promise<{ readonly outcome: UpstreamOutcome; readonly connection: ConnectionVerdict }> {
  const startedAt = performance.now();
  const remainingMs = (): number => Math.max(1, call.timeoutMs - (performance.now() - startedAt));
  try {
    const raw = await request(client, call);
    const task = taskOf(raw);
    const result = task === undefined ? raw : await awaitTask(client, task, { remainingMs, ...signalOf(call) });
    return { outcome: answered(result, task?.taskId), connection: 'usable' };
  } catch (error) {
    const { failure, connection } = failureOf(error);
    return { outcome: { status: 'failed', failure: inOurWords(failure, call) }, connection };
  }
}

async function request(client: Client, call: McpCall): Promise<unknown> {
  const parameters = {
    name: call.tool,
    arguments: call.arguments,
    // Kept by the server at least as long as we are going to ask for it.
    ...(call.asTask ? { task: { ttl: call.timeoutMs } } : {}),
  };
  const { onProgress } = call;
  const result = await client.callTool(parameters, {
    timeout: call.timeoutMs,
    maxTotalTimeout: call.timeoutMs,
    // Without an output schema the library checks nothing; with the input schema it mirrors arguments into the
    // headers that a gateway wants to see.
    toolDefinition: { name: call.tool, inputSchema: { type: 'object', ...call.inputSchema } as { type: 'object' } },
    ...signalOf(call),
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
  });
  return (result as { [key: string]: unknown })[RAW];
}

function signalOf(call: McpCall): { signal?: AbortSignal } {
  return call.signal === undefined ? {} : { signal: call.signal };
}

/** The library ends aborted and timed-out requests with the same error: the signal tells them apart. */
function inOurWords(failure: UpstreamFailure, call: McpCall): UpstreamFailure {
  if (call.signal?.aborted === true) return { ...failure, kind: 'cancelled', message: 'the call was cancelled' };
  if (failure.kind === 'timeout')
    return {
      ...failure,
      message: `no answer within ${call.timeoutMs} ms; the call was cancelled, but it may have taken effect`,
    };
  return failure;
}

function answered(raw: unknown, taskId: string | undefined): UpstreamOutcome {
  const reply = normaliseReply(raw);
  if (reply !== undefined) return { status: 'answered', reply: taskId === undefined ? reply : { ...reply, taskId } };
  return {
    status: 'failed',
    failure: { kind: 'invalid_reply', mayHaveRun: true, message: 'the answer is no tool result' },
  };
}

/** A tool's answer as servers really give it: content that is a string, blocks that are none, results of older protocols. */
export function normaliseReply(raw: unknown): ToolReply | undefined {
  if (!isObject(raw)) return undefined;
  const { content, structuredContent, toolResult, _meta: meta } = raw;
  const structured = structuredContent ?? toolResult;
  return {
    content: normaliseContent(content),
    ...(structured === undefined || (structured === null && structuredContent === undefined)
      ? {}
      : { structuredContent: structured }),
    isError: raw.isError === true,
    ...(isObject(meta) && Object.keys(meta).length > 0 ? { meta } : {}),
  };
}

function normaliseContent(content: JsonValue | undefined): JsonObject[] {
  if (content === undefined || content === null) return [];
  const blocks = Array.isArray(content) ? content : [content];
  return blocks.map((block) => {
    if (isObject(block) && typeof block.type === 'string') return block;
    return { type: 'text', text: typeof block === 'string' ? block : JSON.stringify(block) };
  });
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
