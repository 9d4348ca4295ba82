import type { RunSummary } from '../host/runs/run-types.js';
import { visibleLine } from '../lib/text/visible-text.js';

/** The names in the trace and in partial answers are paths. Notes have the name that the program writes for the server. */
export function withServerNames<Run extends Pick<RunSummary, 'trace' | 'partialAnswers' | 'serverNames'>>(
  run: Run,
): Run {
  const { trace, partialAnswers, serverNames = new Map<string, string>() } = run;
  const named = (path: string) => visibleLine(serverNames.get(path) ?? path);
  return {
    ...run,
    trace: trace.map((entry) => ({ ...entry, serverId: named(entry.serverId) })),
    partialAnswers: partialAnswers.map((answer) => ({ ...answer, tool: answer.tool.replace(/^[^/]+/, named) })),
  };
}
