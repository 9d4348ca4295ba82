import { isRepeatable, type Tool } from '../../domain/tool.js';
import type { TraceEntry } from './tool-trace.js';

/** A call in flight. */
export interface UnfinishedCall {
  /** From here on the server may have performed the call. */
  isSent: boolean;
}

interface Known extends UnfinishedCall {
  readonly serverId: string;
  /** The program's name for it. */
  readonly serverName: string;
  readonly tool: Tool;
  readonly startedAtMs: number;
}

/**
 * The calls of one program that have no answer. Calls that are open when the program ends are cancelled, but their servers may have
 * performed them: an agent that repeats a write without checking does it twice.
 */
export class UnfinishedCalls {
  readonly #open = new Set<Known>();
  readonly #cancelled = new Set<Known>();

  begin(serverId: string, tool: Tool, serverName = serverId): UnfinishedCall {
    const call: Known = { serverId, serverName, tool, startedAtMs: performance.now(), isSent: false };
    this.#open.add(call);
    return call;
  }

  end(call: UnfinishedCall, wasCancelled: boolean): void {
    this.#open.delete(call as Known);
    if (wasCancelled) this.#cancelled.add(call as Known);
  }

  /** The open calls, as the trace of an ended program lists them. */
  trace(): TraceEntry[] {
    return [...this.#open].map((call) => ({
      serverId: call.serverId,
      toolName: call.tool.name,
      durationMs: Math.round(performance.now() - call.startedAtMs),
      ok: false,
      error: unfinishedSummary(call),
    }));
  }

  /** Calls that may have taken effect and must not be repeated blindly: `server/tool`, each once. */
  mayHaveRun(): string[] {
    const sent = [...this.#cancelled, ...this.#open].filter(({ isSent, tool }) => isSent && !isRepeatable(tool));
    return [...new Set(sent.map(({ serverName, tool }) => `${serverName}/${tool.name}`))];
  }
}

export function unfinishedSummary({ isSent }: UnfinishedCall): string {
  return `${UNFINISHED}; the call ${isSent ? 'may have taken effect' : 'was not sent'}`;
}

const UNFINISHED = 'ToolCallError: the program ended before the answer came';

/** Whether a trace entry is a call without an answer. */
export function isUnfinished({ error }: TraceEntry): boolean {
  return error?.startsWith(UNFINISHED) === true;
}
