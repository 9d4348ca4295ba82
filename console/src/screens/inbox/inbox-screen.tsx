import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApprovalCard, ApprovalPage, ApprovalView } from '../../../../src/domain/console/approvals.js';
import type { JsonValue } from '../../../../src/domain/json.js';
import { omitUndefined } from '../../../../src/lib/omit-undefined.js';
import { pendingApprovals } from '../../api/live.js';
import { request } from '../../api/request.js';
import { usePages } from '../../api/use-pages.js';
import { counted } from '../../lib/format.js';
import { useKeys } from '../../lib/keys.js';
import { place, setOptions } from '../../lib/router.js';
import { runLink } from '../../lib/run-link.js';
import { useStore } from '../../lib/store.js';
import { isNotifying, toggleNotifications } from '../../notify.js';
import { Countdown } from '../../ui/countdown.js';
import { ForeignLine, foreignLabel } from '../../ui/foreign.js';
import { ActionButton, Badge, Empty, Loading, PageHead, Problem, Tabs } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';
import { VirtualList } from '../../ui/virtual-list.js';
import type { ScreenProps } from '../screen-props.js';
import { compare } from './arguments-table.js';
import { CardDetail, StateBadge } from './card-detail.js';
import { type Decision, decide, describeOutcomes, earlierDecision } from './decide.js';
import { Grants } from './grants.js';

const PAGE = 100;
const ROW = 76;
type Shown = 'pending' | 'all' | 'grants';

