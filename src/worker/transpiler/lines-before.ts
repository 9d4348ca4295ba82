/** Under which name a source map says how many lines of ours stand above the author's first. */
export const LINES_BEFORE = 'x_linesBefore';
