import type { Limits } from '../../domain/limits.js';
import type { ProcessLimits, ProgramLanguage } from '../../domain/process-program.js';
import type { AnyRecording } from './recording.js';

/** The most that a recorded program may spend here: what this configuration lets any request ask for. */
export interface ReplayBounds {
  readonly program: Limits;
  readonly process: Readonly<Record<ProgramLanguage, ProcessLimits>>;
}

/**
 * A recording with limits that this configuration would have given. It may be a file that anybody wrote: what it says a program
 * may spend is a wish. One that spends more than it may here ends another way, and is said to differ.
 */
export function withinBounds(recording: AnyRecording, bounds: ReplayBounds): AnyRecording {
  if ('program' in recording) {
    const { program } = recording;
    return { ...recording, program: { ...program, limits: lower(program.limits, bounds.process[program.language]) } };
  }
  const { journal } = recording;
  const { maxToolCalls } = journal.limits;
  const limits = lower(journal.limits, bounds.program);
  // A script may have no bound on its calls; in a replay they are answered from the record, and within its time.
  const ofScript = journal.script === undefined ? {} : { maxToolCalls };
  return { ...recording, journal: { ...journal, limits: { ...limits, ...ofScript } } };
}

/** Each limit at most as high as its bound; one that is not said is the bound. */
function lower<Amounts extends Limits | ProcessLimits>(wished: Amounts, most: Amounts): Amounts {
  const bounds = Object.entries(most) as [keyof Amounts, number | undefined][];
  const lowered = bounds.map(([name, bound]) => {
    const wish = wished[name] as number | undefined;
    return [name, bound === undefined ? wish : Math.min(wish ?? bound, bound)];
  });
  return { ...wished, ...(Object.fromEntries(lowered) as Amounts) };
}