/** The approvals that wait for a decision, and those that stand. */
export function InboxScreen(_: ScreenProps) {
  const [shown, setShown] = useState<Shown>(place.get().options.has('grants') ? 'grants' : 'pending');
  const listed = shown === 'all' ? 'all' : 'pending';
  const [text, setText] = useState('');
  const pages = usePages<ApprovalCard>(
    listed,
    async (cursor, signal) => {
      const page = await request<ApprovalPage>('approvals', { query: { state: listed, limit: PAGE, cursor }, signal });
      pendingApprovals.set(page.pending);
      return { items: page.cards, ...omitUndefined({ cursor: page.cursor }) };
    },
    (event) => event.type === 'approvals',
  );
  const pending = useStore(pendingApprovals);
  // Kept in the address: after a reload, keys still decide about the card that was selected.
  const selectedId = useStore(place).options.get('card') ?? undefined;
  const setSelectedId = (card: string | undefined) => setOptions({ card });
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const own = useRef(new Set<string>());
  const isAfterDecision = useRef(false);

  const cards = text === '' ? pages.items : pages.items.filter((card) => matches(card, text));
  const index = Math.max(
    0,
    cards.findIndex(({ id }) => id === selectedId),
  );
  const selected = cards[index];
  useTellOfOthers(listed === 'pending' ? pages.items : undefined, selectedId, own.current);

  const select = (next: number, focus = false) => {
    const card = cards[Math.min(cards.length - 1, Math.max(0, next))];
    setSelectedId(card?.id);
    if (focus && card !== undefined) focusCard(card.id);
  };
  useKeys([
    { key: 'j', label: 'Next card', run: () => select(index + 1, true) },
    { key: 'k', label: 'Previous card', run: () => select(index - 1, true) },
    {
      key: 'x',
      label: 'Select the card for a batch',
      run: () => shown !== 'grants' && selected !== undefined && toggle(selected.id),
    },
  ]);
  const toggle = (id: string) => {
    const next = new Set(picked);
    if (!next.delete(id)) next.add(id);
    setPicked(next);
  };

  // The pressed button goes with its card. The next card gets the focus, not its button: nothing is decided by a second press.
  useEffect(() => {
    if (!isAfterDecision.current) return;
    const { activeElement } = document;
    if (selected !== undefined && (activeElement === document.body || activeElement?.id === 'main'))
      focusCard(selected.id);
    if (!pages.isLoading) isAfterDecision.current = false;
  });

  const onDecide = async (decision: Decision) => {
    for (const { id } of decision.calls) own.current.add(id);
    const next = cards[index + 1] ?? cards[index - 1];
    const outcomes = await decide(decision);
    const texts = describeOutcomes(decision.decision, outcomes);
    const isClean = outcomes.every(({ outcome }) => outcome === 'decided');
    say(texts.join(' '), isClean ? 'plain' : 'bad', isClean ? runOf(selected, decision) : undefined);
    setPicked(new Set());
    isAfterDecision.current = true;
    // A card has the id of its first call. Calls that were left out form a card with another id, which stays in sight.
    const decided = new Set(decision.calls.map(({ id }) => id));
    setSelectedId((selected?.calls.find(({ id }) => !decided.has(id)) ?? next)?.id);
    pages.reload();
  };
  const batch = cards.filter(({ id }) => picked.has(id));
  const decideBatch = (decision: Decision['decision']) =>
    onDecide({ decision, calls: batch.flatMap(({ calls }) => calls), scope: 'call', reason: '' });

  return (
    <>
      <PageHead
        title="Inbox"
        lead={
          pending === 0
            ? 'Calls that your policy asks a person about.'
            : `${counted(pending, 'call')} ${pending === 1 ? 'waits' : 'wait'} for a decision.`
        }
      >
        <Tabs
          label="Which approvals"
          tabs={[
            ['pending', 'Waiting'],
            ['all', 'All'],
            ['grants', 'Standing approvals'],
          ]}
          chosen={shown}
          onChoose={setShown}
        />
        <NotifyButton />
      </PageHead>
      {pages.error !== undefined && <Problem error={pages.error} retry={pages.reload} />}
      {shown === 'grants' ? (
        <Grants />
      ) : pages.items.length === 0 ? (
        pages.isLoading ? (
          <Loading what="approvals" />
        ) : (
          <NothingWaits />
        )
      ) : (
        <div class="inbox">
          <section class="panel inbox-list" aria-label="Cards">
            <div class="panel-head">
              <input
                class="input grow"
                type="search"
                placeholder="Search ( / )"
                aria-label="Search the cards"
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
              />
            </div>
            {picked.size > 0 && (
              <div class="panel-head batch">
                <span class="strong">{counted(batch.length, 'card')} selected</span>
                <span class="row tight">
                  <ActionButton class="small danger" run={() => decideBatch('deny')}>
                    Deny selected
                  </ActionButton>
                  <ActionButton class="small primary" run={() => decideBatch('approve')}>
                    Approve selected
                  </ActionButton>
                </span>
              </div>
            )}
            <VirtualList
              label="Approvals"
              count={cards.length}
              rowHeight={ROW}
              height={`min(${Math.max(1, cards.length) * ROW}px, var(--list-height))`}
              active={index}
              onNearEnd={pages.loadMore}
              row={(each) => {
                const card = cards[each];
                return (
                  card !== undefined && (
                    <Row
                      card={card}
                      isSelected={card === selected}
                      isPicked={picked.has(card.id)}
                      onSelect={() => {
                        setSelectedId(card.id);
                        showCard();
                      }}
                      onPick={() => toggle(card.id)}
                    />
                  )
                );
              }}
            />
          </section>
          {selected === undefined ? (
            <Empty icon="inbox" title="No card matches">
              <p>Change the search to see the others.</p>
            </Empty>
          ) : (
            <CardDetail key={selected.id} card={selected} onDecide={onDecide} />
          )}
        </div>
      )}
    </>
  );
}

/** The run that shows the effect of a decision about one card. */
function runOf(card: ApprovalCard | undefined, { calls }: Decision) {
  if (card === undefined || card.isDirect || !calls.every(({ id }) => card.calls.some((each) => each.id === id)))
    return undefined;
  return { href: runLink(card.runId), label: 'Open the run' };
}

