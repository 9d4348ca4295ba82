import type { JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import type { StoredProgram } from './run.js';

/** The run's identity and the caller it belongs to. */
export interface RunOwner {
  readonly id: string;
  readonly createdAtMs: number;
  readonly caller: CallerId;
  readonly profile: string;
  readonly codeDigest: string;
}

/** A run that is loaded from the store to be resumed. */
export interface ResumedRun extends RunOwner {
  readonly stored: StoredProgram;
  /** As the session that suspended the run stored it. */
  readonly context: JsonValue;
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal;
}

/** Resumes a run. Resolves when the run ends or is suspended again. */
export type ResumeRun = (run: ResumedRun) => Promise<void>;
