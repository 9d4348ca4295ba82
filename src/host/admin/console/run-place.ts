import { HostError } from '../../../domain/errors.js';
import type { RunPlace } from '../../../store/runs.js';

/** The cursor for the next page of runs. */
export function writePlace({ createdAtMs, rowid }: RunPlace): string {
  return `${createdAtMs}.${rowid}`;
}

/** Throws `bad_input`. */
export function readPlace(cursor: string): RunPlace {
  const [, createdAtMs, rowid] = /^(\d{1,16})\.(\d{1,16})$/.exec(cursor) ?? [];
  if (createdAtMs === undefined || rowid === undefined)
    throw new HostError('bad_input', 'cursor: is not valid; load the list from its beginning');
  return { createdAtMs: Number(createdAtMs), rowid: Number(rowid) };
}
