/** Of a run in one file. */
export const EXPORT_FORMAT = 'codemode run 1';
