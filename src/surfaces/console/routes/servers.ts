import type { FastifyInstance } from 'fastify';
import type { LoginLink, LoginState, ServerView } from '../../../domain/console/tools.js';
import { HostError, isHostError } from '../../../domain/errors.js';
import { visibleSentence } from '../../../lib/text/visible-text.js';
import type { ConsoleContext } from '../console-options.js';
import { serverViews } from '../server-views.js';

/** Time for a person to log in on the server's own page. */
const LOGIN_TIMEOUT_MS = 5 * 60_000;
const MAX_LOGINS = 10;

interface OneServer {
  readonly Params: { readonly id: string };
}

/** Servers: their state, their output, reconnecting, and logging in. */
export function mountServers(scope: FastifyInstance, { options }: ConsoleContext): void {
  const { servers, logins, log } = options;
  const owners = { config: { isOwnersOnly: true } };
  const viewOf = (id: string): ServerView => {
    const found = serverViews(options).find((server) => server.id === id);
    if (found !== undefined) return found;
    throw new HostError('not_found', 'There is no such server in this configuration (any more). Load the list again.');
  };
  let loginsOpen = 0;
  const states = new Map<string, LoginState>();
  scope.get('/servers', () => ({ servers: serverViews(options) }));
  scope.get<OneServer>('/servers/:id/log', ({ params: { id } }) => servers.logOf(viewOf(id).id));
  scope.post<OneServer>('/servers/:id/reconnect', owners, async ({ params: { id } }) => {
    await servers.reconnect(viewOf(id).id);
    return { server: viewOf(id) };
  });
  scope.get<OneServer>(
    '/servers/:id/login',
    owners,
    ({ params: { id } }) => states.get(viewOf(id).id) ?? { state: 'none' },
  );
  scope.post<OneServer>('/servers/:id/login', owners, async ({ params: { id } }): Promise<LoginLink> => {
    viewOf(id);
    if (loginsOpen >= MAX_LOGINS) throw new HostError('sandbox_busy', 'Too many log-ins are open. Finish one first.');
    const opened = await logins();
    loginsOpen++;
    states.set(id, { state: 'waiting' });
    return new Promise<LoginLink>((resolve, reject) => {
      opened
        .login(id, {
          timeoutMs: LOGIN_TIMEOUT_MS,
          onAddress: (url, { issuer }) => {
            // The page opens it, so only http and https are allowed.
            if (url.protocol === 'https:' || url.protocol === 'http:') resolve({ url: url.href, issuer });
            else
              reject(new HostError('upstream_unavailable', 'The server names a log-in page that is not a web page.'));
          },
        })
        .then(async () => {
          states.set(id, { state: 'done' });
          resolve({});
          await servers.reconnect(id);
        })
        .catch((error: unknown) => {
          const message = isHostError(error) ? error.message : 'The log-in failed. The log of the host says why.';
          states.set(id, { state: 'failed', message: visibleSentence(message) });
          reject(error instanceof HostError ? error : new HostError('upstream_unavailable', 'The log-in failed.'));
          log(`the log-in of a server from the console failed: ${String(error)}`, 'warn');
        })
        .finally(() => {
          loginsOpen--;
        });
    });
  });
}
