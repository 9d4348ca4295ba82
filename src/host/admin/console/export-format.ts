/** The file format of one exported run. */
export const EXPORT_FORMAT = 'codemode run 1';
