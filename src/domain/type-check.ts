import type { SourcePosition } from './run.js';

/** A type problem in a program, written for a person or a model. */
export interface TypeProblem {
  /** `error`: the program would certainly fail here. `warning`: it may be fine. */
  readonly severity: 'error' | 'warning';
  /** The compiler's number for it. */
  readonly code: number;
  readonly message: string;
  /** The correction, if it is certain. */
  readonly hint?: string;
  readonly position: SourcePosition;
}

/** The result of checking a program's types. */
export type TypeVerdict =
  | { readonly isChecked: true; readonly problems: readonly TypeProblem[] }
  /** The program was not checked. `reason`: why. `isFailure`: the checker was available and failed. `fix`: what to type. */
  | { readonly isChecked: false; readonly reason: string; readonly isFailure?: true; readonly fix?: string };

/** One diagnostic of the compiler. */
export interface CompilerDiagnostic {
  /** Offsets in the source, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly code: number;
  readonly text: string;
  /** The program cannot be parsed here. */
  readonly isSyntax?: true;
  /** The reasons, from general to specific. */
  readonly chain: readonly { readonly code: number; readonly text: string }[];
  readonly related: readonly { readonly file: string; readonly code: number; readonly text: string }[];
}
