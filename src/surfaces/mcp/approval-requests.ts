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
import type { SuspendedSummary } from '../../host/runs/run-types.js';
import { formFor } from './approval-card.js';
import { decideAs, deciderOf, decidesHere } from './approval-form.js';
import type { CallResult } from './elicitation-call.js';
import type { ClientConnection } from './mcp-session.js';
import { REQUEST_IS_OVER } from './question-requests.js';
import { capabilitiesOf, requestStateOf } from './request-state.js';

/**
 * In the protocol's newer era the host sends no requests to clients: the call is answered with the approval request, and repeated
 * with the user's decision. The repeated call is bound to the suspended run, so it never starts a second one.
 */

/** The approval request, if the client can show it to its user. */
export async function approvalRequest(
  connection: ClientConnection,
  { runId, approvals }: Pick<SuspendedSummary, 'runId' | 'approvals'>,
  context: ServerContext,
): Promise<InputRequiredResult | undefined> {
  if (!asksIn(connection, context)) return undefined;
  const { options, session, questions } = connection;
  // Read from the store: the run's response is redacted again for models, and hides more than may be kept from a person.
  const asked = new Set(approvals.map(({ id }) => id));
  const cards = cardsOf((await options.host.approvals.ofRun(runId)).filter(({ id }) => asked.has(id)));
  const forms = cards.map((card) => [keyOf(card), inputRequired.elicit(formFor(card) as never)] as const);
  const shown = cards.map((card) => card.map(({ id }) => id));
  const requestState = await questions.states.mint({ runId, caller: session.caller, cards: shown }, context);
  return inputRequired({ inputRequests: Object.fromEntries(forms), requestState });
}

/** Whether the response to this call of the newer era may ask a person. */
export function asksIn(connection: ClientConnection, context: ServerContext): boolean {
  return decidesHere(connection) && capabilitiesOf(context)?.elicitation !== undefined;
}

/**
 * If this call is a later round of a run, resumes that run until it has a response or the next approval request. Undefined
 * for a first round.
 */
export async function continueApproval(
  connection: ClientConnection,
  context: ServerContext,
): Promise<CallResult | undefined> {
  const { options, session } = connection;
  const { runId, caller, cards = [] } = requestStateOf(context) ?? {};
  if (runId === undefined) return undefined;
  // The program is not run again either: that would be a second run of it.
  if (caller !== session.caller || !decidesHere(connection)) return REQUEST_IS_OVER;
  const { host } = options;
  const { approvals } = await host.showRun(runId);
  for (const ids of cards) {
    // The card as it was shown, by its ids: calls made since then were not on it.
    const card = ids.flatMap((id) => approvals.find((each) => each.id === id) ?? []);
    const response = inputResponse(context.mcpReq.inputResponses, keyOf(card));
    if (response.kind === 'elicit') await decideAs(host, deciderOf(connection), card, response);
  }
  const left = (await host.showRun(runId)).approvals.some(({ state }) => state === 'PENDING');
  if (left) return resultOf(connection, await host.showRun(runId));
  const run = await host.resumeOrFollow(runId, context.mcpReq.signal);
  const asked = run.approvals.filter(({ state }) => state === 'PENDING');
  const question =
    asked.length === 0 ? undefined : await approvalRequest(connection, { runId: run.runId, approvals: asked }, context);
  return question ?? resultOf(connection, run);
}

/** The key of the answer to a card. */
function keyOf(card: readonly Approval[]): string {
  return card[0]?.id ?? '';
}

/** The current result of a run: its response, or what it still waits for. */
function resultOf(connection: ClientConnection, run: RunView): CallToolResult {
  const structured = structuredOf(connection, run);
  return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured };
}

function structuredOf({ options }: ClientConnection, { runId, response, approvals }: RunView): JsonObject {
  if (response !== null && typeof response === 'object' && !Array.isArray(response)) return response;
  const pending = approvals.filter(({ state }) => state === 'PENDING');
  // The first response had the usage before the suspension; the last one has the total.
  const used = { durationMs: 0, usage: { cpuMs: 0, memoryBytes: 0 } };
  const summary = { runId, approvals: pending, logs: [], trace: [], callCount: 0, ...used };
  return options.profile.presentation.suspended(summary) as JsonObject;
}
