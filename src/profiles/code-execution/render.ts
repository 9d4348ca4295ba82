import { ERRORS, type HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { checkFirst, type Failure } from '../../domain/run.js';
import type { RunSummary } from '../../host/runs/run-types.js';

/** The six error codes of a failed script. */
export type ScriptErrorCode =
  | 'SYNTAX_ERROR'
  | 'RUNTIME_ERROR'
  | 'TIMEOUT'
  | 'MAX_TOOL_CALLS_EXCEEDED'
  | 'SERVER_NOT_ALLOWED'
  | 'SERIALIZATION_ERROR';

/** The response of `code_execution` for every outcome. */
export type ScriptResponse =
  | { readonly ok: true; readonly value: JsonValue }
  | {
      readonly ok: false;
      /** Refused requests and host failures have their own codes. */
      readonly error: { readonly code: ScriptErrorCode | string; readonly message: string; readonly stack: string };
    };

export function renderScript({ outcome, keptResult }: RunSummary): ScriptResponse {
  if (outcome.status === 'failed') return { ok: false, error: withCheck(errorOf(outcome.failure), outcome.failure) };
  if (keptResult !== undefined)
    return failure(
      'RUNTIME_ERROR',
      `the result has ${keptResult.bytes} bytes, more than an answer may have; return less: filter, count, take the first rows`,
    );
  return { ok: true, value: JSON.parse(outcome.resultJson) as JsonValue };
}

/** The response to a malformed request, which never becomes a script. */
export function renderBadRequest(message: string): ScriptResponse {
  return failure('INVALID_REQUEST', message);
}

/** The response to a host failure. */
export function renderHostError({ code, message }: HostError): ScriptResponse {
  const advice = ERRORS[code].retry ? 'Send the same request again.' : 'Tell the user; trying again will not help.';
  return failure(code.toUpperCase(), `${message}. ${advice}`);
}

/** The contract's message comes first. It does not mention calls that may have taken effect, so that is appended. */
function withCheck<Told extends { message: string }>(error: Told, failed: Failure): Told {
  const check = checkFirst(failed);
  return check === '' ? error : { ...error, message: `${error.message}. ${check}` };
}

function errorOf(failed: Failure): { code: ScriptErrorCode; message: string; stack: string } {
  const code = codeOf(failed);
  const { name, message, stack = '' } = failed;
  switch (code) {
    case 'TIMEOUT':
      return { code, message: 'JavaScript execution timed out', stack: '' };
    case 'SERIALIZATION_ERROR':
      return {
        code,
        message: message.includes('the script has no value')
          ? 'Nothing was returned: the value of the script is undefined. End it with the value that you want'
          : 'Result contains non-JSON-serializable values (functions, circular references, etc.)',
        stack: '',
      };
    case 'MAX_TOOL_CALLS_EXCEEDED':
    case 'SERVER_NOT_ALLOWED':
      return { code, message, stack: '' };
    case 'SYNTAX_ERROR':
      return { code, message: syntaxMessage(failed), stack: '' };
    case 'RUNTIME_ERROR': {
      const isThrown = failed.kind === 'exception';
      const said = isThrown ? thrownMessage(name, message) : `${message}${advice(failed)}`;
      return { code, message: said, stack: isThrown ? stackOf(stack) : '' };
    }
  }
}

function codeOf({ kind, limit }: Failure): ScriptErrorCode {
  switch (kind) {
    case 'syntax':
      return 'SYNTAX_ERROR';
    case 'not_serializable':
      return 'SERIALIZATION_ERROR';
    case 'forbidden':
      return 'SERVER_NOT_ALLOWED';
    case 'limit':
      if (limit === 'calls') return 'MAX_TOOL_CALLS_EXCEEDED';
      // Memory, stack and output limits have no code of their own.
      return limit === 'timeout' ? 'TIMEOUT' : 'RUNTIME_ERROR';
    case 'exception':
    case 'type':
    case 'import':
    case 'never_settled':
    case 'cancelled':
    case 'worker_lost':
      return 'RUNTIME_ERROR';
  }
}

function named(name: string, message: string): string {
  return message.startsWith(name) ? message : `${name}: ${message}`;
}

/** A request of this contract has no option for memory. */
function advice({ limit, hint }: Failure): string {
  if (limit === 'memory') return '. Keep less in memory at once: filter early, work in pieces.';
  return hint === undefined ? '' : `. ${hint}`;
}

/** The position follows the first line, before the source excerpt. A source that ends too early is reported as such. */
function syntaxMessage(failed: Failure): string {
  const [first = '', ...excerpt] = failed.message.split('\n');
  const early = /^Expected (.+) but found `EOF`$/.exec(first);
  const said = early === null ? first : `Unexpected end of input, expected ${early[1]}`;
  const isTold = EXPLAINED.test(first) || failed.hint?.startsWith('This is TypeScript') === true;
  const hint = failed.hint !== undefined && isTold ? `. ${failed.hint}` : '';
  return [`${named('SyntaxError', said)}${placeOf(failed)}${hint}`, ...excerpt].join('\n');
}

/** Unsupported syntax. The hint names the replacement. */
const EXPLAINED = /not supported|outside a module|only allowed|await/;

/** A thrown value that is not an error has the name of its type, which is not a class. */
function thrownMessage(name: string, message: string): string {
  return /^\p{Ll}/u.test(name) ? message : named(name, capitalised(message));
}

/** The engine's messages start in lower case, the contract's examples in upper case. */
function capitalised(message: string): string {
  return message.replace(/^cannot (?=(?:read|set) property\b)/, 'Cannot ');
}

/** Stack frames in the contract's format: `at <eval>:1:17`, `at name (<eval>:1:17)`. */
function stackOf(stack: string): string {
  const [first = '', ...frames] = stack.split('\n');
  const isFrame = FRAME.test(first);
  const head = isFrame ? [] : [first.replace(/^(\w+: )(.*)$/s, (_, name, said) => `${name}${capitalised(said)}`)];
  return [...head, ...(isFrame ? [first, ...frames] : frames).map(frameOf)].join('\n').trimEnd();
}

const FRAME = /^ {4}at /;

function frameOf(line: string): string {
  if (!FRAME.test(line)) return line;
  return line
    .replace(/ <eval> \(main\.ts:(\d+:\d+)\)$/, ' <eval>:$1')
    .replace(/\bmain\.ts:(\d+:\d+)(\)?)$/, '<eval>:$1$2');
}

function placeOf({ position }: Failure): string {
  return position === undefined ? '' : ` (line ${position.line}, column ${position.column})`;
}

function failure(code: string, message: string): ScriptResponse {
  return { ok: false, error: { code, message, stack: '' } };
}
