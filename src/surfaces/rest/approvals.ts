import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { type Approval, GRANT_SCOPES, type Grant } from '../../domain/approval.js';
import { HostError } from '../../domain/errors.js';
import type { Principal } from '../../domain/principal.js';
import { refuseEndedRun } from '../../host/runs/refuse-ended-run.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { visibleLine, visibleSentence, visibleText } from '../../lib/text/visible-text.js';
import { readRequest } from '../http/read-request.js';
import type { RestContext } from './rest-context.js';

/** The most calls of one run that can wait at once. */
const MAX_IDS = 500;
const decision = z.strictObject({
  reason: z.string().max(500).optional(),
  scope: z.enum(GRANT_SCOPES).optional(),
  ids: z.array(z.string().max(100)).max(MAX_IDS).optional(),
  digest: z.string().max(100).optional(),
});
const revocation = z.strictObject({ reason: z.string().max(500).optional() });
const selection = z.strictObject({ state: z.enum(['pending', 'all'], 'must be pending or all').default('pending') });
const VERDICTS = { approve: 'APPROVED', deny: 'DENIED' } as const;
const MAX_LISTED = 1_000;

interface OneApproval {
  readonly Params: { readonly id: string };
}

/** Approvals and their decisions, for tokens of people. `gate.ts` refuses a token that may run code. */
export function mountApprovals(scope: FastifyInstance, rest: RestContext): void {
  const { host } = rest.options;
  const { approvals } = host;
  const config = { scope: 'approve' } as const;
  scope.get('/approvals', { config }, async (request) => {
    const { state } = readRequest(selection, request.query, 'the query');
    const found = state === 'all' ? await approvals.recent(MAX_LISTED) : await approvals.pending();
    return { approvals: found.map(viewOf) };
  });
  scope.get('/approvals/grants', { config }, async () => ({ grants: (await approvals.grants()).map(grantView) }));
  scope.post<OneApproval>('/approvals/:id/revoke', { config }, async (request) => {
    const { reason } = readRequest(revocation, request.body ?? {}, 'the body');
    const by = (request.principal as Principal).subject;
    return grantView(await approvals.revoke(request.params.id, { by, ...omitUndefined({ reason }) }));
  });
  scope.get<OneApproval>('/approvals/:id', { config }, async ({ params: { id } }) => {
    const approval = await approvals.find(id);
    if (approval !== undefined) return viewOf(approval);
    throw new HostError('not_found', `there is no approval ${JSON.stringify(id.slice(0, 100))}; list them`);
  });
  for (const [verb, state] of Object.entries(VERDICTS))
    scope.post<OneApproval>(`/approvals/:id/${verb}`, { config }, async (request) => {
      const { id } = request.params;
      const { reason, scope: grantScope = 'call', ids, digest } = readRequest(decision, request.body ?? {}, 'the body');
      const by = (request.principal as Principal).subject;
      const answer = {
        ...{ by, scope: grantScope },
        ...omitUndefined({ reason, ids, digest }),
      };
      const asked = state === 'APPROVED' ? await approvals.find(id) : undefined;
      if (asked?.state === 'PENDING') await refuseEndedRun(asked, grantScope, (runId) => host.runState(runId));
      const decided = await approvals.decide(id, state, answer);
      if (!decided.isFirst) throw tooLate(decided.approval);
      return viewOf(decided.approvals[0] as Approval);
    });
}

function tooLate({ id, state, decision: made }: Approval): HostError {
  const who = made === undefined ? '' : ` by ${made.by} at ${new Date(made.atMs).toISOString()}`;
  return new HostError('conflict', `${id} was ${state.toLowerCase()}${who}; nothing was changed`);
}

/** Secrets in arguments and code were redacted when the approval was stored. */
function viewOf(approval: Approval) {
  const { id, runId, caller, tool, arguments: input, hiddenParts, code, reason, state, decision: made } = approval;
  return {
    id,
    runId,
    caller,
    tool: visibleLine(`${tool.serverId}/${tool.toolName}`),
    arguments: input,
    digest: approval.argumentsDigest,
    hiddenParts,
    code: visibleText(code),
    reason: visibleSentence(reason),
    state,
    createdAt: new Date(approval.createdAtMs).toISOString(),
    expiresAt: new Date(approval.expiresAtMs).toISOString(),
    ...omitUndefined({
      decision: ifDefined(made, (made) => ({
        by: visibleLine(made.by),
        at: new Date(made.atMs).toISOString(),
        scope: made.scope,
        ...omitUndefined({ reason: ifDefined(made.reason, visibleSentence) }),
      })),
    }),
  };
}

function grantView({ approval, scope, expiresAtMs }: Grant) {
  const { id, runId, caller, tool, reason, decision: made } = approval;
  return {
    id,
    scope,
    ...(scope === 'run' ? { runId } : {}),
    caller,
    tool: visibleLine(`${tool.serverId}/${tool.toolName}`),
    reason: visibleSentence(reason),
    by: visibleLine(made?.by ?? ''),
    at: new Date(made?.atMs ?? approval.createdAtMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
  };
}
