import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { Approval } from '../../../domain/approval.js';
import type { ApprovalPage, ApprovalView, DecideAnswer, DecideOutcome } from '../../../domain/console/approvals.js';
import { HostError, isHostError } from '../../../domain/errors.js';
import { approvalCards, approvalView } from '../../../host/admin/console/approval-cards.js';
import type { Host } from '../../../host/host.js';
import { refuseEndedRun } from '../../../host/runs/refuse-ended-run.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { readRequest } from '../../http/read-request.js';
import type { ConsoleContext } from '../console-options.js';
import { mine } from './sessions.js';

const MAX_CARDS = 100;
const MAX_RECENT = 1_000;
const MAX_DECIDED = 500;

const querySchema = z.strictObject({
  state: z.enum(['pending', 'all']).default('pending'),
  limit: z.coerce.number().int().min(1).max(MAX_CARDS).default(MAX_CARDS),
  cursor: z
    .string()
    .regex(/^\d{1,6}$/, 'is not valid; load the list from its beginning')
    .optional(),
});

const decideSchema = z.strictObject({
  decision: z.enum(['approve', 'deny']),
  calls: z
    .array(z.strictObject({ id: z.string().max(100), digest: z.string().min(16).max(100) }))
    .min(1)
    .max(MAX_DECIDED),
  scope: z.enum(['call', 'run', 'hour']).default('call'),
  reason: z.string().max(500).optional(),
});
type Decide = z.output<typeof decideSchema>;

/** The inbox. Decisions follow the same rules as on the command line: the digest names what was shown, and the first decision counts. */
export function mountApprovals(scope: FastifyInstance, { options }: ConsoleContext): void {
  const { host, history } = options;
  scope.get('/approvals', async (request): Promise<ApprovalPage> => {
    const { state, limit, cursor } = readRequest(querySchema, request.query, 'the query');
    const found = state === 'all' ? await host.approvals.recent(MAX_RECENT) : await host.approvals.pending();
    const from = Number(cursor ?? 0);
    const titles = await history.titlesOf(found.map(({ runId }) => runId));
    const cards = approvalCards(found, (runId) => titles.get(runId));
    const pending = state === 'all' ? (await host.approvals.pendingIds()).size : found.length;
    const next = from + limit;
    return {
      cards: cards.slice(from, next),
      pending,
      ...(cards.length > next ? { cursor: String(next) } : {}),
    };
  });
  scope.get<{ Params: { id: string } }>('/approvals/:id', async ({ params: { id } }): Promise<ApprovalView> => {
    const approval = await host.approvals.find(id);
    if (approval !== undefined) return approvalView(approval, 'whole');
    throw new HostError('not_found', 'There is no such approval (any more). Load the inbox again.');
  });
  scope.post('/approvals/decide', async (request): Promise<DecideAnswer> => {
    const asked = readRequest(decideSchema, request.body, 'the body');
    const by = mine(request).name;
    // The scopes `run` and `hour` apply to the tool: the first decision creates the grant, and the other calls of the card are decided one
    // by one.
    const outcomes: DecideOutcome[] = [];
    const sinceMs = Date.now();
    for (const [index, { id, digest }] of asked.calls.entries())
      outcomes.push(
        await decideOne(host, { ...asked, scope: index === 0 ? asked.scope : 'call' }, { id, digest, by, sinceMs }),
      );
    return { outcomes };
  });
}

interface Shown {
  readonly id: string;
  readonly digest: string;
}

async function decideOne(
  host: Host,
  { decision, scope, reason }: Decide,
  { id, digest, by, sinceMs }: Shown & { readonly by: string; readonly sinceMs: number },
): Promise<DecideOutcome> {
  const { approvals } = host;
  const state = decision === 'approve' ? 'APPROVED' : 'DENIED';
  try {
    const known = await approvals.find(id);
    if (known?.state === 'PENDING' && state === 'APPROVED')
      await refuseEndedRun(known, scope, (runId) => host.runState(runId));
    if (known?.state === 'PENDING' && !known.argumentsDigest.startsWith(digest.toLowerCase()))
      return changed(id, known);
    const answer = { by, scope, digest, ...(reason === undefined || reason === '' ? {} : { reason }) };
    const decided = await approvals.decide(id, state, answer);
    if (!decided.isFirst) {
      const { decision: made } = decided.approval;
      // The grant made with the first call of the card has decided this one too.
      const isOurs = made?.by === by && made.atMs >= sinceMs && decided.approval.state === state;
      if (isOurs) return { id, outcome: 'decided', approval: approvalView(decided.approval) };
      return tooLate(decided.approval);
    }
    const approval = decided.approvals.find((each) => each.id === id);
    return { id, outcome: 'decided', ...omitUndefined({ approval: ifDefined(approval, approvalView) }) };
  } catch (error) {
    if (isHostError(error, 'not_found')) return { id, outcome: 'not_found', message: error.message };
    if (isHostError(error)) return { id, outcome: 'refused', message: error.message };
    throw error;
  }
}

function changed(id: string, approval: Approval): DecideOutcome {
  const message = 'The arguments have changed since they were shown. Look at it again.';
  return { id, outcome: 'changed', message, approval: approvalView(approval) };
}

function tooLate(approval: Approval): DecideOutcome {
  const { id, state, decision } = approval;
  const shown = approvalView(approval);
  if (state === 'EXPIRED')
    return { id, outcome: 'expired', message: 'It has expired. Nothing was changed.', approval: shown };
  const who = decision === undefined ? '' : ` by ${shown.decision?.by} at ${new Date(decision.atMs).toISOString()}`;
  const message = `It was ${state.toLowerCase()}${who}. Nothing was changed.`;
  return { id, outcome: 'decided_before', message, approval: shown };
}
