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
 * Asks the person in front of the client. Undefined where none sits there, by the configuration and not by what the client says,
 * where people are not asked through clients, and where the client shows no forms.
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

/** Whether what comes back from this client can be a person's decision. */
export function decidesHere({ options, person }: ClientConnection): boolean {
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
export function deciderOf({ person }: ClientConnection, clientName = 'the client'): string {
  return `the user of ${person?.subject ?? visibleLine(clientName)}`;
}

/**
 * Writes down what a user put into a form, for the calls that were on it and for no others. What is none of the choices is a
 * no; on a form that offers no yes, only a no is one.
 */
export async function decideAs(
  host: ClientConnection['options']['host'],
  by: string,
  card: readonly Approval[],
  { action, content }: FormAnswer,
): Promise<void> {
  // Somebody may have decided about some of them elsewhere.
  const open = card.filter(({ state }) => state === 'PENDING');
  const [first] = open;
  // A form that was closed says nothing; the question stays open for the other ways.
  if (first === undefined || action === 'cancel') return;
  const choices = choicesFor(card);
  const choice = action === 'accept' ? content?.decision : DENY;
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
