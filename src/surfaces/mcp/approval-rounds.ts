import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { type Approval, cardsOf } from '../../domain/approval.js';
import type { JsonObject } from '../../domain/json.js';
import type { RunView } from '../../host/host.js';
import type { SleepSummary } from '../../host/run.js';
import { formFor } from './approval-card.js';
import { decideAs, deciderOf, decidesHere } from './approval-form.js';
import type { CallResult } from './asking-call.js';
import type { Door } from './door.js';
import { ROUND_IS_OVER } from './question-rounds.js';
import { capabilitiesOf, mintRound, roundOf } from './rounds.js';

/**
 * The protocol's newer era has no questions to clients outside an answer: the call is answered with the question, and
 * made again with what the user said. It is bound to the run that sleeps meanwhile, so that it never starts a second one.
 */

/** The question, where the client can put it to its user. */
export async function questionOf(
  door: Door,
  { runId, approvals }: SleepSummary,
  context: ServerContext,
): Promise<InputRequiredResult | undefined> {
  if (!asksIn(door, context)) return undefined;
  const { options, session } = door;
  // From the store: what a run answers is redacted again, for models, and hides more than people may be kept from seeing.
  const asked = new Set(approvals.map(({ id }) => id));
  const cards = cardsOf((await options.host.approvals.ofRun(runId)).filter(({ id }) => asked.has(id)));
  const forms = cards.map((card) => [keyOf(card), inputRequired.elicit(formFor(card) as never)] as const);
  const shown = cards.map((card) => card.map(({ id }) => id));
  const requestState = await mintRound({ runId, caller: session.caller, cards: shown }, context);
  return inputRequired({ inputRequests: Object.fromEntries(forms), requestState });
}

/** Whether a person is asked with the answer to this call of the newer era. */
export function asksIn(door: Door, context: ServerContext): boolean {
  return decidesHere(door) && capabilitiesOf(context)?.elicitation !== undefined;
}

/**
 * Goes on with the run that this call is a later round of, to its response or to the next question. Undefined where it is
 * the first round.
 */
export async function laterRound(door: Door, context: ServerContext): Promise<CallResult | undefined> {
  const { options, session } = door;
  const { runId, caller, cards = [] } = roundOf(context) ?? {};
  if (runId === undefined) return undefined;
  // Not run again either: that would be a second run of the same program.
  if (caller !== session.caller || !decidesHere(door)) return ROUND_IS_OVER;
  const { host } = options;
  const { approvals } = await host.showRun(runId);
  for (const ids of cards) {
    // As it was shown, by its ids: a call that was made since then was not on it.
    const card = ids.flatMap((id) => approvals.find((each) => each.id === id) ?? []);
    const response = inputResponse(context.mcpReq.inputResponses, keyOf(card));
    if (response.kind === 'elicit') await decideAs(host, deciderOf(door), card, response);
  }
  const left = (await host.showRun(runId)).approvals.some(({ state }) => state === 'PENDING');
  if (left) return resultOf(door, await host.showRun(runId));
  const run = await host.resumeOrFollow(runId, context.mcpReq.signal);
  const asked = run.approvals.filter(({ state }) => state === 'PENDING');
  const summary = { runId: run.runId, approvals: asked, logs: [], trace: [], callCount: 0 };
  const question = asked.length === 0 ? undefined : await questionOf(door, summary, context);
  return question ?? resultOf(door, run);
}

/** The name under which the answer to a card comes back. */
function keyOf(card: readonly Approval[]): string {
  return card[0]?.id ?? '';
}

/** The answer of a run as it stands: its response, or what it still waits for. */
function resultOf(door: Door, run: RunView): CallToolResult {
  const structured = structuredOf(door, run);
  return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured };
}

function structuredOf({ options }: Door, { runId, response, approvals }: RunView): JsonObject {
  if (response !== null && typeof response === 'object' && !Array.isArray(response)) return response;
  const pending = approvals.filter(({ state }) => state === 'PENDING');
  const summary = { runId, approvals: pending, logs: [], trace: [], callCount: 0 };
  return options.profile.presentation.sleeping(summary) as JsonObject;
}
