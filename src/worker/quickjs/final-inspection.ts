import type { Failure, LostValues, UnawaitedCalls } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { MAX_VALUE_BYTES } from '../../wire/messages.js';
import type { EntryName } from './image.js';
import { firstPosition } from './positions.js';
import type { ProgramForm } from './run-state.js';

/** Queries to a program that has ended. They may run its getters, which cannot change how it ended. */
export interface Ended {
  /** The text that the boot code returns; undefined if the query raised an exception. */
  ask(name: EntryName): Buffer | undefined;
}

/** Findings that the author of an ended program should know. */
export function noticedIn(
  ended: Ended,
  left: LeftOpen | undefined,
  resultJson: Buffer,
): { lost?: LostValues; unawaited?: UnawaitedCalls; stillOpen?: UnawaitedCalls } {
  // If its callbacks assigned a later value, that value is in the result, so they were waited for.
  const isMissed = left?.stillOpen !== undefined && left.resultJson.equals(resultJson);
  return {
    ...lostIn(ended, 'lostInResult'),
    ...unusedCalls(ended),
    ...(isMissed ? { stillOpen: left.stillOpen } : {}),
  };
}

/** Values in its result that JSON cannot express. */
export function lostIn(ended: Ended, name: 'lostInResult' | 'lostInValue'): { lost?: LostValues } {
  const lost = textOf(ended, name);
  return lost === '' ? {} : { lost: JSON.parse(lost) as LostValues };
}

/** The calls open when the last line had run, and the result at that time. */
export interface LeftOpen {
  readonly resultJson: Buffer;
  readonly isAssigned: boolean;
  /** Something awaits or races each open call: none was made for its effect alone. */
  readonly areUsed: boolean;
  /** Every open call lost a race. */
  readonly isRaceOver: boolean;
  readonly stillOpen?: UnawaitedCalls;
}

/** Inspected once, while the answers are still in flight. */
export function leftOpenBy(ended: Ended): LeftOpen {
  const { soFarJson } = resultSoFar(ended);
  if (soFarJson === undefined) return { resultJson: NOTHING, isAssigned: false, areUsed: false, isRaceOver: false };
  const { stillOpen, unawaited, isRaceOver = false } = unawaitedCalls(ended);
  const areUsed = unawaited === undefined;
  // Calls that lost a race are left open by intent.
  const isTold = stillOpen !== undefined && !isRaceOver;
  return { resultJson: soFarJson, isAssigned: true, areUsed, isRaceOver, ...(isTold ? { stillOpen } : {}) };
}

/**
 * What remains of a failed program: the result it had assigned so far. A call that was not awaited is reported only if it may be
 * the cause, because the promise lacks the fields of the answer. Other calls might have been awaited later.
 */
export function leftBy(
  ended: Ended,
  { kind, name }: Failure,
  form: ProgramForm,
): { soFarJson?: Buffer; unawaited?: UnawaitedCalls } {
  // The calls of a script block it.
  if (kind === 'syntax' || kind === 'import' || form === 'script') return {};
  // A body has a result only if it reaches its end.
  return { ...(name === 'TypeError' ? unusedCalls(ended) : {}), ...(form === 'module' ? resultSoFar(ended) : {}) };
}

interface CallsOfGuest {
  readonly count: number;
  readonly calls: readonly { name: string; times: number; stack: string }[];
}

function unusedCalls(ended: Ended): { unawaited?: UnawaitedCalls } {
  const { unawaited } = unawaitedCalls(ended);
  return omitUndefined({ unawaited });
}

/** The calls that it never awaited: their promises are unused, or used only by code that nothing awaits. */
function unawaitedCalls(ended: Ended): {
  unawaited?: UnawaitedCalls;
  stillOpen?: UnawaitedCalls;
  isRaceOver?: boolean;
} {
  const json = textOf(ended, 'unawaitedCalls');
  if (json === '') return {};
  const { unused, open, isRaceOver } = JSON.parse(json) as {
    unused: CallsOfGuest;
    open: CallsOfGuest;
    isRaceOver: boolean;
  };
  return {
    isRaceOver,
    ...(unused.count === 0 ? {} : { unawaited: placedCalls(unused) }),
    ...(open.count === 0 ? {} : { stillOpen: placedCalls(open) }),
  };
}

function placedCalls({ count, calls }: CallsOfGuest): UnawaitedCalls {
  const placed = calls.map(({ name, times, stack }) => {
    const position = firstPosition(stack);
    return { name: name.slice(0, MAX_NAME_CHARACTERS), times, ...omitUndefined({ position }) };
  });
  return { count, calls: placed };
}

/** The result it had assigned before it failed, if there is one and it fits. */
function resultSoFar(ended: Ended): { soFarJson?: Buffer } {
  const soFarJson = ended.ask('collectResult');
  if (soFarJson === undefined) return {};
  return soFarJson.byteLength > MAX_VALUE_BYTES || soFarJson.equals(NOTHING) ? {} : { soFarJson };
}

const MAX_NAME_CHARACTERS = 256;
const NOTHING = Buffer.from('null');

function textOf(ended: Ended, name: EntryName): string {
  return ended.ask(name)?.toString('utf8') ?? '';
}
