import type { FastifyRequest } from 'fastify';
import { CONSOLE_API, CONSOLE_KEY_HEADER } from '../../domain/console/api.js';
import type { ConsoleAccess, ConsolePlace, StoredSession } from '../../host/admin/console/access.js';
import { processIdentity } from '../../lib/files/process-identity.js';

export interface Refusal {
  readonly status: 401 | 403 | 415;
  readonly code: 'no_session' | 'forbidden' | 'bad_input';
  readonly message: string;
}

const NEW_LINK = 'Get a new link with: codemode console';

/**
 * Whether a request can come from our own page, before anything in it is trusted. The listener has already checked the Host
 * header and foreign origins. Origins that `server.cors` allows are not allowed here.
 */
export function placeRefusal({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): Refusal | undefined {
  const { host, origin, authorization } = headers;
  if (authorization !== undefined)
    return forbidden('the console takes no tokens: a person opens the link that codemode console prints');
  const isOwnOrigin = origin === `http://${host}` || origin === `https://${host}`;
  if (origin !== undefined && !isOwnOrigin) return forbidden(OWN_PAGE);
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return forbidden(OWN_PAGE);
  if (method === 'GET' || method === 'HEAD') return undefined;
  // A form on another page cannot set this type, and a browser sends the page's origin.
  if (origin === undefined) return forbidden('a change needs the Origin header that browsers send');
  if (!/^application\/json(?:;|$)/i.test(headers['content-type'] ?? ''))
    return { status: 415, code: 'bad_input', message: 'send JSON, with content-type: application/json' };
  return undefined;
}

const OWN_PAGE = 'the console answers only its own page';

type PlacedRequest = Pick<FastifyRequest, 'headers' | 'socket'>;

/** Where a request arrived: this process, its port, and the Host header. */
export function placeOf({ headers, socket }: PlacedRequest): ConsolePlace {
  return { holder: OWN_HOLDER, port: socket.localPort ?? 0, host: headers.host ?? '' };
}

const OWN_HOLDER = processIdentity() ?? `${process.pid}:unknown`;

/** The session of a request. Its cookie, its key and the place where it was opened must all match. */
export async function sessionOf(request: PlacedRequest, access: ConsoleAccess): Promise<StoredSession | Refusal> {
  const { headers } = request;
  const cookie = cookieOf(headers.cookie, cookieName(request));
  const key = headers[CONSOLE_KEY_HEADER];
  if (cookie === undefined || typeof key !== 'string')
    return noSession(`This browser is not logged in to the console. ${NEW_LINK}`);
  const found = await access.find(cookie, key, placeOf(request));
  if (found === 'unknown') return noSession(`This session does not exist (any more): it was revoked. ${NEW_LINK}`);
  if (found === 'expired') return noSession(`This session has expired. ${NEW_LINK}`);
  if (found === 'elsewhere')
    return noSession(`This session was opened at another host, or before this one was started again. ${NEW_LINK}`);
  return found;
}

/**
 * All ports of a machine share cookies, so each port has its own cookie name. The name uses the port that the browser uses, not
 * the one at which the request arrived: it is the same on every host behind a load balancer.
 */
function cookieName({ headers: { host = '' } }: Pick<FastifyRequest, 'headers'>): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1];
  return port === undefined ? 'codemode_console' : `codemode_console_${port}`;
}

/** Not readable by scripts. Sent only by our own page and only to the API. */
export function sessionCookie(request: PlacedRequest, value: string, maxAgeSeconds: number): string {
  const { origin } = request.headers;
  const isSecure = origin?.startsWith('https://') === true;
  return `${cookieName(request)}=${value}; Path=${CONSOLE_API}; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${isSecure ? '; Secure' : ''}`;
}

function cookieOf(header: string | undefined, name: string): string | undefined {
  const found = header?.split(';').map((each) => each.trim().split('='));
  return found?.find(([key]) => key === name)?.[1];
}

function forbidden(message: string): Refusal {
  return { status: 403, code: 'forbidden', message };
}

function noSession(message: string): Refusal {
  return { status: 401, code: 'no_session', message };
}
