import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { isHostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import type { UpstreamFailure } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { oneLine } from '../../lib/text/bounded-text.js';
import type { ConnectionProblem } from './connection.js';

/** Thrown by our own transports for a message that was certainly not sent. */
export class NotSentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotSentError';
  }
}

/** A tool listing exceeds the limits. */
export class ListingBudgetError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ListingBudgetError';
  }
}

/** Our own code, outside the protocol's ranges, for a request whose stream ended before the answer came. */
export const STREAM_LOST = -1_000_001;
/** Our own code for an answer without a usable result, such as null or a text. */
export const MALFORMED_ANSWER = -1_000_002;

/** The message of `fetch` for ports that browsers block. The error has no code. */
const BLOCKED_PORT = 'bad port';
/** Errors of a socket that never connected. */
const NEVER_CONNECTED = new Set([
  BLOCKED_PORT,
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
/** With these statuses the server says that it did not process the request. */
const NOT_TAKEN_ON = new Set([400, 404, 405, 406, 413, 415, 421, 429, 501]);
/** Parse error, invalid request, no such method, invalid parameters: the tool was not reached. */
const NOT_UNDERSTOOD = new Set([-32_700, -32_600, -32_601, -32_602]);
const MAX_MESSAGE_CHARACTERS = 4_000;
/** How the older transport reports a status. */
const POSTED = /^Error POSTing to endpoint \(HTTP (\d{3})\)/;
/** Precedes the milliseconds that a server asks us to wait, in the status text. */
export const RETRY_AFTER_MARK = '; retry-after-ms=';

function waitIn({ statusText }: SdkHttpError): number | undefined {
  const [, digits] = /; retry-after-ms=(\d{1,9})$/.exec(statusText ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** What an error of the client library means for the call that it ended. */
export function failureOf(error: unknown): ConnectionProblem {
  const message = text(error);
  const failure = (kind: UpstreamFailure['kind'], mayHaveRun: boolean, said = message): UpstreamFailure => ({
    kind,
    mayHaveRun,
    message: said,
  });

  if (error instanceof NotSentError) return { failure: failure('not_sent', false), connection: 'lost' };
  if (error instanceof ListingBudgetError) return { failure: failure('refused', false), connection: 'over_budget' };
  if (error instanceof ProtocolError) {
    if (error.code === STREAM_LOST) return { failure: failure('outcome_unknown', true), connection: 'usable' };
    if (error.code === MALFORMED_ANSWER) return { failure: failure('invalid_reply', true), connection: 'usable' };
    const refused: UpstreamFailure = {
      ...failure('refused', !NOT_UNDERSTOOD.has(error.code)),
      code: error.code,
      ...dataOf(error.data),
    };
    return { failure: refused, connection: 'usable' };
  }
  const refusal = authorizationProblem(error);
  if (refusal !== undefined) return { failure: refusal, connection: 'usable' };
  if (error instanceof UnauthorizedError)
    return { failure: failure('unauthorized', false, 'the server asks for authorization'), connection: 'usable' };
  if (error instanceof SdkHttpError) return ofHttpStatus(error.status, message, waitIn(error));
  const posted = error instanceof Error ? POSTED.exec(error.message) : null;
  if (posted !== null) return ofHttpStatus(Number(posted[1]), message);
  const code = socketCode(error);
  if (code !== undefined && NEVER_CONNECTED.has(code)) {
    return { failure: failure('not_sent', false, `the server cannot be reached (${code})`), connection: 'suspect' };
  }
  if (error instanceof SdkError) {
    switch (error.code) {
      case SdkErrorCode.RequestTimeout:
        return { failure: failure('timeout', true), connection: 'usable' };
      case SdkErrorCode.NotConnected:
      case SdkErrorCode.SendFailed:
        return { failure: failure('not_sent', false), connection: 'lost' };
      case SdkErrorCode.ConnectionClosed:
        return {
          failure: failure('outcome_unknown', true, 'its process or connection has ended'),
          connection: 'lost',
        };
      case SdkErrorCode.MethodNotSupportedByProtocolVersion:
      case SdkErrorCode.CapabilityNotSupported:
        return { failure: failure('refused', false), connection: 'usable' };
      default:
        return { failure: failure('invalid_reply', true), connection: 'usable' };
    }
  }
  if (error instanceof Error && error.message === 'Not connected')
    return { failure: failure('not_sent', false), connection: 'lost' };
  if (code !== undefined || (error instanceof TypeError && /fetch failed|terminated/.test(error.message))) {
    return {
      failure: failure('outcome_unknown', true, `the connection was lost (${code ?? message})`),
      connection: 'suspect',
    };
  }
  // For a malformed message, the library's error lists its schema's complaints.
  const isSchemaError = error instanceof Error && error.name.endsWith('ZodError');
  const said = isSchemaError ? 'the answer has no result' : message;
  return { failure: failure('invalid_reply', true, said), connection: 'usable' };
}

/** A connection error in words for people, with the diagnosis of its process. Not masked yet. */
export function connectProblem(error: unknown): string {
  const { failure } = failureOf(error);
  const diagnosis = diagnosisOf(error);
  const hasEnded = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed;
  const isHttp = error instanceof SdkHttpError && failure.kind !== 'unauthorized';
  const problem = hasEnded
    ? 'it ended the connection'
    : failure.kind === 'timeout'
      ? 'it did not answer in time'
      : isHttp
        ? `it answered HTTP ${error.status} (${text(error)})`
        : failure.message;
  // A process that has ended also reads nothing and closes its pipes: only its end is the reason.
  if (diagnosis?.startsWith('the process ended') === true) return diagnosis;
  return diagnosis === undefined ? problem : `${problem}: ${diagnosis}`;
}

/** The diagnosis of the process behind a failed connection. */
export function diagnosisOf(error: unknown): string | undefined {
  const { diagnosis } = (error ?? {}) as { diagnosis?: unknown };
  return typeof diagnosis === 'string' ? diagnosis : undefined;
}

/** The authorizer's failure: a person must log in, or the token endpoint could not be reached. */
function authorizationProblem(error: unknown): UpstreamFailure | undefined {
  if (error instanceof InsufficientScopeError) {
    const scope = error.requiredScope === undefined ? 'more than was granted' : oneLine(error.requiredScope, 200);
    return { kind: 'unauthorized', mayHaveRun: false, message: `the server asks for ${scope}` };
  }
  if (isHostError(error, 'login_needed')) return { kind: 'unauthorized', mayHaveRun: false, message: error.message };
  if (isHostError(error, 'upstream_unavailable') || isHostError(error, 'bad_config'))
    return { kind: 'not_sent', mayHaveRun: false, message: error.message };
  return undefined;
}

function ofHttpStatus(status: number, message: string, retryAfterMs?: number): ConnectionProblem {
  if (status === 401 || status === 403) {
    return {
      failure: {
        kind: 'unauthorized',
        mayHaveRun: false,
        message: `the server refused the credentials (HTTP ${status})`,
      },
      connection: 'usable',
    };
  }
  // A restarted server answers 404 to a session id that it does not know. Some servers answer 400 instead.
  if (status === 404 || (status === 400 && /session/i.test(message))) {
    return {
      failure: {
        kind: 'not_sent',
        mayHaveRun: false,
        message: `the server does not know this session (HTTP ${status})`,
      },
      connection: 'lost',
    };
  }
  const mayHaveRun = !NOT_TAKEN_ON.has(status);
  const kind = mayHaveRun ? 'outcome_unknown' : 'refused';
  return {
    failure: {
      ...{ kind, mayHaveRun, message: `HTTP ${status}: ${message}`.slice(0, MAX_MESSAGE_CHARACTERS) },
      refusal: { status, ...omitUndefined({ retryAfterMs }) },
    },
    connection: 'usable',
  };
}

function socketCode(error: unknown): string | undefined {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1) {
    const { code } = current as NodeJS.ErrnoException;
    if (typeof code === 'string' && (NEVER_CONNECTED.has(code) || /^(E[A-Z0-9]+|UND_\w+|HPE_\w+)$/.test(code)))
      return code;
    if (current.message === BLOCKED_PORT) return BLOCKED_PORT;
    if (current instanceof AggregateError) return socketCode(current.errors[0]);
  }
  return undefined;
}

function dataOf(data: unknown): { data?: JsonValue } {
  return omitUndefined({ data: data as JsonValue | undefined });
}

function text(error: unknown): string {
  const message = (error instanceof Error ? error.message : String(error)).replace(NEGOTIATION, '');
  const said = message === 'fetch failed' ? `the request failed (${rootCause(error)})` : message;
  return said.slice(0, MAX_MESSAGE_CHARACTERS);
}

/** What the library was doing is not something that a user has set or can change. */
const NEGOTIATION = /^Version negotiation (?:probe )?failed: /;

/** `fetch` puts the real reason last, as the cause of a cause. */
function rootCause(error: unknown): string {
  let last = error;
  for (let depth = 0; last instanceof Error && last.cause !== undefined && depth < 5; depth += 1) last = last.cause;
  const { code, message = 'unknown reason' } = last as NodeJS.ErrnoException;
  return code ?? message;
}
