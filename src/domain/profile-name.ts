/** The contracts that the program can speak. */
export const PROFILE_NAMES = ['codemode', 'unified', 'code_execution', 'runner', 'go'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];
