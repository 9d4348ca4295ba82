import { checkFirst } from '../domain/run.js';
import { isUnfinished } from '../host/calls/unfinished-calls.js';
import type { RunSummary } from '../host/runs/run-types.js';
import { visibleLine } from '../lib/text/visible-text.js';
import type { ProgramWarning } from './warning.js';

const MAX_NAMED_TOOLS = 3;

/**
 * Calls and timers that were in flight when a program with a result ended: because it timed out, or because a call that lost a race
 * may have taken effect.
 */
export function unfinishedWarning({
  outcome,
  trace,
  unfinished = [],
  limits,
}: Pick<RunSummary, 'outcome' | 'trace' | 'unfinished' | 'limits'>): ProgramWarning | undefined {
  if (outcome.status === 'failed') return undefined;
  const { cutOff } = outcome;
  const check = checkFirst({ unfinished });
  if (cutOff === undefined && check === '') return undefined;
  const tools = [
    ...new Set(trace.filter(isUnfinished).map((each) => visibleLine(`${each.serverId}/${each.toolName}`))),
  ];
  const more = tools.length > MAX_NAMED_TOOLS ? ` and ${tools.length - MAX_NAMED_TOOLS} more` : '';
  const named = `${tools.slice(0, MAX_NAMED_TOOLS).join(', ')}${more}`;
  const open = [...(tools.length === 0 ? [] : [named]), ...(cutOff?.hasTimer === true ? ['a timer'] : [])].join(
    ' and ',
  );
  const when = cutOff === undefined ? 'the program ended' : `time ran out (${limits.timeoutMs} ms)`;
  return {
    code: 'CALLS_UNFINISHED',
    message: `${when} while ${open === '' ? 'something' : open} was pending; the result is what the program had by then`,
    hint: check === '' ? 'Await what the result needs; clear timers that nothing waits for (clearTimeout).' : check,
  };
}
