/** Under which name a source map says which lines are the author's, where not all are. */
export const AUTHORS_LINES = 'x_authorsLines';

/** Lines of ours stand above the first, and below the last. */
export interface AuthorsLines {
  readonly before: number;
  readonly count: number;
}
