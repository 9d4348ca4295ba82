import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { type Approval, GRANT_SCOPES } from '../../domain/approval.js';
import { HostError } from '../../domain/errors.js';
import type { Principal } from '../../domain/principal.js';
import type { RestDoor } from './door.js';

const decision = z.strictObject({ reason: z.string().max(500).optional(), scope: z.enum(GRANT_SCOPES).optional() });
const VERDICTS = { approve: 'APPROVED', deny: 'DENIED' } as const;

/** Questions to people, and their answers. For tokens of people: those that agents hold have not this scope. */
export function mountApprovals(scope: FastifyInstance, door: RestDoor): void {
  const { approvals } = door.options.host;
  const config = { scope: 'approve' } as const;
  scope.get('/approvals', { config }, async () => ({ approvals: (await approvals.pending()).map(viewOf) }));
  for (const [verb, state] of Object.entries(VERDICTS))
    scope.post<{ Params: { id: string } }>(`/approvals/:id/${verb}`, { config }, async (request) => {
      const parsed = decision.safeParse(request.body ?? {});
      if (!parsed.success)
        throw new HostError('bad_input', `the body: ${parsed.error.issues[0]?.message ?? 'is not valid'}`);
      const { reason, scope: grantScope = 'call' } = parsed.data;
      const by = (request.principal as Principal).subject;
      await approvals.decide(request.params.id, state, {
        by,
        scope: grantScope,
        ...(reason === undefined ? {} : { reason }),
      });
      const decided = await approvals.find(request.params.id);
      return decided === undefined ? { id: request.params.id, state } : viewOf(decided);
    });
}

function viewOf({
  id,
  runId,
  caller,
  tool,
  arguments: input,
  code,
  reason,
  state,
  createdAtMs,
  expiresAtMs,
}: Approval) {
  return {
    id,
    runId,
    caller,
    tool: `${tool.serverId}/${tool.toolName}`,
    arguments: input,
    code,
    reason,
    state,
    createdAt: new Date(createdAtMs).toISOString(),
    expiresAt: new Date(expiresAtMs).toISOString(),
  };
}
