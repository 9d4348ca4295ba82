import type { CapabilitySet } from '../../domain/capability.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Tool, ToolAnnotations } from '../../domain/tool.js';
import {
  type CallProgress,
  callTimeoutOf,
  type ToolListing,
  type ToolReply,
  type UpstreamCall,
  type UpstreamFailure,
  type UpstreamHealth,
  type UpstreamIdentity,
  type UpstreamOutcome,
} from '../../domain/upstream.js';
import { LinkedAbort } from '../../lib/async/linked-abort.js';
import { rejectedOnAbort } from '../../lib/async/rejected-on-abort.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { Adapter, AdapterEvent } from '../adapter.js';

/** A function of this process as a tool. Its schemas have been converted to JSON Schema. */
export interface NativeTool {
  readonly description?: string;
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly deprecated?: boolean;
  readonly version?: string;
  readonly tags?: readonly string[];
  /** An error it throws becomes the tool's own failure: the message reaches the program, the stack does not. */
  execute(input: JsonObject, context: NativeCallContext): unknown;
}

export interface NativeCallContext {
  /** Aborted when the program is over, or the call times out. */
  readonly signal: AbortSignal;
  report(progress: CallProgress): void;
  /** What the run was granted, if its contract has capabilities. */
  readonly grants?: CapabilitySet;
}

/** Functions of this process as an upstream, without a connection. Their calls pass the broker like all others. */
export class NativeUpstream implements Adapter {
  readonly id: string;
  readonly kind: 'native' | 'langchain';
  readonly #tools: ReadonlyMap<string, NativeTool>;
  readonly #since = new Date();
  readonly #closed = new AbortController();

  constructor(id: string, tools: ReadonlyMap<string, NativeTool>, kind: 'native' | 'langchain' = 'native') {
    this.id = id;
    this.kind = kind;
    this.#tools = tools;
  }

  async connect(): Promise<UpstreamIdentity> {
    return IDENTITY;
  }

  async listTools(): Promise<ToolListing> {
    const tools = [...this.#tools].map(
      ([name, { execute: _, ...described }]): Tool => ({
        serverId: this.id,
        name,
        ...described,
      }),
    );
    return { tools, warnings: [] };
  }

  async call({ tool, arguments: input, signal, onProgress, grants, ...times }: UpstreamCall) {
    const timeoutMs = callTimeoutOf({}, times);
    const found = this.#tools.get(tool);
    if (found === undefined) return failed('refused', `there is no tool ${JSON.stringify(tool)}`, false);
    const late = AbortSignal.timeout(timeoutMs);
    // Not `AbortSignal.any`: see `RestContext.execute`.
    const ends = new LinkedAbort([late, this.#closed.signal, signal]);
    const stop = ends.signal;
    if (stop.aborted) return failed('cancelled', 'the call was cancelled', false);
    const report = (progress: CallProgress) => onProgress?.(progress);
    const context = { signal: stop, report, ...omitUndefined({ grants }) };
    try {
      // A function that ignores the signal keeps running; its program does not wait for it.
      const value = await Promise.race([(async () => found.execute(input, context))(), rejectedOnAbort(stop)]);
      return replyOf(value, found);
    } catch (error) {
      if (late.aborted) return failed('timeout', `no answer within ${timeoutMs} ms`, true);
      if (stop.aborted) return failed('cancelled', 'the call was cancelled', true);
      const text = error instanceof Error ? error.message : String(error);
      return answered({ content: [{ type: 'text', text }], isError: true });
    } finally {
      ends.release();
    }
  }

  health(): UpstreamHealth {
    const state = this.#closed.signal.aborted ? 'closed' : 'ready';
    return { id: this.id, state, since: this.#since, losses: 0, identity: IDENTITY, warnings: [] };
  }

  /** No events: its tools never change. */
  onEvent(_listener: (event: AdapterEvent) => void): () => void {
    return () => {};
  }

  async close(): Promise<void> {
    this.#closed.abort();
  }
}

const IDENTITY: UpstreamIdentity = { protocolVersion: 'none', transport: 'native' };

/** Text stays text, everything else is serialized to JSON, so nothing is shared with the function. */
function replyOf(value: unknown, { outputSchema }: NativeTool): UpstreamOutcome {
  if (value === undefined) return answered({ content: [], isError: false });
  // If the output is declared as a string, the text is the value itself: no contract parses JSON from it.
  if (typeof value === 'string' && outputSchema?.type !== 'string')
    return answered({ content: [{ type: 'text', text: value }], isError: false });
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch {
    json = undefined;
  }
  if (json === undefined) return failed('invalid_reply', 'the function returned a value that is not JSON', true);
  const structuredContent = JSON.parse(json) as JsonValue;
  return answered({ content: [{ type: 'text', text: json }], structuredContent, structuredJson: json, isError: false });
}

function answered(reply: ToolReply): UpstreamOutcome {
  return { status: 'answered', reply };
}

function failed(kind: UpstreamFailure['kind'], message: string, mayHaveRun: boolean): UpstreamOutcome {
  return { status: 'failed', failure: { kind, message, mayHaveRun } };
}
