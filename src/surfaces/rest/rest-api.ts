import type { FastifyInstance } from 'fastify';
import type { Gate } from '../http/gate.js';
import { parseJsonBodies } from '../http/json-body.js';
import { mountApprovals } from './approvals.js';
import { mountCheck } from './check.js';
import { answerErrors, refusalBody } from './errors.js';
import { mountExecute } from './execute.js';
import { openApiDocument } from './openapi.js';
import { PREFIX, RestContext, type RestOptions } from './rest-context.js';
import { RouteMethods } from './route-methods.js';
import { mountRunner, runnerPaths } from './runner.js';
import { mountRuns } from './runs.js';
import { mountServers } from './servers.js';
import { mountTools } from './tools.js';
import { SOCKET_PATH, WebSocketApi } from './websocket.js';

/** REST and WebSocket: the contract `unified`, whatever profile is configured. */
export class RestApi {
  readonly #rest: RestContext;
  readonly #sockets: WebSocketApi;

  constructor(options: RestOptions) {
    this.#rest = new RestContext(options);
    this.#sockets = new WebSocketApi(this.#rest);
  }

  mount(app: FastifyInstance, gate: Gate): void {
    const rest = this.#rest;
    const { options } = rest;
    void app.register(
      (scope, _options, done) => {
        parseJsonBodies(scope);
        answerErrors(scope, options.log);
        const routes = new RouteMethods();
        // For what is refused before the handler, such as a preflight of another origin. The framework takes `config` here too,
        // but its types do not know that: they need a property that they know.
        const inContract = { preValidation: [], config: { errorBody: refusalBody } };
        scope.setNotFoundHandler(inContract, (request, reply) => {
          const allowed = routes.at(request.url);
          const where = `${request.method} ${request.url.slice(0, 200)}`;
          if (request.url.split('?')[0] === SOCKET_PATH)
            return reply
              .code(426)
              .header('upgrade', 'websocket')
              .send(refusalBody('upgrade_required', `${where} is a WebSocket: connect to ws://`));
          if (allowed.length === 0)
            return reply.code(404).send(refusalBody('not_found', `there is nothing at ${where}`));
          const message = `${where} is not possible; use ${allowed.join(' or ')}`;
          return reply.code(405).header('allow', allowed.join(', ')).send(refusalBody('method_not_allowed', message));
        });
        scope.addHook('onRoute', (route) => {
          route.config = { ...route.config, errorBody: refusalBody };
          routes.add(route.method, route.url);
        });
        mountExecute(scope, rest);
        mountCheck(scope, rest);
        mountRunner(scope, rest);
        mountTools(scope, rest);
        mountRuns(scope, rest);
        mountApprovals(scope, rest);
        mountServers(scope, rest);
        const paths = options.runner === undefined ? {} : runnerPaths(options.runner);
        const document = openApiDocument(options.settings, options.version, paths);
        scope.get('/openapi.json', { config: { scope: 'tools' } }, () => document);
        done();
      },
      { prefix: PREFIX },
    );
    this.#sockets.attach(app.server, gate, app.initialConfig.bodyLimit ?? 1_048_576);
  }

  async close(graceMs: number): Promise<void> {
    await this.#rest.close(graceMs);
    this.#sockets.close();
  }
}
