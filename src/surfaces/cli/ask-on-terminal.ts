import { type Approval, cardsOf, type GrantScope } from '../../domain/approval.js';
import type { AskPerson } from '../../host/execution.js';
import type { Approvals } from '../../host/host.js';
import { escapeInvisible, visibleText } from '../../lib/visible-text.js';
import { plain, styled } from './terminal.js';
import { askLine, hasPersonAtTerminal } from './terminal-line.js';
import { userName } from './user-name.js';

/** Somebody may decide on another screen while the question is shown here. */
const LOOK_EVERY_MS = 300;
/** Who types something else so often does not mean yes. */
const MAX_TRIES = 3;

/**
 * Asks the person at this terminal about calls that need one, one card after the other. `undefined` where there is no
 * terminal: then the run is suspended, and the person decides with `codemode approvals`.
 */
export function askerOnTerminal(approvals: Pick<Approvals, 'decide' | 'find'>): AskPerson | undefined {
  if (!hasPersonAtTerminal()) return undefined;
  // One question at a time: two runs of readline on one terminal would each get half of what is typed.
  let last: Promise<void> = Promise.resolve();
  return (asked, signal) => {
    const turn = last.then(async () => {
      for (const card of cardsOf(asked)) await askCard(approvals, card, signal);
    });
    last = turn.catch(() => {});
    return turn;
  };
}

async function askCard(
  approvals: Pick<Approvals, 'decide' | 'find'>,
  card: readonly Approval[],
  signal: AbortSignal,
): Promise<void> {
  // The answer to the card before may have covered some of these.
  const open: Approval[] = [];
  for (const approval of card) if (await isOpen(approvals, approval.id)) open.push(approval);
  const [first] = open;
  if (first === undefined || signal.aborted) return;
  const choice = await chooseFor(approvals, open, signal);
  if (choice === undefined) return;
  const answer = { by: `${userName()} (terminal)` };
  if (choice === 'run' || choice === 'hour') {
    await approvals.decide(first.id, 'APPROVED', { ...answer, scope: choice });
    return;
  }
  // Each by its own id: a call that came while the person was reading was not shown, and is not decided.
  for (const { id } of open)
    await approvals.decide(id, choice === 'call' ? 'APPROVED' : 'DENIED', { ...answer, scope: 'call' });
}

const PROMPT = 'Allow? [y/N/run/hour] ';

type Choice = Exclude<GrantScope, 'calls'> | 'no';

const CHOICES: Readonly<Record<string, Choice>> = {
  y: 'call',
  yes: 'call',
  run: 'run',
  hour: 'hour',
  n: 'no',
  no: 'no',
  '': 'no',
};

/** What the person says, or `undefined` where somebody else has decided, or nobody waits for it any more. */
async function chooseFor(
  approvals: Pick<Approvals, 'find'>,
  card: readonly Approval[],
  signal: AbortSignal,
): Promise<Choice | undefined> {
  const [first] = card as readonly [Approval];
  const elsewhere = new AbortController();
  const looking = setInterval(() => {
    void isOpen(approvals, first.id).then((is) => is || elsewhere.abort());
  }, LOOK_EVERY_MS);
  try {
    let text = cardText(card);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const line = await askLine(text, PROMPT, AbortSignal.any([signal, elsewhere.signal]));
      if (line === undefined || line === 'refused') return line === undefined ? undefined : 'no';
      const choice = CHOICES[line.text.trim().toLowerCase()];
      if (choice !== undefined) return choice;
      text = 'Type y (yes), n (no), run (this tool until the run ends) or hour (this tool for an hour).\n';
    }
    return 'no';
  } finally {
    clearInterval(looking);
  }
}

async function isOpen(approvals: Pick<Approvals, 'find'>, id: string): Promise<boolean> {
  return (await approvals.find(id).catch(() => undefined))?.state === 'PENDING';
}

/** Everything in it but our own words is foreign: of the agent, the server, the program. The arguments are shown whole. */
export function cardText(card: readonly Approval[]): string {
  const [first] = card as readonly [Approval];
  const count = card.length === 1 ? 'this call needs' : `${card.length} calls need`;
  const codes = new Set(card.map(({ code }) => code).filter((code) => code !== ''));
  return `${[
    '',
    `${styled('yellow', `${nameOf(first)}: ${count} your decision`)}`,
    `  why:       ${harmless(first.reason)}`,
    ...[...codes].flatMap((code) => code.split('\n').map((line) => `  ${styled('dim', harmless(line))}`)),
    ...card.flatMap(({ arguments: input }, index) => [
      `  arguments${card.length === 1 ? '' : ` of call ${index + 1} of ${card.length}`}:`,
      ...escapeInvisibleLines(JSON.stringify(input, null, 2)).map((line) => `    ${line}`),
    ]),
    // The name once more: arguments of many lines push the first line off the screen.
    `${card.length === 1 ? '' : `these ${card.length} calls of `}${nameOf(first)}`,
  ].join('\n')}\n`;
}

function nameOf({ tool }: Approval): string {
  return `${harmless(tool.serverId)}/${harmless(tool.toolName)}`;
}

/** One line, in which nothing moves the cursor, hides or changes direction. */
function harmless(text: string): string {
  return plain(visibleText(text)).replaceAll('\n', ' ');
}

/** Strings of JSON have no line breaks of their own, so that splitting gives only the breaks that the indent made. */
function escapeInvisibleLines(json: string): string[] {
  return json.split('\n').map((line) => plain(escapeInvisible(line)));
}
