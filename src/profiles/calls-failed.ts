import { isUnfinished } from '../host/calls/unfinished-calls.js';
import type { RunSummary } from '../host/runs/run-types.js';
import { safeSlice } from '../lib/safe-slice.js';
import { visibleLine } from '../lib/visible-text.js';

const MAX_NAMED_TOOLS = 3;
const MAX_MESSAGE_CHARACTERS = 120;

/** `30 of 900 calls failed and were caught: crm/get_customer (30); first: no such customer`. Nothing where all succeeded. */
export function callsFailed({
  outcome,
  trace,
  failures,
}: Pick<RunSummary, 'outcome' | 'trace' | 'failures'>): string | undefined {
  const failed = outcome.status === 'completed' ? trace.filter((each) => !each.ok && !isUnfinished(each)) : [];
  const [first] = failed;
  if (first === undefined) return undefined;
  const tools = new Map<string, number>();
  for (const { serverId, toolName } of failed) {
    const name = visibleLine(`${serverId}/${toolName}`);
    tools.set(name, (tools.get(name) ?? 0) + 1);
  }
  const named = [...tools].slice(0, MAX_NAMED_TOOLS).map(([name, times]) => `${name} (${times})`);
  const more = tools.size > MAX_NAMED_TOOLS ? [`and ${tools.size - MAX_NAMED_TOOLS} more`] : [];
  const [words = first.error ?? ''] = failures.keys();
  const message = visibleLine(words);
  const shown = safeSlice(message, MAX_MESSAGE_CHARACTERS);
  const said = shown === message ? message : `${shown}…`;
  const caught = failed.length === 1 ? 'failed and was caught' : 'failed and were caught';
  return `${failed.length} of ${trace.length} calls ${caught}: ${[...named, ...more].join(', ')}; first: ${said}`;
}
