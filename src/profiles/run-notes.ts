import type { RunSummary } from '../host/runs/run-types.js';
import { callsFailed, callsFailedBefore } from './calls-failed.js';
import { callsMade } from './calls-made.js';
import { cutJson } from './cut-json.js';
import { partialResults } from './partial-results.js';
import { withServerNames } from './server-names.js';
import { shapeOf } from './shape-of.js';
import { warningLine } from './warning.js';

/** The fields that every run summary has, also for a program in its own process. */
type NotedRun = Pick<
  RunSummary,
  'outcome' | 'trace' | 'serverNames' | 'failures' | 'warnings' | 'partialAnswers' | 'redactions' | 'misnamed'
> & {
  readonly continued?: { readonly runId: string; readonly calls: number };
};

/**
 * What an agent should know about a program besides its answer, one note per line, for contracts whose answers have no field for
 * it. `redactionHint`: how to turn off the redaction of these kinds, if possible.
 */
export function runNotes(run: NotedRun, redactionHint: (kinds: readonly string[]) => string): string[] {
  const {
    outcome,
    trace,
    failures,
    warnings,
    misnamed = [],
    partialAnswers,
    redactions,
    continued,
  } = withServerNames(run);
  const succeeded = outcome.status === 'failed' ? trace.filter(({ ok }) => ok) : [];
  const partial = outcome.status === 'completed' ? partialResults(partialAnswers) : [];
  const removed = Object.entries(redactions).map(([kind, count]) => `${count} ${kind}`);
  const hint = redactionHint(Object.keys(redactions));
  const reused = continued?.calls ?? 0;
  const calls = { outcome, trace, failures };
  const failed = callsFailed(calls) ?? callsFailedBefore(calls);
  return [
    ...(reused === 0 ? [] : [continuedLine(reused, continued?.runId ?? '')]),
    // The next program need not repeat what this one did before it failed.
    ...(succeeded.length === 0 ? [] : [`Before the program failed, ${callsMade(succeeded)}.`]),
    ...(outcome.status === 'failed' && outcome.soFarJson !== undefined ? [soFarLine(outcome.soFarJson)] : []),
    ...partial.map(warningLine),
    // A failed call that the program ignores reads as an empty answer.
    ...(failed === undefined ? [] : [`warning: ${failed}`]),
    ...[...warnings, ...misnamed].map((warning) => `warning: ${warning}`),
    ...(removed.length === 0 ? [] : [`Redacted: ${removed.join(', ')}.${hint === '' ? '' : ` ${hint}`}`]),
  ];
}

const MAX_SO_FAR_CHARACTERS = 1_000;

/** These contracts have no handles: the result that a failed program had set is shown, as much as an answer takes. */
function soFarLine(json: string): string {
  if (json.length <= MAX_SO_FAR_CHARACTERS) return `When it failed, \`result\` was ${json}`;
  const shape = shapeOf(json);
  const size = `${json.length} characters${shape === undefined ? '' : `, ${shape}`}`;
  return `When it failed, \`result\` began with ${cutJson(json, MAX_SO_FAR_CHARACTERS)} (of ${size})`;
}

function continuedLine(calls: number, runId: string): string {
  const what = calls === 1 ? '1 call that it had made was' : `${calls} calls that it had made were`;
  return `Continued run ${runId}: ${what} answered as then, not made again.`;
}

/** Credentials that the host holds are redacted whatever the configuration says. */
export function patternsHint(kinds: readonly string[]): string {
  return kinds.every((kind) => kind === 'credential')
    ? ''
    : 'If this is ordinary data, the user can turn it off with redaction.patterns: false.';
}
