import { type Approval, type GrantScope, scopesOf } from '../../domain/approval.js';
import type { JsonObject } from '../../domain/json.js';
import { cardDigest, MIN_DIGEST_DIGITS } from '../../lib/secrets/card-digest.js';
import { escapeJson, quoteVisibly, visibleLine } from '../../lib/text/visible-text.js';

/** The form in which a person is asked through a client. */
export type CardForm = {
  readonly message: string;
  readonly requestedSchema: JsonObject;
};

/**
 * Nobody reads more than this in a form before approving. Longer arguments are not cut: the form then offers no approval, and
 * says where to approve.
 */
const MAX_ARGUMENT_CHARACTERS = 4_000;
const MAX_REASON_CHARACTERS = 1_000;
const MAX_NAME_CHARACTERS = 200;
/** This many blanks in a row are meant to push text out of sight. */
const PADDING = /[\p{Zs}\t]{40}/u;

/** A form for calls of one tool. Arguments are the agent's text and the tool's name is its server's, so neither can look like our text. */
export function formFor(card: readonly Approval[]): CardForm {
  const obstacle = obstacleTo(card);
  const lines = obstacle === undefined ? argumentLines(card) : elsewhereLines(card, obstacle);
  return {
    message: [headOf(card), ...lines].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: [...choicesFor(card).keys(), DENY] },
        reason: { type: 'string', title: 'Reason (optional)' },
      },
      required: ['decision'],
    },
  };
}

export const DENY = 'deny';
export const DECIDE_ELSEWHERE = 'decide in a terminal';

/** What a form offers besides a denial. `undefined`: not a decision. */
export function choicesFor(card: readonly Approval[]): ReadonlyMap<string, GrantScope | undefined> {
  const [first] = card;
  if (first === undefined || obstacleTo(card) !== undefined) return new Map([[DECIDE_ELSEWHERE, undefined]]);
  const scopes = scopesOf(first);
  return new Map(
    CHOICES.filter(([, scope]) => scopes.includes(scope) && scope !== (card.length > 1 ? 'call' : 'calls')),
  );
}

const CHOICES: readonly (readonly [string, GrantScope])[] = [
  ['approve', 'call'],
  ['approve all', 'calls'],
  ['approve for this run', 'run'],
  ['approve for an hour', 'hour'],
];

/** Why the card cannot be shown whole in a form; `undefined` if it can. */
function obstacleTo(card: readonly Approval[]): string | undefined {
  const [first] = card as readonly [Approval];
  if (card.some(({ isUnreadable }) => isUnreadable === true)) return 'its stored record was changed';
  const { serverId, toolName } = first.tool;
  if (Math.max(serverId.length, toolName.length) > MAX_NAME_CHARACTERS) return 'the name is too long';
  if (first.reason.length > MAX_REASON_CHARACTERS) return 'the reason is too long';
  const hidden = card.reduce((sum, { hiddenParts }) => sum + hiddenParts, 0);
  if (hidden > 0) return `${hidden === 1 ? '1 secret is' : `${hidden} secrets are`} hidden in the arguments`;
  const lines = argumentLines(card);
  const characters = lines.reduce((sum, line) => sum + line.length, 0);
  if (characters > MAX_ARGUMENT_CHARACTERS) return `the arguments have ${characters} characters`;
  return lines.some((line) => PADDING.test(line)) ? 'the arguments have long rows of blanks' : undefined;
}

function headOf(card: readonly Approval[]): string {
  const [{ tool, reason }] = card as readonly [Approval];
  const name = `${wordOf(tool.serverId)}/${wordOf(tool.toolName)}`;
  const what = card.length === 1 ? `call ${name}` : `make ${card.length} calls of ${name}`;
  return `A program wants to ${what}: ${visibleLine(clipped(reason, MAX_REASON_CHARACTERS))}.`;
}

function argumentLines(card: readonly Approval[]): string[] {
  return ['Arguments:', ...card.map(({ arguments: input }) => `  ${jsonOf(input)}`)];
}

function elsewhereLines(card: readonly Approval[], obstacle: string): string[] {
  const [{ id }] = card as readonly [Approval];
  const scope = card.length === 1 ? '' : ' --scope calls';
  const digest = cardDigest(card);
  return [
    `It cannot be shown whole here (${obstacle}), so it cannot be approved here. Read it and decide in a terminal:`,
    `  codemode approvals show ${id}${scope}`,
    `  codemode approvals approve ${id}${scope} --digest ${digest.slice(0, MIN_DIGEST_DIGITS)}`,
    `What the terminal shows must have this digest: sha256 ${digest}`,
  ];
}

/** One line, the same value. A client that renders markup gets none: `<` can only occur inside a string. */
function jsonOf(value: unknown): string {
  return escapeJson(JSON.stringify(value)).replaceAll('<', '\\u003c');
}

/** An ordinary word unchanged, any other in quotes with escapes: no name can start a new line or end its own quotes. */
function wordOf(word: string): string {
  const shown = clipped(word, MAX_NAME_CHARACTERS);
  return ORDINARY_WORD.test(shown) ? shown : quoteVisibly(shown).replaceAll('<', '\\u003c');
}

const ORDINARY_WORD = /^[\w@%+=,./~-]+$/;

function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more characters)`;
}
