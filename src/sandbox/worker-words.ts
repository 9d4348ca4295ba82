import type { GuestCall, LogEntry } from '../domain/execution.js';
import type { WorkerToHost } from '../wire/messages.js';

/** What a worker says of a program, in the host's words. */

export function callIn(
  { execution, call, target }: Extract<WorkerToHost, { type: 'call/request' }>,
  body: Buffer,
): GuestCall {
  return { execution, number: call, target, argumentsJson: body.toString('utf8') };
}

export function logIn({ level, atMs }: Extract<WorkerToHost, { type: 'execution/log' }>, body: Buffer): LogEntry {
  return { level, message: body.toString('utf8'), timeMs: Math.round(atMs) };
}
