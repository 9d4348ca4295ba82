import { ERRORS, type HostError } from '../../domain/errors.js';
import type { Failure, LogEntry } from '../../domain/execution.js';
import type { JsonValue } from '../../domain/json.js';
import { STARTING_HINT } from '../../host/discovery.js';
import type { RunSummary, SleepSummary } from '../../host/run.js';
import type { TraceEntry } from '../../host/tool-calls.js';

export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path?: string;
  readonly errorClass?: string;
}

/** What a run is answered with, always in this shape, whatever became of the program. */
export interface RunResponse {
  readonly logs: readonly LogEntry[];
  readonly result: JsonValue;
  readonly diagnostics: readonly Diagnostic[];
  readonly toolTrace: readonly TraceEntry[];
  /** Only where the run goes on, or something of it is kept. */
  readonly runId?: string;
}

const CODES: Readonly<Record<Failure['kind'], string>> = {
  syntax: 'SYNTAX_ERROR',
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
    logs: logsCut ? [...logs, truncation(limits.maxLogBytes, logs.at(-1)?.timeMs ?? 0)] : logs,
    result: outcome.status === 'completed' && !isKept ? (JSON.parse(outcome.resultJson) as JsonValue) : null,
    diagnostics: [...(outcome.status === 'failed' ? [diagnose(outcome.failure)] : []), ...notices(summary)],
    toolTrace: trace,
    ...(isKept ? { runId: summary.runId } : {}),
  };
}

/** The answer to a client that would give up waiting. */
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

/** Cards that are named one by one; the user sees the rest in the list. */
const MAX_NAMED_APPROVALS = 5;

/** The answer of a run that sleeps until a person has decided. */
export function renderSleeping({ runId, approvals, logs, trace }: SleepSummary): RunResponse {
  const [first] = approvals;
  const calls = approvals
    .slice(0, MAX_NAMED_APPROVALS)
    .map(({ tool, reason }) => `${tool.serverId}/${tool.toolName} (${reason})`);
  const more = approvals.length - calls.length;
  return {
    logs,
    result: null,
    diagnostics: [
      {
        severity: 'info',
        code: 'APPROVAL_PENDING',
        message: `run ${runId} is suspended until a person has decided about ${approvals.length === 1 ? 'a call' : `${approvals.length} calls`}: ${calls.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
        hint: `Ask the user to type: codemode approvals approve ${first?.id ?? 'ID'}${approvals.length > 1 ? ' --scope calls' : ''}. The run is then resumed; do not run the program again. Its response: import { wait } from '@codemode/results'; globalThis.__codemode_result__ = await wait(${JSON.stringify(runId)});`,
      },
    ],
    toolTrace: trace,
    runId,
  };
}

/** A request that was malformed is answered in the same shape. */
export function renderBadRequest(message: string): RunResponse {
  return {
    logs: [],
    result: null,
    diagnostics: [
      { severity: 'error', code: 'INVALID_REQUEST', message, hint: 'Correct the request and send it again.' },
    ],
    toolTrace: [],
  };
}

/** The host could not do its work: its own words, in the same shape. */
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
  const { kind, name, message, hint, position, limit } = failure;
  const errorClass = failure.errorClass ?? (limit === undefined ? undefined : 'SandboxLimitError');
  return {
    severity: 'error',
    // Uncaught, the limit on calls has ended the run as the other limits do.
    code: errorClass === 'SandboxLimitError' ? CODES.limit : CODES[kind],
    message: kind === 'exception' && name !== 'Error' && !message.startsWith(name) ? `${name}: ${message}` : message,
    ...(hint === undefined ? {} : { hint }),
    ...(position === undefined ? {} : { path: `main.ts:${position.line}:${position.column}` }),
    ...(errorClass === undefined ? {} : { errorClass }),
  };
}

function notices(summary: RunSummary): Diagnostic[] {
  const { warnings, redactions, unavailable, notice, isolation, keptResult, declarations } = summary;
  const found: Diagnostic[] = unavailable.map(({ name, reason, isStarting }) => ({
    severity: 'warning',
    errorClass: 'ServerNotFoundError',
    ...(isStarting === true
      ? { code: 'SERVER_STARTING', message: `${name}: ${reason}`, hint: STARTING_HINT }
      : {
          code: 'CAPABILITY_UNAVAILABLE',
          message: `${name} is not available: ${reason}`,
          hint: 'Go on without it, or ask the user to check it with: codemode servers',
        }),
  }));
  if (notice !== undefined)
    found.push({ severity: 'warning', code: 'NO_SERVERS', message: notice, hint: 'Tell the user what to type.' });
  for (const message of warnings)
    found.push({
      severity: 'warning',
      code: 'OUTPUT_SCHEMA_MISMATCH',
      message,
      hint: 'Check the value before you rely on its shape.',
    });
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
    found.push({
      severity: 'warning',
      code: 'RESULT_TOO_LARGE',
      message: `the result has ${keptResult.bytes} bytes and was not sent; it is kept as ${keptResult.handle}`,
      hint: `Return less (filter, count, take the first rows). The whole value: import { load } from '@codemode/results'; const value = await load(${JSON.stringify(keptResult.handle)});`,
    });
  }
  for (const { path, text, isNew } of declarations)
    found.push({
      severity: 'info',
      code: 'SERVER_TYPES',
      message: isNew === true ? `// This server is connected now.\n${text}` : text,
      path: `@codemode/servers/${path}`,
    });
  if (isolation === 'none') found.push(NOT_ISOLATED);
  return found;
}

/** Credentials that the host holds are redacted whatever the configuration says. */
function redactionHint(kinds: readonly string[]): string {
  if (kinds.every((kind) => kind === 'credential'))
    return 'These are credentials of the configuration; servers have them already, and programs do not need them.';
  return 'If this is ordinary data, the user can list it under redaction.allow, or set redaction.patterns: false.';
}

const NOT_ISOLATED: Diagnostic = {
  severity: 'warning',
  code: 'NOT_ISOLATED',
  message: 'this program ran without an OS jail, as configured (sandbox.isolation: none)',
  hint: 'Run `codemode doctor` to see which isolation this machine can give.',
};

function truncation(maxLogBytes: number, timeMs: number): LogEntry {
  return {
    level: 'warn',
    message: `logs were truncated: the limit of ${maxLogBytes} bytes (maxLogBytes) was reached`,
    timeMs,
  };
}
