import type { FastifyInstance } from 'fastify';
import type { JsonObject } from '../../domain/json.js';
import type { Principal } from '../../domain/principal.js';
import { mayCall, mayCallServer } from '../../host/runs/capability-grants.js';
import { apiNamespacesOf } from '../../host/tools/api-view.js';
import { shownTool } from '../../host/tools/tool-definition.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { visibleLine, visibleSentence } from '../../lib/text/visible-text.js';
import type { RestContext } from './rest-context.js';

/** `GET /tools`: namespaces with the tools that the token may call, by the names that code uses. */
export function mountTools(scope: FastifyInstance, rest: RestContext): void {
  scope.get('/tools', { config: { scope: 'tools' } }, async (request) => {
    const principal = request.principal as Principal;
    const view = await rest.sessionOf(principal).ready();
    const bounds = [
      rest.options.settings.bounds,
      ...(principal.capabilities === undefined ? [] : [principal.capabilities]),
    ];
    const namespaces: JsonObject = Object.create(null) as JsonObject;
    for (const { name, server, methods } of apiNamespacesOf(view)) {
      const callable = methods.filter(({ tool: { tool } }) => mayCall(tool, bounds));
      // A server that is down has no tools but may still be called.
      if (!mayCallServer(server.id, bounds) || (callable.length === 0 && methods.length > 0)) continue;
      namespaces[name] = {
        description: visibleSentence(server.description ?? server.name),
        server: server.id,
        ...(server.isStarting === true ? { problem: 'it is still starting; ask again in a few seconds' } : {}),
        ...omitUndefined({ problem: server.problem }),
        tools: callable.map(({ name: method, tool: { tool } }) => ({
          name: method,
          ...(tool.name === method ? {} : { toolName: visibleLine(tool.name) }),
          ...{ description: '', inputSchema: {} },
          ...shownTool(tool),
          ...(tool.deprecated === true ? { deprecated: true } : {}),
        })),
      };
    }
    return { namespaces };
  });
}
