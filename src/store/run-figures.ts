import type { StoredRun } from './runs.js';

/** The figures of a run, in the columns of its row. */
interface FigureColumns {
  readonly calls: number | null;
  readonly tool_bytes: number | null;
  /** The size without the seal. */
  readonly response_bytes: number | null;
}

export function figuresIn({ calls, tool_bytes, response_bytes }: FigureColumns): StoredRun['figures'] {
  if (calls === null || tool_bytes === null) return undefined;
  return { calls, toolBytes: tool_bytes, responseBytes: response_bytes ?? 0 };
}
