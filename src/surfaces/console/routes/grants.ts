import type { FastifyInstance } from 'fastify';
import type { GrantView } from '../../../domain/console/approvals.js';
import { HostError, isHostError } from '../../../domain/errors.js';
import { grantView } from '../../../host/admin/console/approval-cards.js';
import type { ConsoleContext } from '../console-options.js';
import { mine } from './sessions.js';

/** Standing approvals: every session lists them, and only the owner revokes them. */
export function mountGrants(scope: FastifyInstance, { options: { host, history } }: ConsoleContext): void {
  scope.get('/grants', async (): Promise<{ grants: GrantView[] }> => {
    const found = await host.approvals.grants();
    const titles = await history.titlesOf(found.map(({ approval }) => approval.runId));
    return { grants: found.map((grant) => grantView(grant, titles.get(grant.approval.runId))) };
  });
  scope.post<{ Params: { id: string } }>(
    '/grants/:id/revoke',
    { config: { isOwnersOnly: true } },
    async (request): Promise<object> => {
      try {
        await host.approvals.revoke(request.params.id, { by: mine(request).name });
        return {};
      } catch (error) {
        // It has expired, its run has ended, or another person was faster: either way no call passes by it any more.
        if (isHostError(error, 'not_found'))
          throw new HostError('not_found', 'This approval is no longer in force. Load the list again.');
        throw error;
      }
    },
  );
}
