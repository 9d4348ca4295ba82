import type { GuestError } from '../../domain/run.js';

/** A call that was refused or failed because of the tool, the policy, a limit, a person or its server. */
export class ToolCallError extends Error {
  /** The class that a program would have caught, as in `@codemode/errors`. */
  readonly errorClass: string;
  /** As in the error of an execution: `TOOL_CALL_FAILED`, `INVALID_ARGUMENTS`, `RATE_LIMITED`, `TOOL_NOT_FOUND`. */
  readonly code: string;
  /** What to do next. */
  readonly hint: string;

  constructor({ errorClass, message, hint }: GuestError, code = 'TOOL_CALL_FAILED') {
    super(message);
    this.name = 'ToolCallError';
    this.errorClass = errorClass;
    this.code = code;
    this.hint = hint;
  }
}
