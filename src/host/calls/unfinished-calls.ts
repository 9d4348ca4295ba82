import { isRepeatable, type Tool } from '../../domain/tool.js';
import type { TraceEntry } from './tool-trace.js';

/** A call that is being made. */
export interface UnfinishedCall {
  /** From here on its server may have done what it asks for. */
  isSent: boolean;
}

interface Known extends UnfinishedCall {
  readonly serverId: string;
  readonly tool: Tool;
  readonly startedAtMs: number;
}

/**
 * The calls of one program that have no answer. Those that are left when the program ends are cancelled, but their servers may
 * have done the work: an agent that repeats a write without looking does it twice.
 */
export class UnfinishedCalls {
  readonly #open = new Set<Known>();
  readonly #cancelled = new Set<Known>();

  begin(serverId: string, tool: Tool): UnfinishedCall {
    const call: Known = { serverId, tool, startedAtMs: performance.now(), isSent: false };
    this.#open.add(call);
    return call;
  }

  end(call: UnfinishedCall, wasCancelled: boolean): void {
    this.#open.delete(call as Known);
    if (wasCancelled) this.#cancelled.add(call as Known);
  }

  /** Those that nothing has come of yet, as the trace of a program that has ended lists them. */
  trace(): TraceEntry[] {
    return [...this.#open].map((call) => ({
      serverId: call.serverId,
      toolName: call.tool.name,
      durationMs: Math.round(performance.now() - call.startedAtMs),
      ok: false,
      error: unfinishedSummary(call),
    }));
  }

  /** Those that may have taken effect, and would have it twice if they were repeated: `server/tool`, each once. */
  mayHaveRun(): string[] {
    const sent = [...this.#cancelled, ...this.#open].filter(({ isSent, tool }) => isSent && !isRepeatable(tool));
    return [...new Set(sent.map(({ serverId, tool }) => `${serverId}/${tool.name}`))];
  }
}

export function unfinishedSummary({ isSent }: UnfinishedCall): string {
  return `${UNFINISHED}; the call ${isSent ? 'may have taken effect' : 'was not sent'}`;
}

const UNFINISHED = 'ToolCallError: the program ended before the answer came';

/** Whether an entry of a trace is a call without an answer. */
export function isUnfinished({ error }: TraceEntry): boolean {
  return error?.startsWith(UNFINISHED) === true;
}
