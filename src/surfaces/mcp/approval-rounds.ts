import {
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { cardsOf } from '../../domain/approval.js';
import type { JsonObject } from '../../domain/json.js';
import type { RunView } from '../../host/host.js';
import type { SleepSummary } from '../../host/run.js';
import { decideAs, formOf, messageOf } from './approval-form.js';
import type { Door } from './door.js';
import { capabilitiesOf, mintRound, roundOf } from './rounds.js';

/**
 * The protocol's newer era has no questions to clients outside an answer: the call is answered with the question, and
 * made again with what the user said. It is bound to the run that sleeps meanwhile, so that it never starts a second one.
 */

/** The question, where the client can put it to its user. */
export async function questionOf(
  { options, session }: Door,
  { runId, approvals }: SleepSummary,
  context: ServerContext,
): Promise<InputRequiredResult | undefined> {
  if (!options.asksPeople || capabilitiesOf(context)?.elicitation === undefined) return undefined;
  const cards = cardsOf(approvals).flatMap((card) => {
    const [first] = card;
    const form = { message: messageOf(card), requestedSchema: formOf(card) };
    return first === undefined ? [] : [[first.id, inputRequired.elicit(form as never)] as const];
  });
  const requestState = await mintRound({ runId, caller: session.caller }, context);
  return inputRequired({ inputRequests: Object.fromEntries(cards), requestState });
}

/**
 * Goes on with the run that this call is a later round of, to its response or to the next question. Undefined where it is
 * the first round.
 */
export async function laterRound(
  door: Door,
  context: ServerContext,
): Promise<JsonObject | InputRequiredResult | undefined> {
  const { options, session } = door;
  const { runId, caller } = roundOf(context) ?? {};
  if (runId === undefined || caller !== session.caller) return undefined;
  const { host } = options;
  const { approvals } = await host.showRun(runId);
  const pending = approvals.filter(({ state }) => state === 'PENDING');
  for (const card of cardsOf(pending)) {
    const [first] = card;
    const response = inputResponse(context.mcpReq.inputResponses, first?.id ?? '');
    // The key is that of the card as it was shown: what it covers now may be less, never more.
    if (response.kind === 'elicit') await decideAs(host, 'the user of the client', card, response);
  }
  const left = (await host.showRun(runId)).approvals.some(({ state }) => state === 'PENDING');
  if (left) return structuredOf(door, await host.showRun(runId));
  const run = await host.resumeOrFollow(runId, context.mcpReq.signal);
  const asked = run.approvals.filter(({ state }) => state === 'PENDING');
  const summary = { runId: run.runId, approvals: asked, logs: [], trace: [], callCount: 0 };
  const question = asked.length === 0 ? undefined : await questionOf(door, summary, context);
  return question ?? structuredOf(door, run);
}

/** The answer of a run as it stands: its response, or what it still waits for. */
function structuredOf({ options }: Door, { runId, response, approvals }: RunView): JsonObject {
  if (response !== null && typeof response === 'object' && !Array.isArray(response)) return response;
  const pending = approvals.filter(({ state }) => state === 'PENDING');
  const summary = { runId, approvals: pending, logs: [], trace: [], callCount: 0 };
  return options.profile.presentation.sleeping(summary) as JsonObject;
}
