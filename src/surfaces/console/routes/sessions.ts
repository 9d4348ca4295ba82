import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { ConsoleSession, LoggedIn, SessionInfo } from '../../../domain/console/sessions.js';
import { HostError } from '../../../domain/errors.js';
import type { StoredSession } from '../../../host/admin/console/access.js';
import { visibleLine } from '../../../lib/text/visible-text.js';
import { readRequest } from '../../http/read-request.js';
import type { ConsoleContext } from '../console-options.js';
import { placeOf, sessionCookie } from '../guard.js';

const loginSchema = z.strictObject({ link: z.string().min(1).max(200) });
const MAX_BROWSER_CHARACTERS = 200;
/** A login link is far shorter. The sender is not authenticated yet. */
const MAX_LOGIN_BYTES = 4 * 1024;

/** Login, logout and the sessions of the console. */
export function mountSessions(scope: FastifyInstance, { options, startedAtMs, build }: ConsoleContext): void {
  const { access, host, version, stateFolder, profile, servesClients } = options;
  // Wrong links are not rate limited: a link cannot be guessed, and a limit would keep the owner's own link out.
  scope.post(
    '/login',
    { bodyLimit: MAX_LOGIN_BYTES, config: { isLogin: true } },
    async (request, reply): Promise<LoggedIn> => {
      const nowMs = Date.now();
      const { link } = readRequest(loginSchema, request.body, 'the body');
      const browser = visibleLine(request.headers['user-agent'] ?? 'unknown').slice(0, MAX_BROWSER_CHARACTERS);
      const opened = await access.openSession(link, { at: placeOf(request), browser });
      if (typeof opened === 'string') {
        const why =
          opened === 'expired' ? 'This link has expired.' : 'This link is wrong or was used before: it works once.';
        throw new HostError('bad_input', `${why} Get a new one with: codemode console`);
      }
      const { cookie, key, session } = opened;
      const seconds = Math.floor((session.expiresAtMs - nowMs) / 1_000);
      void reply.header('set-cookie', sessionCookie(request, cookie, seconds));
      return { key, session: viewOf(session, session.id) };
    },
  );
  scope.get('/session', async (request): Promise<SessionInfo> => {
    const load = host.loadNow();
    return {
      session: ownView(request),
      ...{ version, build, stateFolder, profile, servesClients, hostStartedAtMs: startedAtMs },
      ...(load === undefined ? {} : { isolation: (await host.open()).level }),
      pendingApprovals: (await host.approvals.pendingIds()).size,
      nowMs: Date.now(),
    };
  });
  scope.post('/logout', async (request, reply) => {
    await access.revoke(mine(request).id);
    void reply.header('set-cookie', sessionCookie(request, '', 0));
    return {};
  });
  scope.get('/sessions', async (request) => ({
    sessions: (await access.sessions()).map((session) => viewOf(session, mine(request).id)),
  }));
  scope.post<{ Params: { id: string } }>('/sessions/:id/revoke', async (request, reply) => {
    const own = mine(request);
    const { id } = request.params;
    if (own.role !== 'owner' && own.id !== id)
      return reply.code(403).send({ error: { code: 'forbidden', message: 'Only the owner can end other sessions.' } });
    if (!(await access.revoke(id)))
      throw new HostError('not_found', 'There is no such session (any more). Load the list again.');
    return {};
  });
}

export function mine(request: FastifyRequest): StoredSession {
  return request.consoleSession as StoredSession;
}

function ownView(request: FastifyRequest): ConsoleSession {
  const session = mine(request);
  return viewOf(session, session.id);
}

function viewOf(session: StoredSession, ownId: string): ConsoleSession {
  const { id, role, name, createdAtMs, usedAtMs, expiresAtMs, browser } = session;
  return { id, role, name, createdAtMs, lastUsedAtMs: usedAtMs, expiresAtMs, browser, isThisOne: id === ownId };
}
