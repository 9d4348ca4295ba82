import type { Server } from '@modelcontextprotocol/server';
import { type Approval, cardsOf, type GrantScope } from '../../domain/approval.js';
import type { JsonObject } from '../../domain/json.js';
import type { AskPerson } from '../../host/execution.js';
import { escapeInvisible, visibleText } from '../../lib/visible-text.js';
import type { Door } from './door.js';

/** A person who was asked may take this long; the program is put away before that. */
const QUESTION_TIMEOUT_MS = 10 * 60_000;
const MAX_SHOWN_CALLS = 5;
const MAX_ARGUMENT_CHARACTERS = 1_000;

/** Puts a form before the user of a client, and gives what they made of it. */
export type ShowForm = (form: JsonObject, signal: AbortSignal) => Promise<FormAnswer>;

/**
 * Asks the person in front of the client. Undefined where none sits there, by the configuration and not by what the client says,
 * where people are not asked through clients, and where the client shows no forms.
 */
export function askerOf(door: Door, showForm: ShowForm | undefined, by: string): AskPerson | undefined {
  if (showForm === undefined || !decidesHere(door)) return undefined;
  return async (approvals, signal) => {
    const asked = cardsOf(approvals).map(async (card) =>
      decideAs(door.options.host, by, card, await showForm(approvalForm(card), signal)),
    );
    await Promise.all(asked);
  };
}

/** Whether what comes back from this client can be a person's decision. */
export function decidesHere({ options, person }: Door): boolean {
  return options.asksPeople && person !== undefined;
}

/** Forms for a client of the older era: a request of ours. */
export function formsOf(server: Server): ShowForm | undefined {
  if (server.getClientCapabilities()?.elicitation === undefined) return undefined;
  return (params, signal) =>
    server.request({ method: 'elicitation/create', params } as never, {
      signal,
      timeout: QUESTION_TIMEOUT_MS,
    }) as unknown as Promise<FormAnswer>;
}

/** Who has decided, for the record: whose token it was, not what the client calls itself. */
export function deciderOf({ person }: Door, clientName = 'the client'): string {
  return `the user of ${person?.subject ?? visibleText(clientName)}`;
}

export function approvalForm(card: readonly Approval[]): JsonObject {
  return { message: messageOf(card), requestedSchema: formOf(card) };
}

export interface FormAnswer {
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

function formOf(card: readonly Approval[]) {
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
function messageOf(card: readonly Approval[]): string {
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
