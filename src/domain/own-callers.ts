import type { CallerId } from './run.js';

/** Callers of codemode's own programs. No agent of the user ran these, so usage figures exclude them. */
export const DOCTOR_CALLER = 'doctor' as CallerId;
export const MEASURE_CALLER = 'measure' as CallerId;
export const DEMO_CALLER = 'demo' as CallerId;

export const OWN_CALLERS: readonly string[] = [DOCTOR_CALLER, MEASURE_CALLER, DEMO_CALLER];

export function isOwnCaller(caller: string): boolean {
  return OWN_CALLERS.includes(caller);
}
