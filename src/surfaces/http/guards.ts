import { isIP } from 'node:net';

/** Who may speak to the network surfaces. */
export interface GuardRules {
  /** Names by which this host is meant to be reached, besides loopback's own. */
  readonly hosts: readonly string[];
  /** It listens beyond loopback, so that any address of the machine may be the one that was meant. */
  readonly isOpenToNetwork: boolean;
  /** Web pages of other origins that may call. */
  readonly origins: readonly string[];
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** What the last request called us: the next one mostly does too, and to take an address apart costs more than all the rest here. */
let last: { readonly header: string | undefined; readonly name: string | undefined } = {
  header: undefined,
  name: undefined,
};

/**
 * Layer 1 against web pages: a page whose name was rebound to our address still sends its own name as `Host`. Names are
 * compared, ports are not: a forwarded port is another one.
 */
export function hostProblem(header: string | undefined, { hosts, isOpenToNetwork }: GuardRules): string | undefined {
  if (header !== last.header) last = { header, name: hostnameOf(header) };
  const { name } = last;
  if (name === undefined) return 'the Host header is missing or malformed';
  if (LOOPBACK.includes(name) || hosts.some((host) => hostnameOf(host) === name)) return undefined;
  // An address is not a name: it cannot have been rebound.
  if (isOpenToNetwork && isIP(name.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  return 'this name is not one of ours; add it to server.allowedHosts if it should be';
}

/** Layer 2: a browser says which page a request comes from. Our own pages, those that are allowed, and no browser pass. */
export function originProblem(
  origin: string | undefined,
  host: string | undefined,
  { origins }: GuardRules,
): string | undefined {
  if (origin === undefined || origins.includes(origin)) return undefined;
  if (host !== undefined && (origin === `http://${host}` || origin === `https://${host}`)) return undefined;
  return `web pages of this origin may not call; ${isPortLost(origin, host) ? PORT_LOST : 'add it to server.cors.origins if it should'}`;
}

const PORT_LOST =
  'if it is our own page, a proxy has dropped the port from the Host header: let it pass on what the browser sends (nginx: proxy_set_header Host $http_host)';

/** Our name, and a port that our Host header has not: nginx's `$host` does that. It is refused all the same. */
function isPortLost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).hostname === host;
}

/** Lower case, without the port; nothing where it is not a host. */
function hostnameOf(host: string | undefined): string | undefined {
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return undefined;
  const bare = isIP(host) === 6 ? `[${host}]` : host;
  return URL.canParse(`http://${bare}`) ? new URL(`http://${bare}`).hostname : undefined;
}
