import type { Failure, LogEntry } from '../../domain/execution.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import type { JsonValue } from '../../domain/json.js';
import type { Limits } from '../../domain/limits.js';
import type { ExecutionSummary } from '../../host/execution.js';

export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path?: string;
  readonly errorClass?: string;
}

export interface ToolTraceEntry {
  readonly serverId: string;
  readonly toolName: string;
  readonly durationMs: number;
  readonly ok: boolean;
  readonly error?: string;
}

/** What `codemode.run` answers, always in this shape, whatever became of the program. */
export interface RunResponse {
  readonly logs: readonly LogEntry[];
  readonly result: JsonValue;
  readonly diagnostics: readonly Diagnostic[];
  readonly toolTrace: readonly ToolTraceEntry[];
}

const CODES: Readonly<Record<Failure['kind'], string>> = {
  syntax: 'SYNTAX_ERROR',
  import: 'IMPORT_FAILURE',
  exception: 'UNCAUGHT_EXCEPTION',
  limit: 'SANDBOX_LIMIT',
  never_settled: 'NEVER_SETTLED',
  not_serializable: 'RESULT_NOT_SERIALIZABLE',
  cancelled: 'CANCELLED',
  worker_lost: 'SANDBOX_LIMIT',
};

export function renderResponse(summary: ExecutionSummary, limits: Limits, isolation: IsolationLevel): RunResponse {
  const { outcome, logs, logsCut, trace } = summary;
  return {
    logs: logsCut ? [...logs, truncation(limits.maxLogBytes, logs.at(-1)?.timeMs ?? 0)] : logs,
    result: outcome.status === 'completed' ? (JSON.parse(outcome.resultJson) as JsonValue) : null,
    diagnostics: [
      ...(outcome.status === 'failed' ? [diagnose(outcome.failure)] : []),
      ...(isolation === 'none' ? [NOT_ISOLATED] : []),
    ],
    toolTrace: trace.map(({ target, ...entry }) => ({ ...splitTarget(target), ...entry })),
  };
}

export function diagnose(failure: Failure): Diagnostic {
  const { kind, name, message, hint, position, limit } = failure;
  const errorClass = failure.errorClass ?? (limit === undefined ? undefined : 'SandboxLimitError');
  return {
    severity: 'error',
    code: CODES[kind],
    message: kind === 'exception' && name !== 'Error' && !message.startsWith(name) ? `${name}: ${message}` : message,
    ...(hint === undefined ? {} : { hint }),
    ...(position === undefined ? {} : { path: `main.ts:${position.line}:${position.column}` }),
    ...(errorClass === undefined ? {} : { errorClass }),
  };
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

/** Targets are `server/tool`; tool names may hold slashes of their own. */
function splitTarget(target: string): { serverId: string; toolName: string } {
  const slash = target.indexOf('/');
  return slash < 0
    ? { serverId: '', toolName: target }
    : { serverId: target.slice(0, slash), toolName: target.slice(slash + 1) };
}
