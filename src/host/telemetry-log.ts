import type { Log } from '../domain/log.js';
import type { Telemetry } from './telemetry.js';

/**
 * What is wrong with telemetry, and a line for each run that has ended, with the ids by which its calls and its trace are
 * found. Runs are many: `tellsRuns` is false where nobody would see their lines.
 */
export function logTelemetry(telemetry: Telemetry, log: Log, tellsRuns: boolean): void {
  telemetry.onEvent((event) => {
    if (event.type === 'problem') log(event.message, 'warn');
    if (event.type !== 'run' || !tellsRuns) return;
    const { runId, traceId, profile, isSuccess, durationMs } = event;
    const end = isSuccess ? 'completed' : 'failed';
    log(`${end} after ${durationMs.toFixed(1)} ms, profile ${profile}`, 'debug', { runId, traceId });
  });
}
