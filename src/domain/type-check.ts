import type { SourcePosition } from './run.js';

/** A place in a program whose types do not fit, as one person or model reads it. */
export interface TypeProblem {
  /** `error`: the program would surely fail here. `warning`: it may be fine. */
  readonly severity: 'error' | 'warning';
  /** The compiler's number for it. */
  readonly code: number;
  readonly message: string;
  /** The correction, where it is certain. */
  readonly hint?: string;
  readonly position: SourcePosition;
}

/** What a program was found to be. */
export type TypeVerdict =
  | { readonly isChecked: true; readonly problems: readonly TypeProblem[] }
  /** Nobody has looked at it, and why. `isFailure`: the checker was there and failed. `fix`: what to type. */
  | { readonly isChecked: false; readonly reason: string; readonly isFailure?: true; readonly fix?: string };

/** What the compiler says of one place. */
export interface CompilerDiagnostic {
  /** Offsets in the source, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly code: number;
  readonly text: string;
  /** Why, from the general to the particular. */
  readonly chain: readonly { readonly code: number; readonly text: string }[];
  readonly related: readonly { readonly file: string; readonly code: number; readonly text: string }[];
}
