import { Agent, fetch as undiciFetch } from 'undici';
import { HostError } from '../../../domain/errors.js';
import { LinkedAbort } from '../../../lib/async/linked-abort.js';
import { type AddressKind, addressKind, isIpLiteral, isLoopbackName } from '../../../lib/network-address.js';
import { maskAddress } from '../../../lib/secrets/address-secrets.js';
import { oneLine } from '../../../lib/text/bounded-text.js';
import { guardedLookup } from '../../guarded-lookup.js';

/** Far more than any metadata document or token answer needs. */
const MAX_ANSWER_BYTES = 256 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 3;

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface GuardOptions {
  /** The server that the user configured. Its own origin is allowed, whatever its address: the user sent us there. */
  readonly serverUrl: string;
  readonly allowPrivateAddresses: boolean;
  readonly signal?: AbortSignal;
}

/**
 * The only way to reach addresses that a server or an authorization server has named. They are untrusted: without a guard, a server
 * on the internet could reach through us whatever listens on this machine or in this network (SSRF).
 *
 * - https, or http to a host name that means this machine.
 * - A public server may name public addresses only, a private one private and public ones. The resolved address is checked, and
 *   exactly that address is connected to, so a name that changes in between gains nothing.
 * - Redirects stay within their origin, and only GET requests follow them.
 * - Answers are bounded in time and size, and read whole.
 */
export function createGuardedFetch(options: GuardOptions): { readonly fetch: Fetch; close(): Promise<void> } {
  const serverOrigin = new URL(options.serverUrl).origin;
  const allowed = allowedKinds(options);
  const check = (hostname: string, address: string) => checkAddress(hostname, address, allowed);
  const timeouts = { headersTimeout: REQUEST_TIMEOUT_MS, bodyTimeout: REQUEST_TIMEOUT_MS };
  const own = new Agent({ ...timeouts, connect: { timeout: REQUEST_TIMEOUT_MS } });
  const guarded = new Agent({
    ...timeouts,
    connect: { timeout: REQUEST_TIMEOUT_MS, lookup: guardedLookup(check) },
  });

  const fetchOnce = async (url: URL, init: RequestInit): Promise<Response> => {
    checkScheme(url);
    const isOwn = url.origin === serverOrigin;
    if (!isOwn && isIpLiteral(url.hostname)) check(url.hostname, url.hostname);
    const deadline = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    // Not `AbortSignal.any`: Node 20 may garbage-collect the deadline, and then it never fires.
    const ends = new LinkedAbort([deadline, options.signal, init.signal ?? undefined]);
    try {
      const answer = await undiciFetch(url, {
        ...(init as object),
        redirect: 'manual',
        signal: ends.signal,
        dispatcher: isOwn ? own : guarded,
      });
      return await readWhole(answer as unknown as Response, url);
    } catch (error) {
      options.signal?.throwIfAborted();
      throw unreachable(url, error, deadline.aborted);
    } finally {
      ends.release();
    }
  };

  const fetchGuarded: Fetch = async (address, init = {}) => {
    let url = parse(address);
    for (let hops = 0; ; hops += 1) {
      const answer = await fetchOnce(url, init);
      const location = answer.headers.get('location');
      if (answer.status < 300 || answer.status > 399 || location === null) return answer;
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      const isRead = init.method === undefined || init.method === 'GET';
      if (next?.origin !== url.origin || !isRead || hops === MAX_REDIRECTS)
        throw refusal(`${url.origin} redirects to ${next?.origin ?? 'nowhere'}, which is not followed`);
      url = next;
    }
  };
  return {
    fetch: fetchGuarded,
    close: async () => {
      await Promise.all([own.destroy(), guarded.destroy()]);
    },
  };
}

/** Also for the address that a browser is sent to: never `file:`, `javascript:` or an application's own scheme. */
export function checkScheme(url: URL): void {
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackName(url.hostname));
  if (!isSafe)
    throw refusal(
      `${oneLine(maskAddress(url.href), 200)} is not used for authorization: only https, and http on this machine itself`,
    );
  if (url.username !== '' || url.password !== '')
    throw refusal(`an address at ${url.host} with a name and a password in it is not used for authorization`);
}

function parse(address: string | URL): URL {
  if (!URL.canParse(String(address))) throw refusal(`${oneLine(String(address), 200)} is not an address`);
  return new URL(String(address));
}

function checkAddress(hostname: string, address: string, allowed: ReadonlySet<AddressKind>): void {
  const kind = addressKind(address);
  if (allowed.has(kind)) return;
  const what = { loopback: 'this machine itself', private: 'a private network', special: 'a reserved address' };
  throw refusal(
    `${hostname} resolves to ${what[kind as keyof typeof what]}, which a public server must not name; ` +
      'if it is intended, set auth.allowPrivateAddresses: true for this server',
  );
}

/** Decided by what the user wrote. A name counts as public until proved otherwise, because its owner decides what it resolves to. */
function allowedKinds({ serverUrl, allowPrivateAddresses }: GuardOptions): ReadonlySet<AddressKind> {
  if (allowPrivateAddresses) return new Set(['loopback', 'private', 'special', 'public']);
  const { hostname } = new URL(serverUrl);
  if (isLoopbackName(hostname)) return new Set(['loopback', 'private', 'public']);
  if (isIpLiteral(hostname) && addressKind(hostname) === 'private') return new Set(['private', 'public']);
  return new Set(['public']);
}

async function readWhole(answer: Response, url: URL): Promise<Response> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_ANSWER_BYTES) throw refusal(`the answer of ${url.origin} is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const hasBody = answer.status !== 204 && answer.status !== 304 && answer.status >= 200;
  return new Response(hasBody ? Buffer.concat(chunks) : null, {
    status: answer.status,
    headers: [...answer.headers].filter(([name]) => name !== 'content-encoding' && name !== 'content-length'),
  });
}

function unreachable(url: URL, error: unknown, isLate: boolean): HostError {
  for (let current = error, depth = 0; current instanceof Error && depth < 5; current = current.cause, depth += 1)
    if (current instanceof HostError) return current;
  const { code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
  const reason = isLate ? `no answer within ${REQUEST_TIMEOUT_MS} ms` : (code ?? oneLine(String(error), 200));
  return refusal(`${url.origin} cannot be reached (${reason})`, error);
}

function refusal(message: string, cause?: unknown): HostError {
  return new HostError('upstream_unavailable', message, { cause });
}
