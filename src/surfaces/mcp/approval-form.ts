import type { Server } from '@modelcontextprotocol/server';
import { type Approval, cardsOf } from '../../domain/approval.js';
import type { AskPerson } from '../../host/runs/run.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import { choicesFor, DENY, formFor } from './approval-card.js';
import type { FormAnswer, ShowForm } from './asked-client.js';
import type { ClientConnection } from './mcp-session.js';

/** Timeout of a form. The run is suspended before that. */
const QUESTION_TIMEOUT_MS = 10 * 60_000;

/**
 * Asks the person at the client. Undefined if no person is there (by the configuration, not by the client's claim), if people are
 * not asked through clients, or if the client shows no forms.
 */
export function askerOf(
  connection: ClientConnection,
  showForm: ShowForm | undefined,
  by: string,
): AskPerson | undefined {
  if (showForm === undefined || !decidesHere(connection)) return undefined;
  return async (approvals, signal) => {
    const asked = cardsOf(approvals).map(async (card) =>
      decideAs(connection.options.host, by, card, await showForm(formFor(card), signal)),
    );
    await Promise.all(asked);
  };
}

/** Whether an answer from this client can be a person's decision. */
export function decidesHere({ options, person }: ClientConnection): boolean {
  return options.asksPeople && person !== undefined;
}

/** Forms for a client of the older era: the host sends it a request. */
export function formsOf(server: Server): ShowForm | undefined {
  if (server.getClientCapabilities()?.elicitation === undefined) return undefined;
  return (params, signal) =>
    server.request({ method: 'elicitation/create', params } as never, {
      signal,
      timeout: QUESTION_TIMEOUT_MS,
    }) as unknown as Promise<FormAnswer>;
}

/** Who decided, for the audit log: the token's owner, not the name that the client gives itself. */
export function deciderOf({ person }: ClientConnection, clientName = 'the client'): string {
  return `the user of ${person?.subject ?? visibleLine(clientName)}`;
}

/**
 * Stores the user's decision for exactly the calls on the form. An unknown choice is a denial. A form that is accepted without a
 * choice, or that is closed, does not decide: the approval stays open for the other surfaces. If the form offers no approval, only
 * an explicit denial counts.
 */
export async function decideAs(
  host: ClientConnection['options']['host'],
  by: string,
  card: readonly Approval[],
  { action, content }: FormAnswer,
): Promise<void> {
  // Some of them may have been decided elsewhere.
  const open = card.filter(({ state }) => state === 'PENDING');
  const [first] = open;
  // A closed form, or one without a choice, is not a decision: the approval stays open for the other surfaces.
  const choice = action === 'accept' ? (content?.decision ?? '') : DENY;
  if (first === undefined || action === 'cancel' || choice === '') return;
  const choices = choicesFor(card);
  const scope = typeof choice === 'string' ? choices.get(choice) : undefined;
  const offersYes = [...choices.values()].some((each) => each !== undefined);
  if (scope === undefined && !offersYes && choice !== DENY) return;
  const given = content?.reason;
  const reason = typeof given === 'string' && given.trim() !== '' ? { reason: given.slice(0, 1_000) } : {};
  await host.approvals.decide(first.id, scope === undefined ? 'DENIED' : 'APPROVED', {
    by,
    scope: scope ?? (card.length > 1 ? 'calls' : 'call'),
    ids: open.map(({ id }) => id),
    ...reason,
  });
}
