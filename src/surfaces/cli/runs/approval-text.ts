import { type Approval, cardsOf } from '../../../domain/approval.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { cardDigest } from '../../../lib/secrets/card-digest.js';
import { hiddenText, isNameCut, nameOf } from '../terminal/ask-on-terminal.js';
import { type Column, type Row, renderTable } from '../terminal/table.js';
import { plainLine, type Style, styled, terminalWidth } from '../terminal/terminal.js';
import { consentJson, consentLine, consentText } from '../trust/consent-text.js';
import { shortIds } from './resolve-id.js';

/** How calls that wait for a person are shown: one, several or all of them. */

/** Text of the program or a tool is in rows that are marked as foreign. `most`: characters shown of one value. */
export function renderOne(approval: Approval, most?: number): { readonly text: string; readonly isCut: boolean } {
  const { id, reason, runId, state, code, decision, hiddenParts } = approval;
  const bound = omitUndefined({ maxCharacters: most });
  const why = consentText(reason, bound);
  const input = consentJson(approval.arguments, bound);
  const lines = code === '' ? undefined : consentText(code, bound);
  const said = decision?.reason === undefined ? undefined : consentText(decision.reason, bound);
  const rows = [
    `${styled('bold', nameOf(approval))}  ${styled(STYLES[state], state)}`,
    `approval:         ${plainLine(id)}`,
    `run:              ${plainLine(runId)}, call ${approval.call}`,
    `expires:          ${new Date(approval.expiresAtMs).toISOString()}`,
    ...(decision === undefined ? [] : [`decided:          by ${consentLine(decision.by)}`]),
    ...(said?.rows ?? []),
    'why it is asked:',
    ...why.rows,
    'arguments:',
    ...(approval.isUnreadable === true ? [UNREADABLE] : input.rows),
    ...(hiddenParts === 0 ? [] : [`hidden:           ${hiddenText(hiddenParts)}`]),
    ...(lines === undefined ? [] : ['in the program:', ...lines.rows]),
    digestRow([approval]),
  ];
  const isCut = isNameCut(approval) || [why, input, lines, said].some((each) => each?.isCut === true);
  return { text: rows.join('\n'), isCut };
}

const UNREADABLE = '  the stored record of this call was changed, so it can only be denied';

/** All calls of a card, each in full, and their common digest. */
export function renderCard(card: readonly Approval[]): string {
  const calls = card.map((approval) => renderOne(approval, Infinity).text);
  return card.length === 1 ? calls.join('') : [...calls, `all ${card.length} calls, ${digestRow(card)}`].join('\n\n');
}

/** Digest of the arguments as they are sent: a decision can name it. */
function digestRow(card: readonly Approval[]): string {
  return `digest:           sha256 ${cardDigest(card)}`;
}

const STYLES = { PENDING: 'yellow', APPROVED: 'green', DENIED: 'red', EXPIRED: 'dim' } as const satisfies Record<
  Approval['state'],
  Style
>;

const COLUMNS: readonly Column[] = [
  { title: 'APPROVAL' },
  { title: 'STATE' },
  { title: 'TOOL', cutFirst: 1 },
  { title: 'ARGUMENTS', cutFirst: 2 },
];

export function renderList(found: readonly Approval[]): string {
  const width = terminalWidth();
  const short = width === undefined ? (id: string) => id : shortIds(found.map(({ id }) => id));
  const shortRun = width === undefined ? (id: string) => id : shortIds(found.map(({ runId }) => runId));
  const rows = cardsOf(found).map((card): Row => {
    const [first] = card as [Approval];
    const { id, tool, reason, state } = first;
    const others = card.length === 1 ? [] : [`  and ${card.length - 1} more calls (--scope calls)`];
    return {
      cells: [
        short(id),
        { text: state, style: STYLES[state] },
        `${tool.serverId}/${tool.toolName}`,
        JSON.stringify(first.arguments),
      ],
      below: [`  ${plainLine(`${reason}; run ${shortRun(first.runId)}`)}`, ...others],
    };
  });
  return renderTable(COLUMNS, rows, width);
}

export function approvalJson(approval: Approval) {
  const { id, runId, tool, arguments: input, state, createdAtMs, expiresAtMs, reason, decision } = approval;
  return {
    id,
    runId,
    serverId: tool.serverId,
    toolName: tool.toolName,
    arguments: input,
    digest: approval.argumentsDigest,
    hiddenParts: approval.hiddenParts,
    state,
    createdAt: new Date(createdAtMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
    reason,
    ...omitUndefined({
      decision: ifDefined(decision, (decision) => ({
        by: decision.by,
        at: new Date(decision.atMs).toISOString(),
        reason: decision.reason,
      })),
    }),
  };
}
