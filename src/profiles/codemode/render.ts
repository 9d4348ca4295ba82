import { ERRORS, type HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { MAX_LOG_ENTRIES } from '../../domain/limits.js';
import { checkFirst, type Failure, type LogEntry, type Outcome } from '../../domain/run.js';
import type { TraceEntry } from '../../host/calls/tool-trace.js';
import type { RunSummary, SuspendedSummary, UnavailableServer } from '../../host/runs/run-types.js';
import { DOWN_HINT, STARTING_HINT } from '../../host/tools/discovery.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import { SHOWN_CHARACTERS } from '../answer-budget.js';
import { callsFailed } from '../calls-failed.js';
import { cutJson } from '../cut-json.js';
import { LOG_LIMIT_REACHED } from '../logs-within.js';
import { lostInResult } from '../lost-values.js';
import { missingAwait } from '../missing-await.js';
import { partialResults } from '../partial-results.js';
import { shapeOf } from '../shape-of.js';
import { unfinishedWarning } from '../unfinished-warning.js';
import { waitingCalls } from '../waiting-calls.js';
import type { ProgramWarning } from '../warning.js';
import type { Diagnostic } from './diagnostic.js';

export type { Diagnostic };

/** The response of every run, always in this shape. */
export interface RunResponse {
  readonly logs: readonly LogEntry[];
  readonly result: JsonValue;
  readonly diagnostics: readonly Diagnostic[];
  readonly toolTrace: readonly TraceEntry[];
  /** Present only if the run continues, or something of it is kept. */
  readonly runId?: string;
}

export const CODES: Readonly<Record<Failure['kind'], string>> = {
  syntax: 'SYNTAX_ERROR',
  type: 'TYPE_ERROR',
  import: 'IMPORT_FAILURE',
  exception: 'UNCAUGHT_EXCEPTION',
  limit: 'SANDBOX_LIMIT',
  never_settled: 'NEVER_SETTLED',
  not_serializable: 'RESULT_NOT_SERIALIZABLE',
  cancelled: 'CANCELLED',
  forbidden: 'FORBIDDEN',
  worker_lost: 'SANDBOX_LIMIT',
};

export function renderResponse(summary: RunSummary): RunResponse {
  const { outcome, logs, logsCut, trace, limits, keptResult } = summary;
  const isKept = keptResult !== undefined;
  return {
    logs: logsCut ? [...logs, truncation(logs, limits.maxLogBytes)] : logs,
    result: outcome.status === 'completed' ? resultOf(outcome.resultJson, isKept) : null,
    diagnostics: outcome.status === 'failed' ? diagnosticsOf(outcome.failure, summary) : notices(summary),
    toolTrace: trace.map(visibleEntry),
    ...(isKept ? { runId: summary.runId } : {}),
  };
}

/** The name comes from the server. */
function visibleEntry(entry: TraceEntry): TraceEntry {
  return { ...entry, toolName: visibleLine(entry.toolName) };
}

function resultOf(resultJson: string, isKept: boolean): JsonValue {
  return JSON.parse(isKept ? cutJson(resultJson, SHOWN_CHARACTERS) : resultJson) as JsonValue;
}

/** The response to a client that is about to time out. */
export function renderStillRunning(runId: string): RunResponse {
  return {
    logs: [],
    result: null,
    diagnostics: [
      {
        severity: 'info',
        code: 'STILL_RUNNING',
        message: `the program is still running as ${runId}`,
        hint: `Run: import { wait } from '@codemode/results'; globalThis.__codemode_result__ = await wait(${JSON.stringify(runId)});`,
      },
    ],
    toolTrace: [],
    runId,
  };
}

/** The response of a run that is suspended until a person decides. */
export function renderSuspended(summary: SuspendedSummary): RunResponse {
  const { runId } = summary;
  const id = JSON.stringify(runId);
  return suspendedWith(summary, {
    outlook: `After the decision the run continues by itself: do not run the program again; wait(${id}) of @codemode/results gives its answer`,
    hint: `Ask the user to type: ${approveCommand(summary)}`,
  });
}

/** The same if the process ends with this response: only a command or a serving host resumes the run. */
export function renderLeftSuspended(summary: SuspendedSummary): RunResponse {
  const { runId } = summary;
  return suspendedWith(summary, {
    outlook:
      'This process has ended: after the decision the run is resumed by a command, or by a host that serves. Do not run the program again',
    hint: `Type: ${approveCommand(summary)}; then: codemode runs resume ${runId}`,
  });
}

function approveCommand({ approvals: [first, ...others] }: SuspendedSummary): string {
  return `codemode approvals approve ${first?.id ?? 'ID'}${others.length > 0 ? ' --scope calls' : ''}`;
}

function suspendedWith(
  { runId, approvals, logs, trace }: SuspendedSummary,
  { outlook, hint }: { readonly outlook: string; readonly hint: string },
): RunResponse {
  return {
    logs,
    result: null,
    diagnostics: [
      {
        severity: 'info',
        code: 'APPROVAL_PENDING',
        message: `run ${runId} is suspended until a person has decided about ${waitingCalls(approvals)}. ${outlook}`,
        hint,
      },
    ],
    toolTrace: trace.map(visibleEntry),
    runId,
  };
}

/** The response to a malformed request, in the same shape. */
export function renderBadRequest(message: string): RunResponse {
  return {
    logs: [],
    result: null,
    diagnostics: [{ severity: 'error', code: 'INVALID_REQUEST', message }],
    toolTrace: [],
  };
}

/** The response to a host failure, in the same shape. */
export function renderHostError({ code, message }: HostError): RunResponse {
  const hint = ERRORS[code].retry ? 'Send the same request again.' : 'Tell the user; trying again will not help.';
  return {
    logs: [],
    result: null,
    diagnostics: [{ severity: 'error', code: code.toUpperCase(), message, hint }],
    toolTrace: [],
  };
}

export function diagnose(failure: Failure): Diagnostic {
  const { kind, name, message, position, limit } = failure;
  // One action: raising a limit before the check would repeat a call that may have taken effect.
  const hint = checkFirst(failure) || (failure.hint ?? '');
  // A thrown value that is not an error has the name of its type, which its message already contains.
  const isNamed = kind === 'exception' && name !== 'Error' && !message.startsWith(name) && !/^\p{Ll}/u.test(name);
  const errorClass = failure.errorClass ?? (limit === undefined ? undefined : 'SandboxLimitError');
  return {
    severity: 'error',
    // An uncaught call limit has ended the run like the other limits do.
    code: errorClass === 'SandboxLimitError' ? CODES.limit : CODES[kind],
    message: isNamed ? `${name}: ${message}` : message,
    ...(hint === '' ? {} : { hint }),
    ...omitUndefined({
      path: ifDefined(position, (position) => `main.ts:${position.line}:${position.column}`),
      errorClass,
    }),
  };
}

/**
 * The failure names a server that could not be imported, with everything known about the reason. It is repeated only if the request
 * named it.
 */
function diagnosticsOf(failure: Failure, summary: RunSummary): Diagnostic[] {
  const diagnosis = diagnose(failure);
  const isImported = ({ name }: UnavailableServer) =>
    failure.module === `@codemode/servers/${name.replace(/^mcp:/, '')}`;
  const missing = summary.unavailable.find(isImported);
  if (missing === undefined) return [diagnosis, ...notices(summary)];
  const { message, hint, errorClass } = unavailability(missing);
  const others = summary.unavailable.filter((each) => each.isRequested === true || !isImported(each));
  return [{ ...diagnosis, message, hint, errorClass }, ...notices({ ...summary, unavailable: others })];
}

function unavailability({ name, reason, hint, isStarting }: UnavailableServer) {
  const common = { severity: 'warning', errorClass: 'ServerNotFoundError' } as const;
  return isStarting === true
    ? { ...common, code: 'SERVER_STARTING', message: `${name}: ${reason}`, hint: STARTING_HINT }
    : {
        ...common,
        code: 'CAPABILITY_UNAVAILABLE',
        message: `${name} is not available: ${reason}`,
        hint: hint ?? DOWN_HINT,
      };
}

function notices(summary: RunSummary): Diagnostic[] {
  const {
    outcome,
    warnings,
    partialAnswers,
    redactions,
    unavailable,
    notice,
    isolation,
    keptResult,
    keptSoFar,
    declarations,
  } = summary;
  const found: Diagnostic[] = unavailable.map(unavailability);
  if (notice !== undefined) found.push({ severity: 'warning', code: 'NO_SERVERS', message: notice });
  for (const message of warnings)
    found.push({
      severity: 'warning',
      code: 'OUTPUT_SCHEMA_MISMATCH',
      message,
      hint: 'Check the value before you rely on its shape.',
    });
  for (const message of summary.misnamed ?? []) found.push({ severity: 'warning', code: 'UNKNOWN_ARGUMENT', message });
  // A program that returns the whole answer of the run shows the error itself.
  if (outcome.status === 'completed' && !outcome.resultJson.includes('"diagnostics"'))
    for (const message of summary.failedRuns ?? [])
      found.push({ severity: 'warning', code: 'WAITED_RUN_FAILED', message });
  if (summary.isSilent === true) found.push(NO_RESULT);
  if (outcome.status === 'completed') found.push(...partialResults(partialAnswers).map(warned));
  const caught = callsFailed(summary);
  if (caught !== undefined) found.push({ severity: 'warning', code: 'CALLS_FAILED', message: caught });
  const removed = Object.entries(redactions).map(([kind, count]) => `${count} ${kind}`);
  if (removed.length > 0) {
    found.push({
      severity: 'info',
      code: 'REDACTED',
      message: `Redacted: ${removed.join(', ')}`,
      hint: redactionHint(Object.keys(redactions)),
    });
  }
  if (keptResult !== undefined) {
    const shape = outcome.status === 'completed' ? shapeOf(outcome.resultJson) : undefined;
    found.push({
      severity: 'warning',
      code: 'RESULT_TOO_LARGE',
      message: `the result has ${keptResult.bytes} bytes${shape === undefined ? '' : ` (${shape})`}, and an answer takes ${keptResult.mostBytes}: \`result\` is only its beginning`,
      hint: `Take what you need of it in another program: import { load } from '@codemode/results'; const value = await load(${JSON.stringify(keptResult.handle)}); a part: load(handle, { path, from, to }).`,
    });
  }
  const lost = lostInResult(outcome);
  if (lost !== undefined) {
    const { isUsual, code, message, hint } = lost;
    found.push({ severity: isUsual ? 'info' : 'warning', code, message, hint });
  }
  const unfinished = unfinishedWarning(summary);
  if (unfinished !== undefined) found.push(warned(unfinished));
  const unawaited = missingAwait(outcome);
  if (unawaited !== undefined) found.push(warned(unawaited));
  if (keptSoFar !== undefined) found.push(soFar(keptSoFar, outcome));
  for (const { path, text, isNew } of declarations)
    found.push({
      severity: 'info',
      code: 'SERVER_TYPES',
      message: isNew === true ? `// This server is connected now.\n${text}` : text,
      path: `@codemode/servers/${path}`,
    });
  for (const { message, hint, position } of (summary.typeWarnings ?? []).slice(0, MAX_TYPE_WARNINGS))
    found.push({
      severity: 'warning',
      code: 'TYPE_WARNING',
      message,
      ...omitUndefined({ hint }),
      path: `main.ts:${position.line}:${position.column}`,
    });
  if (summary.typesUnchecked !== undefined)
    found.push({
      severity: 'info',
      code: 'TYPES_NOT_CHECKED',
      message: `the types of this program were not checked: ${summary.typesUnchecked}`,
    });
  if (isolation === 'none') found.push(NOT_ISOLATED);
  return found;
}

function warned({ code, message, hint, position }: ProgramWarning): Diagnostic {
  const path = omitUndefined({
    path: ifDefined(position, (position) => `main.ts:${position.line}:${position.column}`),
  });
  return { severity: 'warning', code, message, hint, ...path };
}

/** A shorter value is shown itself: it takes no more room than the line that would load it. */
const SHOWN_SO_FAR_CHARACTERS = 160;

/** A program that fails late does not lose its earlier result. */
function soFar({ handle, bytes }: NonNullable<RunSummary['keptSoFar']>, outcome: Outcome): Diagnostic {
  const json = outcome.status === 'failed' ? outcome.soFarJson : undefined;
  if (json !== undefined && json.length <= SHOWN_SO_FAR_CHARACTERS)
    return { severity: 'info', code: 'RESULT_SO_FAR', message: `__codemode_result__ held: ${json}` };
  const shape = json === undefined ? undefined : shapeOf(json);
  return {
    severity: 'info',
    code: 'RESULT_SO_FAR',
    message: `what __codemode_result__ held is kept: ${shape ?? 'a value'}, ${bytes} bytes`,
    hint: `Continue from it: import { load } from '@codemode/results'; const soFar = await load(${JSON.stringify(handle)});`,
  };
}

/** Credentials that the host holds are redacted whatever the configuration says. */
function redactionHint(kinds: readonly string[]): string {
  if (kinds.every((kind) => kind === 'credential'))
    return 'These are credentials of the configuration; servers have them already, and programs do not need them.';
  return 'If this is ordinary data, the user can turn it off with redaction.patterns: false.';
}

/** The most type warnings shown for a failed program. */
const MAX_TYPE_WARNINGS = 3;

const NO_RESULT: Diagnostic = {
  severity: 'info',
  code: 'NO_RESULT',
  message: 'the program assigned no result and logged nothing',
  hint: 'Write: globalThis.__codemode_result__ = value;',
};

const NOT_ISOLATED: Diagnostic = {
  severity: 'warning',
  code: 'NOT_ISOLATED',
  message: 'this program ran without an OS jail, as configured (sandbox.isolation: none)',
  hint: 'Run `codemode doctor` to see which isolation this machine can give.',
};

function truncation(logs: readonly LogEntry[], maxLogBytes: number): LogEntry {
  const limit =
    logs.length < MAX_LOG_ENTRIES ? `${maxLogBytes} bytes (limits.maxLogBytes)` : `${MAX_LOG_ENTRIES} entries`;
  return {
    level: 'warn',
    message: `${LOG_LIMIT_REACHED}${limit} was reached, and later lines are lost`,
    timeMs: logs.at(-1)?.timeMs ?? 0,
  };
}
