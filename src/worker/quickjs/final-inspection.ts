import type { Failure, LostValues, UnawaitedCalls } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { MAX_VALUE_BYTES } from '../../wire/messages.js';
import type { EntryName } from './image.js';
import { firstPosition } from './positions.js';

/** What is asked of a program that has ended. Its own getters may run for it: whatever they do changes nothing of the end. */
export interface Ended {
  /** The text that the boot code answers with; undefined where asking raised an exception. */
  ask(name: EntryName): Buffer | undefined;
}

/** What an author should know of a program that ended. */
export function noticedIn(
  ended: Ended,
  left: LeftOpen | undefined,
  resultJson: Buffer,
): { lost?: LostValues; unawaited?: UnawaitedCalls; stillOpen?: UnawaitedCalls } {
  // What its callbacks assigned later is in the result: then they were waited for.
  const isMissed = left?.stillOpen !== undefined && left.resultJson.equals(resultJson);
  return {
    ...lostIn(ended, 'lostInResult'),
    ...unusedCalls(ended),
    ...(isMissed ? { stillOpen: left.stillOpen } : {}),
  };
}

/** What JSON has no word for in its result. */
export function lostIn(ended: Ended, name: 'lostInResult' | 'lostInValue'): { lost?: LostValues } {
  const lost = textOf(ended, name);
  return lost === '' ? {} : { lost: JSON.parse(lost) as LostValues };
}

/** What was open when the last line had run, and the result by then. */
export interface LeftOpen {
  readonly resultJson: Buffer;
  readonly isAssigned: boolean;
  /** Something awaits or races each call without an answer: none was made for its effect alone. */
  readonly areUsed: boolean;
  /** Whatever is open lost a race. */
  readonly isRaceOver: boolean;
  readonly stillOpen?: UnawaitedCalls;
}

/** Looked at once, while the answers are still in progress. */
export function leftOpenBy(ended: Ended): LeftOpen {
  const { soFarJson } = resultSoFar(ended);
  if (soFarJson === undefined) return { resultJson: NOTHING, isAssigned: false, areUsed: false, isRaceOver: false };
  const { stillOpen, unawaited, isRaceOver = false } = unawaitedCalls(ended);
  const areUsed = unawaited === undefined;
  // What lost a race is left open by intent.
  const isTold = stillOpen !== undefined && !isRaceOver;
  return { resultJson: soFarJson, isAssigned: true, areUsed, isRaceOver, ...(isTold ? { stillOpen } : {}) };
}

/**
 * What is left of one that failed: the value it had assigned so far. A call that was not awaited is told only where it may
 * be the reason, because the promise has no fields of the answer: others were perhaps to be awaited later.
 */
export function leftBy(ended: Ended, { kind, name }: Failure): { soFarJson?: Buffer; unawaited?: UnawaitedCalls } {
  if (kind === 'syntax' || kind === 'import') return {};
  return { ...(name === 'TypeError' ? unusedCalls(ended) : {}), ...resultSoFar(ended) };
}

interface CallsOfGuest {
  readonly count: number;
  readonly calls: readonly { name: string; times: number; stack: string }[];
}

function unusedCalls(ended: Ended): { unawaited?: UnawaitedCalls } {
  const { unawaited } = unawaitedCalls(ended);
  return unawaited === undefined ? {} : { unawaited };
}

/** The calls that it made and never waited for: their promises unused, or used by what nothing waits for. */
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

/** What it had assigned to its result before it failed, where that is anything, and fits. */
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
