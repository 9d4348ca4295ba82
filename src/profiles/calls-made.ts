import type { TraceEntry } from '../host/calls/tool-trace.js';
import { visibleLine } from '../lib/text/visible-text.js';

const MAX_NAMED_TOOLS = 8;

/** `142 calls succeeded: word/get_text 140 (812 ms), word/save 2 (20 ms)`. */
export function callsMade(succeeded: readonly TraceEntry[]): string {
  const tools = new Map<string, { calls: number; ms: number }>();
  for (const { serverId, toolName, durationMs } of succeeded) {
    const name = visibleLine(`${serverId}/${toolName}`);
    const { calls, ms } = tools.get(name) ?? { calls: 0, ms: 0 };
    tools.set(name, { calls: calls + 1, ms: ms + durationMs });
  }
  const named = [...tools].slice(0, MAX_NAMED_TOOLS).map(([name, { calls, ms }]) => `${name} ${calls} (${ms} ms)`);
  const more = tools.size > MAX_NAMED_TOOLS ? [`and ${tools.size - MAX_NAMED_TOOLS} more`] : [];
  const count = succeeded.length === 1 ? '1 call succeeded' : `${succeeded.length} calls succeeded`;
  return `${count}: ${[...named, ...more].join(', ')}`;
}
