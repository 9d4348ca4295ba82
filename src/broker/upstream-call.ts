import type { JsonObject } from '../domain/json.js';
import { isRepeatable, type Tool } from '../domain/tool.js';
import type { SpanAttributes, Tracer } from '../domain/trace.js';
import {
  callTimeoutKey,
  type HttpRefusal,
  serverKey,
  type UpstreamFailure,
  type UpstreamOutcome,
} from '../domain/upstream.js';
import { pause } from '../lib/async/pause.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import type { Adapter } from '../upstream/adapter.js';
import { NETWORK_SERVER } from '../upstream/capabilities/network.js';
import type { UpstreamRegistry } from '../upstream/registry.js';
import type { BrokerCall } from './call.js';
import { isRateLimited } from './call-errors.js';
import type { CallObserver } from './call-observer.js';
import type { CallTimes } from './limits/admission-control.js';

export interface RetryOptions {
  readonly maxAttempts: number;
  readonly delayMs: number;
}

export interface UpstreamCallOptions {
  readonly registry: UpstreamRegistry;
  /** The total number of attempts at this server for a call that is safe to repeat. */
  readonly retryOf?: (serverId: string) => RetryOptions;
  readonly tracer?: Tracer;
  readonly observer?: CallObserver;
}

const NO_RETRY: RetryOptions = { maxAttempts: 1, delayMs: 0 };
/** If a server asks for a longer wait, the call is not retried. */
const MAX_ASKED_WAIT_MS = 5_000;
/** A retry after `not_sent` is safe for every tool. */
const UNSENT_ATTEMPTS = 2;

/** Makes a call of the pipeline, and retries it if that is safe. */
export async function callUpstream(
  options: UpstreamCallOptions,
  call: BrokerCall,
  input: JsonObject,
  times: CallTimes,
): Promise<UpstreamOutcome> {
  const { registry, retryOf } = options;
  if (!registry.has(call.tool.serverId)) return { status: 'failed', failure: gone(call.serverPath) };
  const adapter = registry.get(call.tool.serverId);
  const retry = retryOf?.(call.tool.serverId) ?? NO_RETRY;
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOnce(options, adapter, call, input, times);
    if (attempt >= attemptsFor(call.tool, outcome, retry.maxAttempts) || call.signal.aborted) return outcome;
    const askedMs = refusalOf(outcome)?.retryAfterMs ?? 0;
    // A program that has less time left, or could do other work, is told how long the server asks it to wait.
    if (askedMs > Math.min(MAX_ASKED_WAIT_MS, (call.delegate?.remainingMs() ?? Number.POSITIVE_INFINITY) / 2))
      return outcome;
    const wasSent = outcome.status === 'answered' || outcome.failure.kind !== 'not_sent';
    if (wasSent) await pause(Math.max(retry.delayMs, askedMs), call.signal);
    if (call.signal.aborted) return outcome;
    call.delegate?.onRetry?.(errorTypeOf(outcome) ?? 'limited');
  }
}

/** The HTTP status with which the server refused the call, if there is one. An API reports it in its answer. */
function refusalOf(outcome: UpstreamOutcome): HttpRefusal | undefined {
  return outcome.status === 'answered' ? outcome.reply.refusal : outcome.failure.refusal;
}

async function attemptOnce(
  { tracer, observer }: UpstreamCallOptions,
  adapter: Adapter,
  call: BrokerCall,
  input: JsonObject,
  { timeoutMs, defaultTimeoutMs }: CallTimes,
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
      ...omitUndefined({ inputSchema: tool.inputSchema }),
      signal: call.signal,
      ...omitUndefined({
        timeoutMs,
        defaultTimeoutMs,
        onProgress: call.onProgress,
        grants: call.run.grants,
        respondent: call.respondent,
        trace: span?.context,
      }),
    });
    const errorType = errorTypeOf(outcome);
    if (errorType !== undefined) span?.fail(errorType);
    span?.set(taskOf(outcome));
    observer?.onUpstreamCall(call.serverPath, errorType === undefined, performance.now() - startedAt);
    return outcome;
  } finally {
    span?.end();
  }
}

/** The task that the server created for the call, if its id looks like an id. */
function taskOf(outcome: UpstreamOutcome): SpanAttributes {
  const taskId = outcome.status === 'answered' ? outcome.reply.taskId : undefined;
  return taskId !== undefined && /^[\w.:-]{1,128}$/.test(taskId) ? { 'mcp.task.id': taskId } : {};
}

/** By the conventions of MCP, an answer that marks itself as an error has the type `tool_error`. */
function errorTypeOf(outcome: UpstreamOutcome): string | undefined {
  if (outcome.status === 'failed') return outcome.failure.kind;
  return outcome.reply.isError ? 'tool_error' : undefined;
}

/**
 * A call whose answer was lost is retried only if its tool is declared safe to repeat. Retrying another blindly is how things
 * are paid twice. A rate-limited call was not executed, so it may be retried.
 */
function attemptsFor(tool: Tool, outcome: UpstreamOutcome, maxAttempts: number): number {
  if (isRateLimited(refusalOf(outcome))) return maxAttempts;
  if (outcome.status === 'answered') return 1;
  const { kind } = outcome.failure;
  if (kind === 'not_sent') return Math.max(UNSENT_ATTEMPTS, maxAttempts);
  return isRepeatable(tool) && kind === 'outcome_unknown' ? maxAttempts : 1;
}

/** The settings that would give this call more time. */
export function timeoutKeys(registry: UpstreamRegistry, { serverId }: Tool, { timeoutMs }: CallTimes): string[] {
  const limits = timeoutMs === undefined ? [] : ['limits[].timeout'];
  if (serverId === NETWORK_SERVER) return ['security.capabilities.network.timeoutPerRequest', ...limits];
  const isConfigured = registry.has(serverId) && ['mcp', 'openapi'].includes(registry.get(serverId).kind);
  return isConfigured ? [callTimeoutKey(serverId), ...limits] : limits;
}

/** The setting that holds a server's credential; empty if it has none; undefined if the credential comes from a login. */
export function credentialKey(registry: UpstreamRegistry, { serverId }: Tool): string | undefined {
  if (!registry.has(serverId)) return undefined;
  const { kind, credentialSetting } = registry.get(serverId);
  if (credentialSetting !== undefined) return `${serverKey(serverId)}.${credentialSetting}`;
  return kind === 'mcp' ? undefined : '';
}

function gone(serverPath: string): UpstreamFailure {
  return { kind: 'not_sent', message: `${serverPath} was removed`, mayHaveRun: false };
}
