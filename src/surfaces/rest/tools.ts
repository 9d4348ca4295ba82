import type { FastifyInstance } from 'fastify';
import type { JsonObject } from '../../domain/json.js';
import type { Principal } from '../../domain/principal.js';
import { apiNamespacesOf } from '../../host/api-view.js';
import type { RestDoor } from './door.js';

/** `GET /tools`: namespaces with their tools, under the names that code calls them by. */
export function mountTools(scope: FastifyInstance, door: RestDoor): void {
  scope.get('/tools', { config: { scope: 'tools' } }, async (request) => {
    const view = await door.sessionOf(request.principal as Principal).ready();
    const namespaces: JsonObject = Object.create(null) as JsonObject;
    for (const { name, server, methods } of apiNamespacesOf(view))
      namespaces[name] = {
        description: server.description ?? server.name,
        server: server.id,
        ...(server.isStarting === true ? { problem: 'it is still starting; ask again in a few seconds' } : {}),
        ...(server.problem === undefined ? {} : { problem: server.problem }),
        tools: methods.map(({ name: method, tool: { tool } }) => ({
          name: method,
          ...(tool.name === method ? {} : { toolName: tool.name }),
          description: tool.description ?? '',
          inputSchema: tool.inputSchema ?? {},
          ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
          ...(tool.deprecated === true ? { deprecated: true } : {}),
        })),
      };
    return { namespaces };
  });
}
