import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { CONSOLE_API, MAX_OPENED_BYTES } from '../../domain/console/api.js';
import { ERRORS, type HostError, isHostError } from '../../domain/errors.js';
import type { StoredSession } from '../../host/admin/console/access.js';
import { parseJsonBodies } from '../http/json-body.js';
import type { ConsoleContext, ConsoleOptions } from './console-options.js';
import { EventStreams } from './events.js';
import { Feed } from './feed.js';
import { placeRefusal, sessionOf } from './guard.js';
import { mountPageFiles } from './page-files.js';
import { API_HEADERS } from './page-headers.js';
import { mountApprovals } from './routes/approvals.js';
import { mountAudit } from './routes/audit.js';
import { mountConnect } from './routes/connect.js';
import { mountGrants } from './routes/grants.js';
import { mountPlayground } from './routes/playground.js';
import { mountPolicy } from './routes/policy.js';
import { mountRuns } from './routes/runs.js';
import { mountScripts } from './routes/scripts.js';
import { mountServers } from './routes/servers.js';
import { mountSessions } from './routes/sessions.js';
import { mountTools } from './routes/tools.js';
import { mountUsage } from './routes/usage.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no session. */
    isLogin?: boolean;
    /** Only for the owner of the state folder: it runs code, calls tools or makes a lasting change. */
    isOwnersOnly?: boolean;
  }
  interface FastifyRequest {
    consoleSession?: StoredSession;
  }
}

/** The console: its page at `/`, its API under `/console/api`. Every API request passes the guard first. */
export class ConsoleSurface {
  readonly #options: ConsoleOptions;
  readonly #streams: EventStreams;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.#streams = new EventStreams(new Feed(options), options);
  }

  mount(app: FastifyInstance): void {
    const build = mountPageFiles(app, this.#options.folder);
    const context: ConsoleContext = { options: this.#options, startedAtMs: Date.now(), build };
    void app.register(
      (scope, _options, done) => {
        this.#guard(scope);
        parseJsonBodies(scope);
        mountSessions(scope, context);
        mountApprovals(scope, context);
        mountGrants(scope, context);
        mountRuns(scope, context);
        mountScripts(scope, context);
        mountPlayground(scope, context);
        mountServers(scope, context);
        mountTools(scope, context);
        mountPolicy(scope, context);
        mountAudit(scope, context);
        mountUsage(scope, context);
        mountConnect(scope, context);
        scope.get('/events', (request, reply) => this.#streams.begin(request, reply));
        done();
      },
      { prefix: CONSOLE_API },
    );
  }

  close(): void {
    this.#streams.close();
  }

  #guard(scope: FastifyInstance): void {
    scope.addHook('onRoute', (route) => {
      // These routes take no token: the guard below decides.
      route.config = { ...route.config, isPublic: true };
      route.bodyLimit ??= MAX_OPENED_BYTES;
    });
    scope.addHook('onRequest', async (request, reply) => {
      void reply.headers(API_HEADERS);
      const misplaced = placeRefusal(request);
      if (misplaced !== undefined) return refuse(reply, misplaced.status, misplaced.code, misplaced.message);
      const { isLogin = false, isOwnersOnly = false } = request.routeOptions.config;
      if (isLogin) return undefined;
      const found = await sessionOf(request, this.#options.access);
      if ('status' in found) return refuse(reply, found.status, found.code, found.message);
      if (isOwnersOnly && found.role !== 'owner') return refuse(reply, 403, 'forbidden', OWNERS_ONLY);
      request.consoleSession = found;
      return undefined;
    });
    scope.setErrorHandler<FastifyError>((error, _request, reply) => {
      if (isHostError(error)) return refuse(reply, ERRORS[error.code].http, codeOf(error), error.message);
      const { statusCode = 500 } = error;
      if (statusCode < 500) return refuse(reply, statusCode, 'bad_input', error.message);
      this.#options.log(`a request of the console failed inside codemode: ${error.stack ?? error.message}`, 'error');
      return refuse(reply, 500, 'internal', 'Something went wrong inside codemode. Its log says more.');
    });
  }
}

const OWNERS_ONLY =
  'This session may look and decide. Only a session of the owner may do this: open one with: codemode console';

function codeOf({ code }: HostError): string {
  return code === 'sandbox_busy' || code === 'shutting_down' || code === 'quota_exceeded' ? 'busy' : code;
}

function refuse(reply: FastifyReply, status: number, code: string, message: string): FastifyReply {
  return reply.code(status).send({ error: { code, message } });
}
