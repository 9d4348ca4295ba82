/** What an answer says beside its result, as the contract has it. */
export interface Diagnostic {
  readonly severity: 'error' | 'warning' | 'info';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly path?: string;
  readonly errorClass?: string;
}
