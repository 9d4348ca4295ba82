import type { ErrorCode } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';

export const ERROR_TYPES = ['validation', 'security', 'timeout', 'memory', 'network', 'mcp', 'runtime'] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

/** An error as the contract defines it. */
export interface CodeModeError {
  readonly type: ErrorType;
  readonly code: string;
  readonly message: string;
  readonly details?: JsonObject;
  readonly stack?: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly requestId: string;
}

/** The contract's codes for host failures. A failure that is not listed is a bug of ours. */
const CODES: Readonly<Partial<Record<ErrorCode, readonly [ErrorType, string]>>> = {
  bad_input: ['validation', 'VALIDATION_ERROR'],
  not_found: ['validation', 'NOT_FOUND'],
  conflict: ['validation', 'CONFLICT'],
  capability_violation: ['security', 'CAPABILITY_VIOLATION'],
  cancelled: ['runtime', 'CANCELLED'],
  sandbox_busy: ['runtime', 'QUEUE_FULL'],
  shutting_down: ['runtime', 'SHUTTING_DOWN'],
  upstream_unavailable: ['mcp', 'SERVER_UNAVAILABLE'],
  issuer_unavailable: ['network', 'ISSUER_UNAVAILABLE'],
  login_needed: ['mcp', 'AUTHENTICATION_REQUIRED'],
};

export function codeOf(code: ErrorCode): { readonly type: ErrorType; readonly code: string } {
  const [type, name] = CODES[code] ?? (['runtime', code.toUpperCase()] as const);
  return { type, code: name };
}
