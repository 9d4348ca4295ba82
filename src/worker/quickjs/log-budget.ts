import { LOG_ENTRY_BYTES, MAX_LOG_ENTRIES } from '../../domain/limits.js';
import type { QuickJsRunState } from './run-state.js';

/** The part of a message that still fits, in whole characters; nothing after the first cut. Its bytes are deducted from the budget. */
export function keptOfLog(
  state: Pick<QuickJsRunState, 'logBytes' | 'logsCut' | 'logEntries'>,
  maxLogBytes: number,
  message: Buffer,
): Buffer | undefined {
  if (state.logsCut) return undefined;
  const room = maxLogBytes - state.logBytes - LOG_ENTRY_BYTES;
  if (room < 0 || state.logEntries >= MAX_LOG_ENTRIES) {
    state.logsCut = true;
    return undefined;
  }
  state.logsCut = message.byteLength > room;
  const kept = state.logsCut ? beginningOf(message, room) : message;
  if (state.logsCut && kept.byteLength === 0) return undefined;
  state.logBytes += kept.byteLength + LOG_ENTRY_BYTES;
  return kept;
}

function beginningOf(message: Buffer, bytes: number): Buffer {
  const text = message.subarray(0, bytes).toString('utf8');
  // A character that was cut in two is omitted.
  return Buffer.from(text.replace(/\ufffd$/, ''));
}
