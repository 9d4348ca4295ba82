import { HostError } from '../../../domain/errors.js';

/** Where ids of one kind are looked up. */
export interface IdPlace {
  readonly noun: 'run' | 'approval' | 'grant';
  /** The command that lists them. */
  readonly listedBy: string;
  /** Ids with this prefix, at most `limit`. */
  idsWith(prefix: string, limit: number): string[] | Promise<string[]>;
  /** The id that `last` means. */
  latest(): string | undefined | Promise<string | undefined>;
}

/** Shorter prefixes are more often typing mistakes than ids. */
export const MIN_PREFIX = 4;
/** The word that means the newest one. */
export const LAST = 'last';
/** Number of candidates shown for an ambiguous prefix. */
const MAX_SHOWN = 5;

/**
 * The id that the user means: a whole id, an unambiguous prefix of at least 4 characters, or `last`. Throws `bad_input` or
 * `not_found`, and never guesses.
 */
export async function resolveId(given: string, place: IdPlace): Promise<string> {
  const id = await findId(given, place);
  if (id !== undefined) return id;
  const { noun, listedBy } = place;
  if (given === LAST) throw new HostError('not_found', `there is no ${noun} yet; list them with: ${listedBy}`);
  throw new HostError(
    'not_found',
    `there is no ${noun} ${JSON.stringify(given.slice(0, 60))}; list them with: ${listedBy}`,
  );
}

/** Like `resolveId`, but undefined if nothing matches. */
export async function findId(given: string, place: IdPlace): Promise<string | undefined> {
  if (given === LAST) return place.latest();
  const found = await place.idsWith(given, MAX_SHOWN + 1);
  if (found.includes(given)) return given;
  const { noun, listedBy } = place;
  if (given.length < MIN_PREFIX)
    throw new HostError(
      'bad_input',
      `${JSON.stringify(given)} is too short for the id of ${article(noun)}; give at least ${MIN_PREFIX} characters of it, or ${LAST}`,
    );
  if (found.length < 2) return found[0];
  const shown = found.slice(0, MAX_SHOWN).join(', ');
  const more = found.length > MAX_SHOWN ? ' and more' : '';
  throw new HostError(
    'bad_input',
    `${JSON.stringify(given.slice(0, 60))} matches several ${noun}s: ${shown}${more}; give more characters, or see: ${listedBy}`,
  );
}

function article(noun: string): string {
  return noun === 'approval' ? `an ${noun}` : `a ${noun}`;
}

/** Whether this is a complete run id. */
export function isWholeId(given: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(given);
}

/** The shortest prefixes that distinguish the ids in the list, at least 8 characters long. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const unique = new Set(ids);
  const fits = (length: number) => new Set([...unique].map((id) => shortened(id, length))).size === unique.size;
  let length = SHORT_CHARACTERS;
  while (length < MAX_ID_CHARACTERS && !fits(length)) length += 1;
  return (id) => shortened(id, length);
}

const SHORT_CHARACTERS = 8;
const MAX_ID_CHARACTERS = 64;
/** Direct calls of a client have run ids with this prefix, which distinguishes nothing. */
const WORD_IN_FRONT = /^direct-/;

function shortened(id: string, length: number): string {
  const word = WORD_IN_FRONT.exec(id)?.[0] ?? '';
  return id.slice(0, word.length + length);
}
