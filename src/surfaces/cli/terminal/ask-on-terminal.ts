import { type Approval, cardsOf, type GrantScope, scopesOf } from '../../../domain/approval.js';
import type { Approvals } from '../../../host/host.js';
import type { AskPerson } from '../../../host/runs/run.js';
import { cardDigest, MIN_DIGEST_DIGITS } from '../../../lib/secrets/card-digest.js';
import { type ConsentText, consentJson, consentText, consentWord, isWordCut } from '../trust/consent-text.js';
import { userName } from '../user-name.js';
import { plainLine, styled } from './terminal.js';
import { askLine, hasPersonAtTerminal, showLine } from './terminal-line.js';

/** Poll interval: the call may be decided on another screen while the question is shown here. */
const LOOK_EVERY_MS = 300;
/** After this many unclear answers the person does not mean yes. */
const MAX_TRIES = 3;

/**
 * Asks the person at this terminal about calls that need approval, one card after the other. `undefined` without a terminal: the
 * run is then suspended, and the person decides with `codemode approvals`.
 */
export function askerOnTerminal(approvals: Pick<Approvals, 'decide' | 'find'>): AskPerson | undefined {
  if (!hasPersonAtTerminal()) return undefined;
  // One question at a time: two readline instances on one terminal would each get half of the input.
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
  // The answer to the previous card may have covered some of these.
  const open: Approval[] = [];
  for (const approval of card) if (await isOpen(approvals, approval.id)) open.push(approval);
  const [first] = open;
  if (first === undefined || signal.aborted) return;
  const choice = await chooseFor(approvals, open, signal);
  if (choice === undefined) return;
  const answer = { by: `${userName()} (terminal)` };
  if (choice === 'run' || choice === 'hour') {
    await approvals.decide(first.id, 'APPROVED', { ...answer, scope: choice });
    // The run ends by itself. An hour outlives it, so the person is told how to end it sooner.
    if (choice === 'hour')
      showLine(`Allowed for an hour. To end it sooner: codemode approvals revoke ${first.id.slice(0, 8)}`);
    return;
  }
  // Each by its own id: a call that arrived while the person was reading was not shown, and is not decided.
  for (const { id } of open)
    await approvals.decide(id, choice === 'call' ? 'APPROVED' : 'DENIED', { ...answer, scope: 'call' });
}

const PROMPT = 'Allow? [y/N/run/hour] ';
/** For a call that belongs to no run. */
const PROMPT_WITHOUT_RUN = 'Allow? [y/N/hour] ';
/** A card that cannot be shown whole can only be denied here. */
const PROMPT_OF_A_PART = 'Deny it? Type n, or decide in the other terminal. [n] ';

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

/** The person's choice. `undefined` if the call was decided elsewhere, or nothing waits for it any more. */
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
    const { text: shown, isCut } = cardOf(card);
    const hasRun = scopesOf(first).includes('run');
    const prompt = isCut ? PROMPT_OF_A_PART : hasRun ? PROMPT : PROMPT_WITHOUT_RUN;
    let text = shown;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const line = await askLine(text, prompt, AbortSignal.any([signal, elsewhere.signal]));
      if (line === undefined) return undefined;
      if (line === 'interrupted') await interrupt(signal);
      if (line === 'interrupted' || line === 'refused') return 'no';
      const choice = CHOICES[line.text.trim().toLowerCase()];
      if (isCut && choice !== 'no') {
        text = `${howToSeeAll(card)}\n`;
        continue;
      }
      if (choice !== undefined && (choice !== 'run' || hasRun)) return choice;
      const run = hasRun ? 'run (this tool until the run ends) ' : '';
      text = `Type y (yes), n (no), ${run}or hour (this tool for an hour).\n`;
    }
    return 'no';
  } finally {
    clearInterval(looking);
  }
}

/**
 * Does what Ctrl-C does while nothing is asked: reading a line keeps the terminal from doing it. The program must not continue
 * with the refusal, so the run is over (`signal`) before the call is denied.
 */
async function interrupt(signal: AbortSignal): Promise<void> {
  const over = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  process.kill(process.pid, 'SIGINT');
  await Promise.race([over, new Promise((resolve) => setTimeout(resolve, INTERRUPT_MS))]);
}

const INTERRUPT_MS = 1_000;

async function isOpen(approvals: Pick<Approvals, 'find'>, id: string): Promise<boolean> {
  return (await approvals.find(id).catch(() => undefined))?.state === 'PENDING';
}

/** Maximum rows of one card: a longer one cannot be read before the answer. */
const MAX_CARD_ROWS = 200;

/** Everything in it except our own words is foreign text: of the agent, the server or the program. */
export function cardOf(card: readonly Approval[]): { readonly text: string; readonly isCut: boolean } {
  const [first] = card as readonly [Approval];
  const count = card.length === 1 ? 'this call needs' : `${card.length} calls need`;
  const codes = new Set(card.map(({ code }) => code).filter((code) => code !== ''));
  let isCut = isNameCut(first) || card.some(({ isUnreadable }) => isUnreadable === true);
  const hidden = card.reduce((sum, { hiddenParts }) => sum + hiddenParts, 0);
  let left = MAX_CARD_ROWS;
  const take = (block: ConsentText) => {
    isCut ||= block.isCut;
    left = Math.max(1, left - block.rows.length);
    return block.rows;
  };
  const lines = [
    '',
    styled('yellow', `${nameOf(first)}: ${count} your decision`),
    ...take(consentText(`why: ${first.reason}`)),
    ...[...codes].flatMap((code) => take(consentText(code, { maxRows: left })).map((row) => styled('dim', row))),
    ...card.flatMap(({ arguments: input }, index) => [
      `  arguments${card.length === 1 ? '' : ` of call ${index + 1} of ${card.length}`}:`,
      ...take(consentJson(input, { indent: '    ', maxRows: left })),
    ]),
    ...(hidden === 0 ? [] : [`  hidden: ${hiddenText(hidden)}`]),
    // The name is repeated: arguments of many lines push the first line off the screen.
    `${card.length === 1 ? '' : `these ${card.length} calls of `}${nameOf(first)}`,
  ];
  return { text: `${lines.join('\n')}\n${isCut ? `${howToSeeAll(card)}\n` : ''}`, isCut };
}

function howToSeeAll(card: readonly Approval[]): string {
  const [{ id }] = card as readonly [Approval];
  const words = `${plainLine(id)}${card.length === 1 ? '' : ' --scope calls'}`;
  return (
    'It cannot be shown whole here, so it cannot be allowed here. In another terminal, read it and decide:\n' +
    `  codemode approvals show ${words}\n` +
    `  codemode approvals approve ${words} --digest ${cardDigest(card).slice(0, MIN_DIGEST_DIGITS)}`
  );
}

/** Secrets are shown as marks. Each mark gives the length of its secret. */
export function hiddenText(parts: number): string {
  const [secrets, marks] = parts === 1 ? ['1 secret', 'a mark with its'] : [`${parts} secrets`, 'marks with their'];
  return `${secrets}, shown as ${marks} length and digest`;
}

/** `server/tool` without hidden characters: two names that differ look different. */
export function nameOf({ tool }: Approval): string {
  return `${consentWord(tool.serverId)}/${consentWord(tool.toolName)}`;
}

export function isNameCut({ tool }: Approval): boolean {
  return isWordCut(tool.serverId) || isWordCut(tool.toolName);
}
