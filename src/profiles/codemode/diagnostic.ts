/** A message of a response besides its result, as the contract defines it. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path?: string;
  readonly errorClass?: string;
}
