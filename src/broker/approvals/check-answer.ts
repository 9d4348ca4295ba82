import { type Approval, cardsOf, type GrantScope, scopesOf } from '../../domain/approval.js';
import { HostError } from '../../domain/errors.js';
import { cardDigest, isSameDigest } from '../../lib/secrets/card-digest.js';
import type { ApprovalStore } from '../../store/approvals.js';

/** A person's answer to an approval, and its scope. */
export interface Answer {
  readonly by: string;
  readonly reason?: string;
  readonly scope: GrantScope;
  /**
   * The ids of the calls on the card, this one among them. With scope `calls` they or `digest` must be given: one of the two
   * identifies what was shown.
   */
  readonly ids?: readonly string[];
  /** SHA-256 of what was shown, or at least its first 16 digits. If it differs, nothing is decided. */
  readonly digest?: string;
}

/**
 * Checks that an answer is about what the person was shown. Returns the ids that are decided together with this one. Throws if
 * the answer does not fit the approval.
 */
export async function checkAnswer(
  store: Pick<ApprovalStore, 'ofRun' | 'find'>,
  asked: Approval,
  state: 'APPROVED' | 'DENIED',
  { scope, ids, digest }: Pick<Answer, 'scope' | 'ids' | 'digest'>,
): Promise<string[]> {
  if (state === 'APPROVED' && !scopesOf(asked).includes(scope)) throw noSuchScope(scope);
  const others =
    scope !== 'calls' ? [] : await (ids === undefined ? onSameCard(store, asked) : named(store, asked, ids));
  if (ids !== undefined && !ids.includes(asked.id)) throw notOnCard(asked);
  const decided = [asked, ...others];
  if (digest !== undefined && !isSameDigest(cardDigest(decided), digest)) throw otherDigest(decided);
  if (state === 'DENIED') return idsOf(others);
  // A call that was made after the person looked was not shown on the card.
  if (others.length > 0 && ids === undefined && digest === undefined) throw unnamed(asked, decided.length);
  if (decided.some(({ isUnreadable }) => isUnreadable === true))
    throw new HostError(
      'conflict',
      'the stored record of this call was changed, so what would be approved is unknown; deny it, and run the program again',
    );
  return idsOf(others);
}

async function onSameCard(store: Pick<ApprovalStore, 'ofRun'>, { id, runId }: Approval): Promise<Approval[]> {
  const card = cardsOf(await store.ofRun(runId)).find((each) => each.some((other) => other.id === id)) ?? [];
  return card.filter((other) => other.id !== id);
}

async function named(
  store: Pick<ApprovalStore, 'find'>,
  { id }: Approval,
  ids: readonly string[],
): Promise<Approval[]> {
  const others: Approval[] = [];
  for (const other of new Set(ids)) {
    if (other === id) continue;
    const found = await store.find(other);
    if (found === undefined)
      throw new HostError(
        'not_found',
        `there is no approval ${JSON.stringify(other.slice(0, 100))}; nothing was decided`,
      );
    if (found.state === 'PENDING') others.push(found);
  }
  return others;
}

function idsOf(approvals: readonly Approval[]): string[] {
  return approvals.map(({ id }) => id);
}

function noSuchScope(scope: string): HostError {
  return new HostError(
    'bad_input',
    `scope ${scope} is not for a call that belongs to no run; use call, or hour for every such call of this tool for an hour`,
  );
}

function otherDigest(decided: readonly Approval[]): HostError {
  const what = decided.length === 1 ? 'the arguments of this call have' : `these ${decided.length} calls have`;
  return new HostError(
    'conflict',
    `nothing was decided: ${what} the digest ${cardDigest(decided)}, not the one that was given. Look again: codemode approvals show ${decided[0]?.id}${decided.length === 1 ? '' : ' --scope calls'}`,
  );
}

function notOnCard({ id }: Approval): HostError {
  return new HostError(
    'conflict',
    `nothing was decided: ${id} is not one of the ids that were named. Look again: codemode approvals show ${id}`,
  );
}

function unnamed({ id }: Approval, count: number): HostError {
  return new HostError(
    'bad_input',
    `scope calls would approve ${count} calls that were not named; look at them with: codemode approvals show ${id} --scope calls, then give the digest that it shows`,
  );
}
