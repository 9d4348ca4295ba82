import type { ExecutionState } from './execution-state.js';

/** What of a message still has room, whole characters only; nothing once one was cut. Takes that room. */
export function keptOfLog(
  state: Pick<ExecutionState, 'logBytes' | 'logsCut'>,
  maxLogBytes: number,
  message: Buffer,
): Buffer | undefined {
  if (state.logsCut) return undefined;
  const room = Math.max(0, maxLogBytes - state.logBytes);
  state.logsCut = message.byteLength > room;
  const kept = state.logsCut ? beginningOf(message, room) : message;
  state.logBytes += kept.byteLength;
  return state.logsCut && kept.byteLength === 0 ? undefined : kept;
}

function beginningOf(message: Buffer, bytes: number): Buffer {
  const text = message.subarray(0, bytes).toString('utf8');
  // A character that was cut in two is left out.
  return Buffer.from(text.replace(/\ufffd$/, ''));
}
