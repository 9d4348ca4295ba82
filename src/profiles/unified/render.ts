import type { CallVerdict } from '../../domain/audit.js';
import { ERRORS, type HostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { checkFirst, type Failure, type LogEntry, type ResourceUsage } from '../../domain/run.js';
import type { CallFailure } from '../../host/calls/call-failure.js';
import type { RunSummary, SuspendedSummary } from '../../host/runs/run-types.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { visibleLine, visibleSentence, visibleText } from '../../lib/text/visible-text.js';
import { callsFailed } from '../calls-failed.js';
import { callsMade } from '../calls-made.js';
import { lostInResult } from '../lost-values.js';
import { missingAwait } from '../missing-await.js';
import { partialResults } from '../partial-results.js';
import { patternsHint } from '../run-notes.js';
import { withServerNames } from '../server-names.js';
import { unfinishedWarning } from '../unfinished-warning.js';
import { waitingCalls } from '../waiting-calls.js';
import { warningLine } from '../warning.js';
import { toContractHint } from './contract-hint.js';
import { type CodeModeError, codeOf, type ErrorType } from './errors.js';

/** The response of every execution. */
export interface ExecuteResponse {
  readonly success: boolean;
  readonly result?: JsonValue;
  readonly error?: CodeModeError;
  readonly metrics: ExecutionMetrics;
  readonly logs: readonly string[];
  readonly requestId: string;
}

export interface ExecutionMetrics {
  /** Milliseconds, including waits. */
  readonly executionTime: number;
  /** Bytes. */
  readonly memoryUsed: number;
  /** CPU milliseconds. */
  readonly cpuTime: number;
  readonly apiCalls: number;
}

const MAX_TYPE_WARNINGS = 3;

export function renderResponse(ended: RunSummary, requestId: string): ExecuteResponse {
  const summary = withServerNames(ended);
  const { outcome, keptResult, logs, logsCut, limits, isolation, warnings, unavailable, notice, redactions } = summary;
  const unawaited = missingAwait(outcome);
  const unfinished = unfinishedWarning(summary);
  const lost = lostInResult(outcome);
  const caught = callsFailed(summary);
  const succeeded = outcome.status === 'failed' ? summary.trace.filter(({ ok }) => ok) : [];
  const lines = [
    ...logs.map(({ message }) => visibleText(message)),
    ...(logsCut
      ? [`logs were truncated: the limit of ${limits.maxLogBytes} bytes was reached, and later lines are lost`]
      : []),
    ...[...warnings, ...(summary.misnamed ?? [])].map((warning) => `warning: ${warning}`),
    ...(summary.isSilent === true ? ['info: the code returned nothing and logged nothing. Write: return value;'] : []),
    ...(outcome.status === 'completed' ? partialResults(summary.partialAnswers).map(warningLine) : []),
    ...(caught === undefined ? [] : [`warning: ${caught}`]),
    ...(unfinished === undefined ? [] : [warningLine(unfinished)]),
    ...(unawaited === undefined ? [] : [inNamespaceWords(warningLine(unawaited))]),
    ...(lost === undefined || lost.isUsual ? [] : [warningLine(lost)]),
    ...(succeeded.length === 0 ? [] : [`info: before the program failed, ${callsMade(succeeded)}`]),
    ...(summary.typeWarnings ?? [])
      .slice(0, MAX_TYPE_WARNINGS)
      .map(({ message, position }) => `warning: line ${position.line}: ${message}`),
    ...(summary.typesUnchecked === undefined ? [] : [`warning: types were not checked: ${summary.typesUnchecked}`]),
    ...redactionLines(redactions),
    ...unavailable.map(({ name, reason }) => `warning: ${name}: ${reason}`),
    ...(notice === undefined ? [] : [`warning: ${notice}`]),
    ...(isolation === 'none' ? ['warning: this ran without an OS jail, as configured (sandbox.isolation: none)'] : []),
  ];
  const common = { metrics: metricsOf(summary), logs: lines, requestId };
  if (outcome.status === 'failed')
    return { success: false, error: errorOf(outcome.failure, summary, requestId), ...common };
  if (keptResult !== undefined) return { success: false, error: tooLarge(keptResult.bytes, requestId), ...common };
  return { success: true, result: JSON.parse(outcome.resultJson) as JsonValue, ...common };
}

/** Code of this contract writes more than the tool's name. */
function inNamespaceWords(line: string): string {
  return line.replace(/Write: await [\w$]+\(\.\.\.\)/, 'Write `await` in front of the call');
}

function redactionLines(redactions: RunSummary['redactions']): string[] {
  const removed = Object.entries(redactions).map(([kind, count]) => `${count} ${kind}`);
  return removed.length === 0
    ? []
    : [`info: redacted: ${removed.join(', ')}. ${patternsHint(Object.keys(redactions))}`.trimEnd()];
}

/** The response of a run that is suspended until a person decides. Its result is available later, by its id. */
export function renderSuspended(summary: SuspendedSummary, requestId: string): ExecuteResponse {
  const { runId, approvals, logs } = summary;
  const waiting = approvals.map(({ id, tool, reason, expiresAtMs }) => ({
    id,
    tool: visibleLine(`${tool.serverId}/${tool.toolName}`),
    reason: visibleSentence(reason),
    expiresAt: new Date(expiresAtMs).toISOString(),
  }));
  const [first, ...others] = approvals;
  const approve = `codemode approvals approve ${first?.id ?? 'ID'}${others.length > 0 ? ' --scope calls' : ''}`;
  const how = `Ask the user to type: ${approve}; then: codemode runs wait ${runId}, which prints the result (over REST: GET /api/v1/runs/${runId})`;
  const message = `run ${runId} is suspended until a person has decided about ${waitingCalls(approvals)}. After the decision the run continues by itself: do not send the code again. ${how}`;
  return {
    success: false,
    error: errorWith('security', 'APPROVAL_PENDING', message, requestId, { runId, approvals: waiting }),
    metrics: metricsOf(summary),
    logs: logs.map((entry: LogEntry) => visibleText(entry.message)),
    requestId,
  };
}

/** The client got a response, and the run continues. */
export function renderStillRunning(runId: string, requestId: string): ExecuteResponse {
  const error = errorWith('runtime', 'STILL_RUNNING', `the code is still running as ${runId}`, requestId, { runId });
  return { success: false, error, metrics: NO_METRICS, logs: [], requestId };
}

/** Nothing has run: the request was refused, or the host failed. */
export function renderRefusal(error: HostError, requestId: string): ExecuteResponse {
  return { success: false, error: hostErrorOf(error, requestId), metrics: NO_METRICS, logs: [], requestId };
}

export function hostErrorOf(error: HostError, requestId: string): CodeModeError {
  const { type, code } = codeOf(error.code);
  const { violation } = error as { violation?: string };
  const details: JsonObject = {
    ...omitUndefined({ violation }),
    ...(ERRORS[error.code].retry ? { retryable: true } : {}),
  };
  return errorWith(type, code, error.message, requestId, details);
}

function metricsOf({ durationMs, usage, callCount }: Pick<RunSummary, 'durationMs' | 'usage' | 'callCount'>) {
  return {
    executionTime: hundredths(durationMs),
    memoryUsed: usage.memoryBytes,
    cpuTime: hundredths(usage.cpuMs),
    apiCalls: callCount,
  };
}

const NOTHING: ResourceUsage = { cpuMs: 0, memoryBytes: 0 };
const NO_METRICS: ExecutionMetrics = metricsOf({ durationMs: 0, usage: NOTHING, callCount: 0 });

function hundredths(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

function errorOf(failure: Failure, { limits, failures }: RunSummary, requestId: string): CodeModeError {
  const { kind, name, message, position, limit, errorClass, stack } = failure;
  const check = checkFirst(failure);
  const hint = [check, inRequestWords(failure.hint ?? '')].filter((part) => part !== '').join(' ');
  const said = {
    ...(hint === '' ? {} : { hint }),
    ...omitUndefined({ position: ifDefined(position, (position) => ({ ...position })) }),
  };
  const make = (type: ErrorType, code: string, text: string, details: JsonObject): CodeModeError => ({
    ...errorWith(type, code, text, requestId, { ...details, ...said }),
    ...omitUndefined({ stack: ifDefined(stack, visibleText) }),
  });
  if (limit === 'timeout') {
    const timeout = limits.timeoutMs;
    return errorWith('timeout', 'EXECUTION_TIMEOUT', `Code execution timed out after ${timeout}ms`, requestId, {
      timeout,
      ...(check === '' ? {} : { hint: check }),
    });
  }
  if (limit !== undefined) {
    const type = limit === 'memory' || limit === 'stack' ? 'memory' : 'runtime';
    return make(type, `${limit.toUpperCase()}_LIMIT`, message, {});
  }
  const failed = errorClass === undefined ? undefined : failures.get(message);
  if (failed?.violation !== undefined)
    return make('security', 'CAPABILITY_VIOLATION', message, { violation: failed.violation });
  if (errorClass === 'CapabilityError')
    return make('security', 'CAPABILITY_VIOLATION', message, { violation: /mcp:\S+/.exec(message)?.[0] ?? message });
  const byCall = failed === undefined ? undefined : errorOfCall(failed);
  const wait = omitUndefined({ retryAfterMs: failed?.retryAfterMs });
  if (byCall !== undefined) return make(byCall[0], byCall[1], message, { name, ...wait });
  const byClass = errorClass === undefined ? undefined : BY_CLASS[errorClass];
  if (byClass !== undefined) return make(byClass[0], byClass[1], message, { name });
  const [type, code] = BY_KIND[kind];
  return make(
    type,
    code,
    kind === 'exception' && name !== 'Error' && !/^\p{Ll}/u.test(name) ? `${name}: ${message}` : message,
    {},
  );
}

/** A hint uses the host's name for a limit; here limits are fields of the request, or settings. */
function inRequestWords(hint: string): string {
  return toContractHint(hint)
    .replace('limits.maxMemoryBytes', 'memoryLimit')
    .replace('limits.timeoutMs', 'timeout')
    .replace('limits.maxToolCalls', 'sandbox.limits.calls in the configuration');
}

/** The error code of a call that a library user made directly: the code that an execution would end with. */
export function codeOfCall(errorClass: string, failed: CallFailure): string {
  if (failed.violation !== undefined) return 'CAPABILITY_VIOLATION';
  if (failed.verdict === 'pending') return 'APPROVAL_PENDING';
  return (errorOfCall(failed) ?? BY_CLASS[errorClass])?.[1] ?? 'TOOL_CALL_FAILED';
}

/** The error of a failed call by its verdict, if that says more than its class. */
function errorOfCall(failed: CallFailure): readonly [ErrorType, string] | undefined {
  const { serverId, verdict, approvalState, isExpired } = failed;
  if (isExpired === true) return ['security', 'UNAUTHORIZED'];
  // For every call, including the network and files.
  if (verdict === 'invalid_arguments') return ['validation', 'INVALID_ARGUMENTS'];
  if (verdict === 'denied')
    return ['security', approvalState === undefined ? 'POLICY_DENIED' : `APPROVAL_${approvalState}`];
  if (serverId === 'codemode/network') return ['network', (verdict && OF_REQUESTS[verdict]) ?? 'REQUEST_FAILED'];
  if (serverId === 'codemode/filesystem')
    return ['runtime', verdict === 'limited' ? 'RATE_LIMITED' : 'FILE_ACCESS_FAILED'];
  // A call that changes nothing has no outcome to check: its server was lost, and the call may be repeated.
  if (verdict === 'outcome_unknown' && failed.isSafeToRepeat === true) return BY_VERDICT.not_sent;
  return verdict === undefined ? undefined : BY_VERDICT[verdict];
}

const OF_REQUESTS: Readonly<Partial<Record<CallVerdict, string>>> = {
  limited: 'RATE_LIMITED',
  timeout: 'REQUEST_TIMEOUT',
};

const BY_VERDICT: Readonly<Partial<Record<CallVerdict, readonly [ErrorType, string]>>> = {
  limited: ['mcp', 'RATE_LIMITED'],
  timeout: ['mcp', 'TOOL_TIMEOUT'],
  not_sent: ['mcp', 'SERVER_UNAVAILABLE'],
  outcome_unknown: ['mcp', 'OUTCOME_UNKNOWN'],
};

/** The error of a failed call by the class under which code catches it. */
const BY_CLASS: Readonly<Record<string, readonly [ErrorType, string]>> = {
  ToolCallError: ['mcp', 'TOOL_CALL_FAILED'],
  ToolNotFoundError: ['mcp', 'TOOL_NOT_FOUND'],
  ServerNotFoundError: ['mcp', 'SERVER_NOT_FOUND'],
  AuthenticationError: ['mcp', 'AUTHENTICATION_REQUIRED'],
  SchemaValidationError: ['validation', 'INVALID_ARGUMENTS'],
  SandboxLimitError: ['mcp', 'CALL_LIMIT'],
};

export const BY_KIND: Readonly<Record<Failure['kind'], readonly [ErrorType, string]>> = {
  syntax: ['validation', 'SYNTAX_ERROR'],
  type: ['validation', 'TYPE_ERROR'],
  import: ['validation', 'IMPORT_FAILURE'],
  exception: ['runtime', 'RUNTIME_ERROR'],
  limit: ['runtime', 'LIMIT'],
  never_settled: ['runtime', 'NEVER_SETTLED'],
  not_serializable: ['runtime', 'RESULT_NOT_SERIALIZABLE'],
  cancelled: ['runtime', 'CANCELLED'],
  forbidden: ['security', 'FORBIDDEN'],
  worker_lost: ['runtime', 'WORKER_LOST'],
};

function tooLarge(bytes: number, requestId: string): CodeModeError {
  const message = `the result has ${bytes} bytes, which is more than is sent; filter or summarise it in the code`;
  return errorWith('runtime', 'RESULT_TOO_LARGE', message, requestId, { bytes });
}

export function errorWith(
  type: ErrorType,
  code: string,
  message: string,
  requestId: string,
  details: JsonObject = {},
): CodeModeError {
  return {
    type,
    code,
    message: visibleText(message),
    ...(Object.keys(details).length === 0 ? {} : { details }),
    timestamp: new Date().toISOString(),
    requestId,
  };
}
