import type { GuestError } from '../../domain/execution.js';
import { BY_CLASS } from '../../profiles/unified/render.js';

/** A call that was refused or failed: by the tool, the policy, a limit, a person, or its server. */
export class ToolCallError extends Error {
  /** The class under which a program would have caught it, as in `@codemode/errors`. */
  readonly errorClass: string;
  /** As in the error of an execution: `TOOL_CALL_FAILED`, `INVALID_ARGUMENTS`. */
  readonly code: string;
  /** What to do next. */
  readonly hint: string;

  constructor({ errorClass, message, hint }: GuestError) {
    super(message);
    this.name = 'ToolCallError';
    this.errorClass = errorClass;
    this.code = BY_CLASS[errorClass]?.[1] ?? 'TOOL_CALL_FAILED';
    this.hint = hint;
  }
}
