import type { JsonObject } from '../domain/json.js';
import { isRepeatable, type Tool } from '../domain/tool.js';
import type { Tracer } from '../domain/trace.js';
import type { UpstreamFailure, UpstreamOutcome } from '../domain/upstream.js';
import type { Adapter } from '../upstream/adapter.js';
import type { UpstreamRegistry } from '../upstream/registry.js';
import type { BrokerCall } from './call.js';
import type { CallObserver } from './call-observer.js';

export interface RetrySetting {
  readonly maxAttempts: number;
  readonly delayMs: number;
}

export interface UpstreamCallOptions {
  readonly registry: UpstreamRegistry;
  /** How often a call that is safe to repeat is made to this server, in all. */
  readonly retryOf?: (serverId: string) => RetrySetting;
  readonly tracer?: Tracer;
  readonly observer?: CallObserver;
}

const NO_RETRY: RetrySetting = { maxAttempts: 1, delayMs: 0 };
/** Not sent at all is the one failure that every tool survives a second try of. */
const UNSENT_ATTEMPTS = 2;

/** Makes a call of the pipeline, again where that is safe. */
export async function callUpstream(
  options: UpstreamCallOptions,
  call: BrokerCall,
  input: JsonObject,
  timeoutMs: number | undefined,
): Promise<UpstreamOutcome> {
  const { registry, retryOf } = options;
  if (!registry.has(call.tool.serverId)) return { status: 'failed', failure: gone(call.serverPath) };
  const adapter = registry.get(call.tool.serverId);
  const retry = retryOf?.(call.tool.serverId) ?? NO_RETRY;
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOnce(options, adapter, call, input, timeoutMs);
    if (outcome.status === 'answered' || call.signal.aborted) return outcome;
    if (attempt >= attemptsFor(call.tool, outcome.failure, retry.maxAttempts)) return outcome;
    if (outcome.failure.kind !== 'not_sent') await pause(retry.delayMs, call.signal);
  }
}

async function attemptOnce(
  { tracer, observer }: UpstreamCallOptions,
  adapter: Adapter,
  call: BrokerCall,
  input: JsonObject,
  timeoutMs: number | undefined,
): Promise<UpstreamOutcome> {
  const { tool, span: parent } = call;
  const startedAt = performance.now();
  const span =
    parent === undefined
      ? undefined
      : tracer?.start(adapter.kind === 'mcp' ? `tools/call ${tool.name}` : `${adapter.kind} ${tool.name}`, {
          parent: parent.context,
          kind: 'client',
          attributes: {
            'codemode.server': call.serverPath,
            'gen_ai.tool.name': tool.name,
            ...(adapter.kind === 'mcp'
              ? { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool' }
              : {}),
          },
        });
  try {
    const outcome = await adapter.call({
      tool: tool.name,
      arguments: input,
      ...(tool.inputSchema === undefined ? {} : { inputSchema: tool.inputSchema }),
      signal: call.signal,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(call.run.callTimeoutMs === undefined ? {} : { defaultTimeoutMs: call.run.callTimeoutMs }),
      ...(call.onProgress === undefined ? {} : { onProgress: call.onProgress }),
      ...(call.run.grants === undefined ? {} : { grants: call.run.grants }),
      ...(call.respondent === undefined ? {} : { respondent: call.respondent }),
      ...(span === undefined ? {} : { trace: span.context }),
    });
    const errorType = errorTypeOf(outcome);
    if (errorType !== undefined) span?.fail(errorType);
    observer?.onUpstreamCall(call.serverPath, errorType === undefined, performance.now() - startedAt);
    return outcome;
  } finally {
    span?.end();
  }
}

/** By the conventions of MCP, an answer that says of itself that it is an error is one of type `tool_error`. */
function errorTypeOf(outcome: UpstreamOutcome): string | undefined {
  if (outcome.status === 'failed') return outcome.failure.kind;
  return outcome.reply.isError ? 'tool_error' : undefined;
}

/**
 * A call whose answer was lost is made again only where its tool says that this changes nothing. A blind second try of
 * another is how things are paid twice.
 */
function attemptsFor(tool: Tool, { kind }: UpstreamFailure, maxAttempts: number): number {
  if (kind === 'not_sent') return Math.max(UNSENT_ATTEMPTS, maxAttempts);
  return isRepeatable(tool) && kind === 'outcome_unknown' ? maxAttempts : 1;
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, delayMs);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}

function gone(serverPath: string): UpstreamFailure {
  return { kind: 'not_sent', message: `${serverPath} was taken away`, mayHaveRun: false };
}
