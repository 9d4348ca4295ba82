import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import type { UpstreamHealth } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { readRequest } from '../http/read-request.js';
import type { RestContext } from './rest-context.js';

const request = z.looseObject({ name: z.string('must be the name of the server').min(1).max(128) });

/**
 * Adds and removes servers while the host runs, with the keys of the configuration. Adding a server starts processes as this
 * user, so it needs a separate scope, which no token has by default.
 */
export function mountServers(scope: FastifyInstance, rest: RestContext): void {
  const { host, servers } = rest.options;
  const config = { scope: 'servers' } as const;
  const described = (health: readonly UpstreamHealth[]) =>
    health.map(({ id, state, since, losses, reason, needsLogin }) => ({
      name: id,
      state,
      since: since.toISOString(),
      losses,
      ...omitUndefined({ reason }),
      ...(needsLogin === true ? { needsLogin } : {}),
      ...servers.describe(id),
    }));
  scope.get('/servers', { config }, async () => ({ servers: described(await host.checkedHealth()) }));
  scope.post('/servers', { config }, async (incoming, reply) => {
    const { name, ...settings } = readRequest(request, incoming.body, 'the request');
    await servers.register(name, settings);
    // Connects now, so that the response says whether the server works. Other servers are not waited for.
    await host.refresh(name);
    const added = described(host.health()).find((each) => each.name === name);
    if (added === undefined)
      throw new HostError('not_found', `the server ${JSON.stringify(name)} was removed before it was connected`);
    return reply.code(201).send(added);
  });
  scope.delete<{ Params: { name: string } }>('/servers/:name', { config }, async (incoming, reply) => {
    await servers.unregister(incoming.params.name);
    return reply.code(204).send();
  });
}
