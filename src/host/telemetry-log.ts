import type { Log } from '../domain/log.js';
import type { Telemetry } from './telemetry.js';

/**
 * Logs telemetry problems, and one line for each ended run with the ids of its calls and its trace. Runs are frequent: `tellsRuns`
 * is false if nobody would see their lines.
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
