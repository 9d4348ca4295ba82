import type { RedactionCounts, Redactor } from '../../broker/redaction/redactor.js';
import type { Failure, LogEntry, LostValues, Outcome, UnawaitedCalls } from '../../domain/run.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import type { RunReport } from '../../sandbox/run-report.js';
import { programTitle } from './program-title.js';

/**
 * Redacts the report of a run. Everything the program received was redacted already, but it may have assembled a secret
 * from pieces.
 */
export async function redactReport(redactor: Redactor, report: RunReport, counts: RedactionCounts): Promise<RunReport> {
  const { outcome, logs, logsCut, journal, durationMs, usage } = report;
  return {
    logs: logs.map((entry) => ({ ...entry, message: redactor.text(entry.message, counts) })),
    outcome: await redactRunOutcome(redactor, outcome, counts),
    logsCut,
    journal,
    durationMs,
    usage,
  };
}

/** Redacts the outcome of a run. */
export async function redactRunOutcome(redactor: Redactor, given: Outcome, counts: RedactionCounts): Promise<Outcome> {
  const outcome =
    given.unawaited === undefined ? given : { ...given, unawaited: redactNames(redactor, given.unawaited) };
  if (outcome.status === 'failed') {
    const { failure, soFarJson } = outcome;
    const soFar = soFarJson === undefined ? {} : { soFarJson: await redactor.jsonInSlices(soFarJson, counts) };
    return { ...outcome, failure: redactFailure(redactor, failure, counts), ...soFar };
  }
  const { resultJson, lost, stillOpen } = outcome;
  return {
    ...outcome,
    resultJson: await redactor.jsonInSlices(resultJson, counts),
    ...omitUndefined({
      lost: ifDefined(lost, (lost) => redactPlaces(redactor, lost)),
      stillOpen: ifDefined(stillOpen, (stillOpen) => redactNames(redactor, stillOpen)),
    }),
  };
}

/** Names come from the server, or from the program. */
function redactNames(redactor: Redactor, { count, calls }: UnawaitedCalls): UnawaitedCalls {
  return { count, calls: calls.map((call) => ({ ...call, name: redactor.text(call.name) })) };
}

/** Object keys are chosen by the program and may be data. */
function redactPlaces(redactor: Redactor, { count, places, promises }: LostValues): LostValues {
  const clean = (list: readonly string[]) => list.map((place) => redactor.text(place));
  return {
    count,
    places: clean(places),
    ...omitUndefined({
      promises: ifDefined(promises, (promises) => ({ count: promises.count, places: clean(promises.places) })),
    }),
  };
}

function redactFailure(redactor: Redactor, failure: Failure, counts: RedactionCounts): Failure {
  const { name, message, hint, stack } = failure;
  return {
    ...failure,
    name: redactor.text(name),
    message: redactor.text(message, counts),
    ...omitUndefined({
      hint: ifDefined(hint, (hint) => redactor.text(hint)),
      stack: ifDefined(stack, (stack) => redactor.text(stack)),
    }),
  };
}

/** The same for log lines that are shown while the program runs. */
export function redactLog(redactor: Redactor | undefined, onLog: (entry: LogEntry) => void): (entry: LogEntry) => void {
  return redactor === undefined ? onLog : (entry) => onLog({ ...entry, message: redactor.text(entry.message) });
}

/** The redacted title of a program: a secret may have been pasted into the source. */
export function redactTitle(redactor: Redactor | undefined, source: string): string {
  const title = programTitle(source);
  return redactor === undefined ? title : redactor.text(title);
}
