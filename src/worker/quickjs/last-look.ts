import type { Failure, LostValues, UnawaitedCalls } from '../../domain/execution.js';
import { MAX_VALUE_BYTES } from '../../wire/messages.js';
import type { Engine } from './engine.js';
import type { EntryName } from './image.js';
import { firstPosition } from './positions.js';

/** What is asked of a program that has ended. Its own getters may run for it: whatever they do changes nothing of the end. */
export interface Ended {
  readonly engine: Engine;
  enter(name: EntryName): number;
}

/** What an author should know of a program that came to its end. */
export function noticedIn(ended: Ended): { lost?: LostValues; unawaited?: UnawaitedCalls } {
  const lost = textOf(ended, 'lostInResult');
  return { ...(lost === '' ? {} : { lost: JSON.parse(lost) as LostValues }), ...unawaitedCalls(ended) };
}

/**
 * What is left of one that failed: the value it had assigned so far. A call that was not awaited is told only where it may
 * be the reason, because the promise has no fields of the answer: others were perhaps to be awaited later.
 */
export function leftBy(ended: Ended, { kind, name }: Failure): { soFarJson?: Buffer; unawaited?: UnawaitedCalls } {
  if (kind === 'syntax' || kind === 'import') return {};
  return { ...(name === 'TypeError' ? unawaitedCalls(ended) : {}), ...resultSoFar(ended) };
}

/** The calls that it made and never waited for. */
function unawaitedCalls(ended: Ended): { unawaited?: UnawaitedCalls } {
  const json = textOf(ended, 'unawaitedCalls');
  if (json === '') return {};
  const { count, calls } = JSON.parse(json) as {
    count: number;
    calls: { name: string; times: number; stack: string }[];
  };
  const placed = calls.map(({ name, times, stack }) => {
    const position = firstPosition(stack);
    return { name: name.slice(0, MAX_NAME_CHARACTERS), times, ...(position === undefined ? {} : { position }) };
  });
  return { unawaited: { count, calls: placed } };
}

/** What it had assigned to its result before it failed, where that is anything, and fits. */
function resultSoFar({ engine, enter }: Ended): { soFarJson?: Buffer } {
  const result = enter('collectResult');
  if (engine.isException(result)) return {};
  const soFarJson = engine.readBytes(result);
  return soFarJson.byteLength > MAX_VALUE_BYTES || soFarJson.equals(NOTHING) ? {} : { soFarJson };
}

const MAX_NAME_CHARACTERS = 256;
const NOTHING = Buffer.from('null');

function textOf({ engine, enter }: Ended, name: EntryName): string {
  const found = enter(name);
  return engine.isException(found) ? '' : engine.readText(found);
}
