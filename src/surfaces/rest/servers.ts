import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { UpstreamHealth } from '../../domain/upstream.js';
import type { RestDoor } from './door.js';
import { readRequest } from './read-request.js';

const request = z.looseObject({ name: z.string('must be the name of the server').min(1).max(128) });

/**
 * Servers that come and go while the host runs, in the words of the configuration. Whoever may add one starts processes of
 * this user: it is a scope of its own, which no token has by default.
 */
export function mountServers(scope: FastifyInstance, door: RestDoor): void {
  const { host, servers } = door.options;
  const config = { scope: 'servers' } as const;
  const described = (health: readonly UpstreamHealth[]) =>
    health.map(({ id, state, since, losses, reason, needsLogin }) => ({
      name: id,
      state,
      since: since.toISOString(),
      losses,
      ...(reason === undefined ? {} : { reason }),
      ...(needsLogin === true ? { needsLogin } : {}),
      ...servers.describe(id),
    }));
  scope.get('/servers', { config }, async () => ({ servers: described(await host.checkedHealth()) }));
  scope.post('/servers', { config }, async (incoming, reply) => {
    const { name, ...settings } = readRequest(request, incoming.body, 'the request');
    await servers.register(name, settings);
    // Asked now, so that whoever added it is told whether it works.
    await host.refresh();
    return reply.code(201).send(described(host.health()).find((each) => each.name === name));
  });
  scope.delete<{ Params: { name: string } }>('/servers/:name', { config }, async (incoming, reply) => {
    await servers.unregister(incoming.params.name);
    return reply.code(204).send();
  });
}
