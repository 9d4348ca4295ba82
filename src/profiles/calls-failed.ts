import { isWaiting } from '../host/calls/tool-trace.js';
import { isUnfinished } from '../host/calls/unfinished-calls.js';
import type { RunSummary } from '../host/runs/run-types.js';
import { safeSlice } from '../lib/text/safe-slice.js';
import { visibleLine } from '../lib/text/visible-text.js';

const MAX_NAMED_TOOLS = 3;
const MAX_MESSAGE_CHARACTERS = 120;

type CalledRun = Pick<RunSummary, 'outcome' | 'trace' | 'failures'>;

/**
 * `30 of 900 calls failed, and the program continued: crm/get_customer (30); first: no such customer`. Undefined if all calls
 * succeeded, or if the program failed too.
 */
export function callsFailed(run: CalledRun): string | undefined {
  return run.outcome.status === 'completed' ? said(run, ', and the program continued') : undefined;
}

/**
 * The same for a program that failed with another error: in some contracts a failed call is a value, and the program fails on a
 * missing field.
 */
export function callsFailedBefore(run: CalledRun): string | undefined {
  const { outcome, failures } = run;
  if (outcome.status === 'completed') return undefined;
  const { kind, message } = outcome.failure;
  const isOwn = kind === 'exception' || kind === 'not_serializable';
  return isOwn && ![...failures.keys()].some((words) => message.includes(words)) ? said(run, '') : undefined;
}

function said({ trace, failures }: CalledRun, continued: string): string | undefined {
  const failed = trace.filter((each) => !each.ok && !isUnfinished(each) && !isWaiting(each));
  const [first] = failed;
  if (first === undefined) return undefined;
  const tools = new Map<string, number>();
  for (const { serverId, toolName } of failed) {
    const name = visibleLine(`${serverId}/${toolName}`);
    tools.set(name, (tools.get(name) ?? 0) + 1);
  }
  const named = [...tools].slice(0, MAX_NAMED_TOOLS).map(([name, times]) => `${name} (${times})`);
  const more = tools.size > MAX_NAMED_TOOLS ? [`and ${tools.size - MAX_NAMED_TOOLS} more`] : [];
  const known = [...failures].filter(([, { verdict }]) => verdict !== 'pending');
  const message = visibleLine(known[0]?.[0] ?? first.error ?? '');
  const shown = safeSlice(message, MAX_MESSAGE_CHARACTERS);
  const why = shown === message ? message : `${shown}…`;
  return `${failed.length} of ${trace.length} calls failed${continued}: ${[...named, ...more].join(', ')}; first: ${why}`;
}
