import type { GuestError } from '../../domain/execution.js';

/** A call that was refused or failed: by the tool, the policy, a limit, a person, or its server. */
export class ToolCallError extends Error {
  /** The class under which a program would have caught it, as in `@codemode/errors`. */
  readonly errorClass: string;
  /** What to do next. */
  readonly hint: string;

  constructor({ errorClass, message, hint }: GuestError) {
    super(message);
    this.name = 'ToolCallError';
    this.errorClass = errorClass;
    this.hint = hint;
  }
}
