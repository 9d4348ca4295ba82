import type { RedactionCounts, Redactor } from '../broker/redaction/redactor.js';
import type { Failure, LogEntry, LostValues, Outcome, UnawaitedCalls } from '../domain/execution.js';
import type { ExecutionReport } from '../sandbox/execution-report.js';
import { programTitle } from './program-title.js';

/**
 * What a program gives back, clean. It has got nothing that was not clean; but it may have put together what came in
 * pieces.
 */
export async function cleanReport(
  redactor: Redactor,
  report: ExecutionReport,
  counts: RedactionCounts,
): Promise<ExecutionReport> {
  const { outcome, logs, logsCut, journal, durationMs, usage } = report;
  return {
    logs: logs.map((entry) => ({ ...entry, message: redactor.text(entry.message, counts) })),
    outcome: await cleanOutcome(redactor, outcome, counts),
    logsCut,
    journal,
    durationMs,
    usage,
  };
}

/** What came of it, clean. */
export async function cleanOutcome(redactor: Redactor, given: Outcome, counts: RedactionCounts): Promise<Outcome> {
  const outcome =
    given.unawaited === undefined ? given : { ...given, unawaited: cleanNames(redactor, given.unawaited) };
  if (outcome.status === 'failed') {
    const { failure, soFarJson } = outcome;
    const soFar = soFarJson === undefined ? {} : { soFarJson: await redactor.jsonInSlices(soFarJson, counts) };
    return { ...outcome, failure: cleanFailure(redactor, failure, counts), ...soFar };
  }
  const { resultJson, lost } = outcome;
  return {
    ...outcome,
    resultJson: await redactor.jsonInSlices(resultJson, counts),
    ...(lost === undefined ? {} : { lost: cleanPlaces(redactor, lost) }),
  };
}

/** Names are the server's, or what a program wrote in their place. */
function cleanNames(redactor: Redactor, { count, calls }: UnawaitedCalls): UnawaitedCalls {
  return { count, calls: calls.map((call) => ({ ...call, name: redactor.text(call.name) })) };
}

/** Keys of objects are the program's own words, and may be data. */
function cleanPlaces(redactor: Redactor, { count, places, promises }: LostValues): LostValues {
  const clean = (list: readonly string[]) => list.map((place) => redactor.text(place));
  return {
    count,
    places: clean(places),
    ...(promises === undefined ? {} : { promises: { count: promises.count, places: clean(promises.places) } }),
  };
}

function cleanFailure(redactor: Redactor, failure: Failure, counts: RedactionCounts): Failure {
  const { name, message, hint, stack } = failure;
  return {
    ...failure,
    name: redactor.text(name),
    message: redactor.text(message, counts),
    ...(hint === undefined ? {} : { hint: redactor.text(hint) }),
    ...(stack === undefined ? {} : { stack: redactor.text(stack) }),
  };
}

/** The same for lines that are shown while the program runs. */
export function cleanLog(redactor: Redactor | undefined, onLog: (entry: LogEntry) => void): (entry: LogEntry) => void {
  return redactor === undefined ? onLog : (entry) => onLog({ ...entry, message: redactor.text(entry.message) });
}

/** The line by which a person knows a program again, clean: a program may hold a secret that somebody pasted into it. */
export function cleanTitle(redactor: Redactor | undefined, source: string): string {
  const title = programTitle(source);
  return redactor === undefined ? title : redactor.text(title);
}
