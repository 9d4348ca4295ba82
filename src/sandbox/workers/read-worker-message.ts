import type { Failure, GuestCall, LogEntry, Outcome } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { jsonText } from '../../lib/text/json-text.js';
import { MAX_VALUE_BYTES, type WorkerToHost } from '../../wire/messages.js';
import { excessFailure } from '../failures.js';

/** Converts a worker's messages about a program to the host's types. */

export function callIn(
  { execution: runId, call, target }: Extract<WorkerToHost, { type: 'call/request' }>,
  body: Buffer,
): GuestCall {
  return { runId, number: call, target, argumentsJson: body.toString('utf8') };
}

export function logIn({ level, atMs }: Extract<WorkerToHost, { type: 'execution/log' }>, body: Buffer): LogEntry {
  return { level, message: body.toString('utf8'), timeMs: Math.round(atMs) };
}

/**
 * How a program ended. A result is passed on as text, so it is first verified to be JSON: a compromised worker may send anything,
 * and then there is no outcome.
 */
export function outcomeIn(
  { failure, lost, unawaited, stillOpen, cutOff }: Extract<WorkerToHost, { type: 'execution/end' }>,
  body: Buffer,
  timeout: Failure,
): Outcome | undefined {
  const noticed = omitUndefined({ unawaited });
  const said = failure?.limit === 'timeout' ? timeout : failure;
  if (said !== null && body.length === 0) return { status: 'failed', failure: said, ...noticed };
  if (body.length > MAX_VALUE_BYTES) return undefined;
  const excess = excessFailure('the result', body.toString('utf8'));
  if (excess !== undefined) return { status: 'failed', failure: said ?? excess, ...noticed };
  const json = jsonText(body);
  if (json === undefined) return undefined;
  return said === null
    ? {
        status: 'completed',
        resultJson: json,
        ...omitUndefined({ lost, stillOpen, cutOff }),
        ...noticed,
      }
    : { status: 'failed', failure: said, soFarJson: json, ...noticed };
}