function Row({
  card,
  isSelected,
  isPicked,
  onSelect,
  onPick,
}: {
  card: ApprovalCard;
  isSelected: boolean;
  isPicked: boolean;
  onSelect: () => void;
  onPick: () => void;
}) {
  const name = `${card.serverId}/${card.toolName}`;
  return (
    <div class={`card-row ${isSelected ? 'selected' : ''}`}>
      {card.state === 'PENDING' && (
        <input type="checkbox" checked={isPicked} aria-label={`Select ${foreignLabel(name, 60)}`} onChange={onPick} />
      )}
      <button type="button" id={`card-${card.id}`} aria-current={isSelected} onClick={onSelect}>
        <span class="row tight spread">
          <span class="mono strong clip">
            <ForeignLine text={name} limit={90} />
          </span>
          {card.state === 'PENDING' ? (
            <span class="small">
              <Countdown atMs={card.expiresAtMs} />
            </span>
          ) : (
            <StateBadge state={card.state} />
          )}
        </span>
        <span class="row tight small muted">
          {card.callCount > 1 && (
            <Badge tone={card.state === 'PENDING' ? 'wait' : 'calm'}>{counted(card.callCount, 'call')}</Badge>
          )}
          <span class="clip">
            <ForeignLine text={summaryOf(card)} limit={120} />
          </span>
        </span>
      </button>
    </div>
  );
}

/** What distinguishes a card: the arguments of a single call, else the first argument that differs between the calls. */
function summaryOf({ calls, runTitle, reason }: ApprovalCard): string {
  const [first] = calls;
  if (first === undefined || first.isCut) return runTitle ?? reason;
  const [column] = calls.length > 1 ? compare(calls).columns : [];
  const inOrder = [...calls].sort((a, b) => a.call - b.call);
  const shown = column === undefined ? [first.arguments] : inOrder.map((call) => fieldOf(call.arguments, column));
  return shown.map(words).join(', ').slice(0, GLANCE_CHARACTERS);
}

function fieldOf(value: JsonValue, name: string): JsonValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? ((value as Readonly<Record<string, JsonValue>>)[name] ?? null)
    : value;
}

/** Readable text instead of JSON, if the value is simple. */
function words(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${typeof each === 'string' ? each : JSON.stringify(each)}`)
    .join(' · ');
}

const GLANCE_CHARACTERS = 200;

function NothingWaits() {
  return (
    <div class="panel">
      <Empty icon="inbox" title="Nothing waits for a decision">
        <p>
          When a program calls a tool that your policy marks <code>ask</code>, the call appears here and the program
          waits. <a href="#/playground">Write a program</a> that calls one, or{' '}
          <a href="#/tools">see what is asked about</a>.
        </p>
      </Empty>
    </div>
  );
}

function NotifyButton() {
  const isOn = useStore(isNotifying);
  const press = async () => {
    const now = await toggleNotifications();
    if (now === 'on') say('The browser tells you when a call waits while you are in another window.');
    if (now === 'refused')
      say('The browser does not allow notifications for this page. Allow them in its settings.', 'bad');
  };
  return (
    <button type="button" class="button" aria-pressed={isOn} onClick={() => void press()}>
      {isOn ? 'Stop notifying me' : 'Notify me'}
    </button>
  );
}

/** If the selected card disappears and this person did not decide it, says who did. */
function useTellOfOthers(
  cards: readonly ApprovalCard[] | undefined,
  selectedId: string | undefined,
  own: ReadonlySet<string>,
): void {
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (cards === undefined) return;
    const id = before.current;
    before.current = cards.some((card) => card.id === selectedId) ? selectedId : cards[0]?.id;
    if (id === undefined || own.has(id) || cards.some((card) => card.id === id)) return;
    request<ApprovalView>('approval', { path: { id } }).then(
      (approval) => {
        if (approval.state === 'EXPIRED') say('The call that you looked at has expired: nobody decided in time.');
        else if (approval.state !== 'PENDING') say(earlierDecision(approval, 'the call that you looked at'));
      },
      () => {},
    );
  }, [cards, selectedId]);
}

/** If there is room for only one column, the card is below the list. */
function showCard(): void {
  if (!matchMedia('(max-width: 1000px)').matches) return;
  requestAnimationFrame(() => document.querySelector('.card')?.scrollIntoView({ block: 'start' }));
}

function focusCard(id: string): void {
  requestAnimationFrame(() => document.getElementById(`card-${id}`)?.focus({ preventScroll: true }));
}

function matches(card: ApprovalCard, text: string): boolean {
  const wanted = text.toLowerCase();
  return [card.serverId, card.toolName, card.caller, card.runTitle ?? '', card.reason].some((each) =>
    each.toLowerCase().includes(wanted),
  );
}
