import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { cardsOf } from '../../domain/approval.js';
import type { JsonObject } from '../../domain/json.js';
import type { RunView } from '../../host/host.js';
import type { SleepSummary } from '../../host/run.js';
import { approvalForm, decideAs, deciderOf, decidesHere } from './approval-form.js';
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
  const cards = cardsOf(approvals).flatMap((card) => {
    const [first] = card;
    return first === undefined ? [] : [[first.id, inputRequired.elicit(approvalForm(card) as never)] as const];
  });
  const requestState = await mintRound({ runId, caller: door.session.caller }, context);
  return inputRequired({ inputRequests: Object.fromEntries(cards), requestState });
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
  const { runId, caller } = roundOf(context) ?? {};
  if (runId === undefined) return undefined;
  // Not run again either: that would be a second run of the same program.
  if (caller !== session.caller || !decidesHere(door)) return ROUND_IS_OVER;
  const { host } = options;
  const { approvals } = await host.showRun(runId);
  const pending = approvals.filter(({ state }) => state === 'PENDING');
  for (const card of cardsOf(pending)) {
    const [first] = card;
    const response = inputResponse(context.mcpReq.inputResponses, first?.id ?? '');
    // The key is that of the card as it was shown: what it covers now may be less, never more.
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
