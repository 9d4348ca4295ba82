import type { ErrorCode, HostError } from '../../domain/errors.js';
import { checkFirst, type EndedFailure, type Failure } from '../../domain/run.js';
import { IS_STARTING } from '../../domain/upstream.js';
import { RETRYABLE_TYPES } from '../../host/runs/self-correction.js';
import { visibleLine, visibleText } from '../../lib/text/visible-text.js';

/** Why there is no data. */
export interface RunnerError {
  readonly type: string;
  readonly message: string;
  /** Whether the same program may succeed if it is run again. */
  readonly retryable: boolean;
}

export function failed(type: string, message: string): RunnerError {
  return { type, message, retryable: RETRYABLE_TYPES.some((each) => each === type) };
}

/** Why a program failed: the class that it threw, or what stopped it. */
export function resultError(failure: EndedFailure): RunnerError {
  const error = visible(errorOf(failure));
  const check = checkFirst(failure);
  // A second run would repeat a call that may have taken effect.
  return check === '' ? error : { ...error, message: `${error.message}. ${check}`, retryable: false };
}

/** Class and message come from the program or a server: invisible characters are made visible. Line breaks stay. */
function visible({ type, message, retryable }: RunnerError): RunnerError {
  return { type: visibleLine(type), message: visibleText(message), retryable };
}

function errorOf(failure: Failure): RunnerError {
  const { kind, name, message, hint, position, errorClass } = failure;
  const place = position === undefined ? '' : ` (line ${position.line}, column ${position.column})`;
  const said = `${message}${place}`;
  const advised = hint === undefined || isSaid(hint, message) ? said : `${said}. ${hint}`;
  switch (kind) {
    case 'exception':
      // An uncaught failed call: its type is kept if another run may succeed.
      if (RETRYABLE_TYPES.some((each) => each === errorClass)) return failed(errorClass as string, advised);
      // The last of too many calls.
      if (errorClass === 'CallLimit') return failed(errorClass, `${said}. ${TOO_MANY_CALLS}`);
      // A program's own class may be called `Timeout`: that is not the runner's limit.
      return { type: name, message: advised, retryable: false };
    case 'syntax':
      return failed('SyntaxError', advised);
    case 'type':
      // A name that the program chose is not one of our error types.
      return { type: name === 'AttributeError' ? name : 'TypeError', message: advised, retryable: false };
    case 'import':
      if (message.endsWith(IS_STARTING)) return failed('TransientNetwork', said);
      return failed(name === 'Error' || name === 'SyntaxError' ? 'ImportError' : name, advised);
    case 'limit': {
      const [type, advice] = LIMITS[failure.limit ?? 'memory'];
      return failed(type, `${said}. ${advice}`);
    }
    case 'never_settled':
      return failed('NeverSettled', advised);
    case 'not_serializable':
      return failed('NotSerializable', advised);
    case 'cancelled':
      return failed('Cancelled', advised);
    case 'forbidden':
    case 'worker_lost':
      return failed('SandboxError', advised);
  }
}

/** Errors of calls say in their message what the user has to type: the message may be all that is passed on. */
function isSaid(hint: string, message: string): boolean {
  return message.includes(hint.split('. ', 1)[0] as string);
}

export const TOO_MANY_CALLS = 'Make fewer calls, or raise sandbox.limits.calls in the configuration.';

/** Error types and advice for each limit, with the keys of this contract: of the request, the command line and the configuration. */
const LIMITS = {
  timeout: [
    'Timeout',
    'Do less in one run, or raise timeout_ms (command line: --timeout, configuration: sandbox.limits.timeout).',
  ],
  memory: [
    'MemoryLimit',
    'Process the data in smaller pieces, or raise memory_bytes (command line: --memory, configuration: sandbox.limits.memory).',
  ],
  stack: ['StackLimit', 'Use a loop instead of recursion.'],
  output: ['OutputTooLarge', 'Print less; return data as `result`.'],
  calls: ['CallLimit', TOO_MANY_CALLS],
  disk: ['DiskLimit', 'Keep less in /workspace at a time, or raise runner.disk in the configuration.'],
  processes: ['ProcessLimit', 'Start fewer processes and threads, or raise runner.processes in the configuration.'],
  cpu: ['CpuLimit', 'Compute less, or raise runner.cpu in the configuration.'],
} as const satisfies Record<NonNullable<Failure['limit']>, readonly [type: string, advice: string]>;

const HOST_ERRORS: Readonly<Partial<Record<ErrorCode, string>>> = {
  bad_input: 'InvalidInput',
  bad_config: 'ConfigurationError',
  untrusted_config: 'ConfigurationError',
  not_found: 'RuntimeNotFound',
  cancelled: 'Cancelled',
  // Other callers use the capacity: the same request may succeed a little later.
  sandbox_busy: 'RateLimit',
  quota_exceeded: 'RateLimit',
  shutting_down: 'Cancelled',
  jail_unavailable: 'SandboxUnavailable',
  worker_lost: 'SandboxUnavailable',
};

/** The error for a host failure. */
export function hostError({ code, message }: HostError): RunnerError {
  return failed(HOST_ERRORS[code] ?? 'InternalError', message);
}

export const INTERNAL: RunnerError = failed('InternalError', 'something went wrong inside codemode; please report it');
