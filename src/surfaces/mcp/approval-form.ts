import type { Server } from '@modelcontextprotocol/server';
import { type Approval, cardsOf, type GrantScope } from '../../domain/approval.js';
import type { AskPerson } from '../../host/execution.js';
import { escapeInvisible, visibleText } from '../../lib/visible-text.js';
import type { Door } from './door.js';

/** A person who was asked may take this long; the program is put away before that. */
const QUESTION_TIMEOUT_MS = 10 * 60_000;
const MAX_SHOWN_CALLS = 5;
const MAX_ARGUMENT_CHARACTERS = 1_000;

/** Asks through the client, where it can show a form to its user. */
export function askerOf({ options }: Door, server: Server): AskPerson | undefined {
  if (!options.asksPeople || server.getClientCapabilities()?.elicitation === undefined) return undefined;
  return async (approvals, signal) => {
    await Promise.all(cardsOf(approvals).map((card) => askOne(options.host, server, card, signal)));
  };
}

async function askOne(
  host: Door['options']['host'],
  server: Server,
  card: readonly Approval[],
  signal: AbortSignal,
): Promise<void> {
  const [first] = card;
  if (first === undefined) return;
  const request = { method: 'elicitation/create', params: { message: messageOf(card), requestedSchema: formOf(card) } };
  const answer = (await server.request(request as never, { signal, timeout: QUESTION_TIMEOUT_MS })) as FormAnswer;
  await decideAs(host, `the user of ${visibleText(server.getClientVersion()?.name ?? 'a client')}`, card, answer);
}

interface FormAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, unknown> | undefined;
}

/** Writes down what a user put into a form. What is none of the choices is a no. */
export async function decideAs(
  host: Door['options']['host'],
  by: string,
  card: readonly Approval[],
  { action, content }: FormAnswer,
): Promise<void> {
  const [first] = card;
  // A form that was closed says nothing; the question stays open for the other ways.
  if (first === undefined || action === 'cancel') return;
  const choice = content?.decision;
  const scope = action === 'accept' && typeof choice === 'string' ? CHOICES.get(choice) : undefined;
  const given = content?.reason;
  const reason = typeof given === 'string' && given.trim() !== '' ? { reason: given.slice(0, 1_000) } : {};
  await host.approvals.decide(first.id, scope === undefined ? 'DENIED' : 'APPROVED', {
    by,
    scope: scope ?? (card.length > 1 ? 'calls' : 'call'),
    ...reason,
  });
}

const CHOICES = new Map<string, GrantScope>([
  ['approve', 'call'],
  ['approve all', 'calls'],
  ['approve for this run', 'run'],
  ['approve for an hour', 'hour'],
]);

export function formOf(card: readonly Approval[]) {
  const choices = [...CHOICES.keys()].filter((choice) =>
    card.length > 1 ? choice !== 'approve' : choice !== 'approve all',
  );
  return {
    type: 'object',
    properties: {
      decision: { type: 'string', title: 'Decision', enum: [...choices, 'deny'] },
      reason: { type: 'string', title: 'Reason (optional)' },
    },
    required: ['decision'],
  };
}

/** Arguments are the agent's text and the tool's name its server's: nothing in them may look like ours. */
export function messageOf(card: readonly Approval[]): string {
  const [first] = card as [Approval];
  const { serverId, toolName } = first.tool;
  const name = `${visibleText(serverId)}/${visibleText(toolName)}`;
  const head =
    card.length === 1 ? `A program wants to call ${name}` : `A program wants to make ${card.length} calls of ${name}`;
  const shown = card.slice(0, MAX_SHOWN_CALLS).map(({ arguments: input }) => {
    const text = escapeInvisible(JSON.stringify(input));
    return `  ${text.length > MAX_ARGUMENT_CHARACTERS ? `${text.slice(0, MAX_ARGUMENT_CHARACTERS)}...` : text}`;
  });
  const more = card.length > shown.length ? [`  ... and ${card.length - shown.length} more`] : [];
  return [`${head}: ${visibleText(first.reason)}.`, 'Arguments:', ...shown, ...more].join('\n');
}
