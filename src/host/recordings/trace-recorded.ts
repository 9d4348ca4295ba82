import type { Redactor } from '../../broker/redaction/redactor.js';
import type { CallerId, LogEntry } from '../../domain/run.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import { redactReport } from '../runs/redact-report.js';
import type { Recording } from './recording.js';

/** What a recording does not contain and a replay finds out. */
export interface TracedRecording {
  readonly logs: readonly LogEntry[];
  /** The line of each call that could be located, by call number. */
  readonly lines: readonly (readonly [call: number, line: number])[];
}

/** A program that only waits for its timers is not awaited longer. */
const LOCATE_WITHIN_MS = 10_000;

/** Replays a recorded program offline to get its logs and the positions of its calls. */
export async function traceRecorded(
  sandbox: Sandbox,
  { runId, journal }: Recording,
  redactor?: Redactor,
): Promise<TracedRecording> {
  const caller = `replay of ${runId}` as CallerId;
  const { report: raw } = await sandbox.replay(journal, caller);
  const report = redactor === undefined ? raw : await redactReport(redactor, raw, {});
  const lines = await sandbox.locateCalls(journal, caller, AbortSignal.timeout(LOCATE_WITHIN_MS));
  return { logs: report.logs, lines: [...lines] };
}
