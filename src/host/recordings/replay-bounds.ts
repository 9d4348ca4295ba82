import type { Limits } from '../../domain/limits.js';
import type { ProcessLimits, ProgramLanguage } from '../../domain/process-program.js';
import type { AnyRecording } from './recording.js';

/** The limits of a replayed program: the maximum that this configuration allows any request. */
export interface ReplayBounds {
  readonly program: Limits;
  readonly process: Readonly<Record<ProgramLanguage, ProcessLimits>>;
}

/**
 * Caps a recording's limits at those of this configuration. The file is untrusted, so its limits are only a request. A program that
 * exceeds the cap ends differently, and the replay reports that.
 */
export function withinBounds(recording: AnyRecording, bounds: ReplayBounds): AnyRecording {
  if ('program' in recording) {
    const { program } = recording;
    return { ...recording, program: { ...program, limits: lower(program.limits, bounds.process[program.language]) } };
  }
  const { journal } = recording;
  const { maxToolCalls } = journal.limits;
  const limits = lower(journal.limits, bounds.program);
  // A script may have no limit on calls. In a replay they are answered from the record, within its timeout.
  const ofScript = journal.script === undefined ? {} : { maxToolCalls };
  return { ...recording, journal: { ...journal, limits: { ...limits, ...ofScript } } };
}

/** Each limit is at most its bound. A missing limit becomes the bound. */
function lower<Amounts extends Limits | ProcessLimits>(wished: Amounts, most: Amounts): Amounts {
  const bounds = Object.entries(most) as [keyof Amounts, number | undefined][];
  const lowered = bounds.map(([name, bound]) => {
    const wish = wished[name] as number | undefined;
    return [name, bound === undefined ? wish : Math.min(wish ?? bound, bound)];
  });
  return { ...wished, ...(Object.fromEntries(lowered) as Amounts) };
}
