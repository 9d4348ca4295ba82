/** How a person reads the number of a call. Those of the scripts that a run ran have two: `1.2` is the second call of the first script. */
export function callName(call: number): string {
  const script = Math.floor(call / NUMBERS_OF_ONE_PROGRAM);
  return script === 0 ? String(call) : `${script}.${call % NUMBERS_OF_ONE_PROGRAM}`;
}

/** Calls of nested programs are numbered after those of the run, each program in its own range. */
export const NUMBERS_OF_ONE_PROGRAM = 2 ** 32;
