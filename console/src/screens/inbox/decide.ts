import type {
  ApprovalView,
  DecideAnswer,
  DecideOutcome,
  DecideRequest,
} from '../../../../src/domain/console/approvals.js';
import { request } from '../../api/request.js';
import { count, counted, time } from '../../lib/format.js';
import { foreignLabel } from '../../ui/foreign.js';

/** Maximum calls in one request. */
const MAX_CALLS = 500;

export interface Decision {
  readonly decision: 'approve' | 'deny';
  readonly calls: readonly Pick<ApprovalView, 'id' | 'digest'>[];
  readonly scope: NonNullable<DecideRequest['scope']>;
  readonly reason: string;
}

/** Sends a decision, in several requests if it is large. */
export async function decide({ decision, calls, scope, reason }: Decision): Promise<readonly DecideOutcome[]> {
  const outcomes: DecideOutcome[] = [];
  for (let from = 0; from < calls.length; from += MAX_CALLS) {
    const body: DecideRequest = {
      decision,
      calls: calls.slice(from, from + MAX_CALLS).map(({ id, digest }) => ({ id, digest })),
      scope,
      ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
    };
    outcomes.push(...(await request<DecideAnswer>('decide', { body })).outcomes);
  }
  return outcomes;
}

/** Messages for the person who decided: one for each kind of outcome. */
export function describeOutcomes(decision: 'approve' | 'deny', outcomes: readonly DecideOutcome[]): readonly string[] {
  const of = (kind: DecideOutcome['outcome']) => outcomes.filter(({ outcome }) => outcome === kind);
  const texts: string[] = [];
  const decided = of('decided').length;
  if (decided > 0) texts.push(`${decision === 'approve' ? 'Approved' : 'Denied'} ${counted(decided, 'call')}.`);
  const before = of('decided_before');
  if (before.length > 0) texts.push(describeEarlier(before));
  const expired = of('expired').length;
  if (expired > 0) texts.push(`${counted(expired, 'call')} had expired: the program has to ask again.`);
  const missing = of('not_found').length;
  if (missing > 0) texts.push(missing === 1 ? '1 call no longer exists.' : `${count(missing)} calls no longer exist.`);
  const changed = of('changed').length;
  if (changed > 0)
    texts.push(
      changed === 1
        ? '1 call changed since it was shown. Look at it again.'
        : `${count(changed)} calls changed since they were shown. Look at them again.`,
    );
  for (const message of new Set(of('refused').map((each) => each.message ?? 'It was refused.'))) {
    texts.push(foreignLabel(message, 400));
  }
  return texts;
}

function describeEarlier(outcomes: readonly DecideOutcome[]): string {
  const [first] = outcomes;
  const what = counted(outcomes.length, 'call');
  return first?.approval === undefined ? `${what} had been decided before you.` : earlierDecision(first.approval, what);
}

/** `bob denied it at 12:01:33, before you.` */
export function earlierDecision(approval: ApprovalView, what: string): string {
  const { decision, state } = approval;
  if (decision === undefined) return `${what}: ${state.toLowerCase()}.`;
  const verb = state === 'DENIED' ? 'denied' : 'approved';
  return `${foreignLabel(decision.by, 80)} ${verb} ${what} at ${time(decision.atMs)}, before you.`;
}
