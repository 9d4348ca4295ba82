import type { ApprovalView } from '../../../../src/domain/console/approvals.js';
import { sentence, time } from '../../lib/format.js';
import { Foreign } from '../../ui/foreign.js';

/** Who decided, how and for how long. The calls of a card may have been decided one after another: then each decision names its calls. */
export function Decided({ calls }: { calls: readonly ApprovalView[] }) {
  const groups = groupedByDecision(calls);
  return (
    <>
      {groups.map((group) => (
        <p key={group[0].id} class="note">
          {groups.length > 1 &&
            `${group.length === 1 ? 'Call' : 'Calls'} ${group.map(({ call }) => call).join(', ')}: `}
          <Outcome calls={group} />
        </p>
      ))}
    </>
  );
}

type Group = readonly [ApprovalView, ...ApprovalView[]];

function Outcome({ calls }: { calls: Group }) {
  const [{ state, decision }] = calls;
  const isOne = calls.length === 1;
  if (decision === undefined)
    return (
      <>
        {state === 'EXPIRED'
          ? `Nobody decided in time: ${isOne ? 'the call was' : 'the calls were'} refused.`
          : sentence(state.toLowerCase())}
      </>
    );
  const { by, atMs, scope, reason } = decision;
  return (
    <>
      {state === 'DENIED' ? 'Denied' : 'Approved'} by <Foreign text={by} limit={80} /> at {time(atMs)}
      {state !== 'DENIED' && `, ${SCOPE_WORDS[scope] ?? (isOne ? 'for this call only' : 'for these calls only')}`}
      {reason === undefined ? (
        '.'
      ) : (
        <>
          : <Foreign text={reason} limit={500} />
        </>
      )}
    </>
  );
}

const SCOPE_WORDS: Readonly<Record<string, string>> = {
  run: 'for this tool, until the run ended',
  hour: 'for this tool, for an hour',
};

/** Calls that were decided by one press of a button are decided one after another: within a moment. */
const MOMENT_MS = 2_000;

function groupedByDecision(calls: readonly ApprovalView[]): readonly Group[] {
  const groups: [ApprovalView, ...ApprovalView[]][] = [];
  for (const call of calls) {
    const known = groups.find(([first]) => isDecidedWith(first, call));
    if (known === undefined) groups.push([call]);
    else known.push(call);
  }
  return groups;
}

function isDecidedWith(first: ApprovalView, other: ApprovalView): boolean {
  const wordsOf = ({ state, decision }: ApprovalView) =>
    JSON.stringify([state, decision?.by, decision?.scope, decision?.reason]);
  const atMs = ({ decision }: ApprovalView) => decision?.atMs ?? 0;
  return wordsOf(first) === wordsOf(other) && Math.abs(atMs(first) - atMs(other)) < MOMENT_MS;
}
