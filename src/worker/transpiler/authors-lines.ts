/** The field of a source map that says which lines are the author's, if not all are. */
export const AUTHORS_LINES = 'x_authorsLines';

/** Our own lines are above the first and below the last. */
export interface AuthorsLines {
  readonly before: number;
  readonly count: number;
}
