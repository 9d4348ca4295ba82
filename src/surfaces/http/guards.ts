import { isIP } from 'node:net';

/** Who may connect to the network surfaces. */
export interface GuardRules {
  /** Names of this host besides those of loopback. */
  readonly hosts: readonly string[];
  /** It listens beyond loopback, so a client may use any address of the machine. */
  readonly isOpenToNetwork: boolean;
  /** Other origins whose web pages may call. */
  readonly origins: readonly string[];
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** The last Host header, parsed. The next request mostly has the same one, and parsing it costs more than everything else here. */
let last: { readonly header: string | undefined; readonly name: string | undefined } = {
  header: undefined,
  name: undefined,
};

/**
 * Layer 1 against web pages: a page whose name was rebound to our address still sends its own name as `Host`. Only names are
 * compared, because a forwarded port differs.
 */
export function hostProblem(header: string | undefined, { hosts, isOpenToNetwork }: GuardRules): string | undefined {
  if (header !== last.header) last = { header, name: hostnameOf(header) };
  const { name } = last;
  if (name === undefined) return 'the Host header is missing or malformed';
  if (LOOPBACK.includes(name) || hosts.some((host) => hostnameOf(host) === name)) return undefined;
  // An IP address is not a name, so it cannot have been rebound.
  if (isOpenToNetwork && isIP(name.replace(/^\[|\]$/g, '')) !== 0) return undefined;
  return 'this host name is not allowed; add it to server.allowedHosts if it should be';
}

/** Layer 2: a browser sends the origin of the page. Our own pages, allowed origins and clients that are not browsers pass. */
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

/** The origin has our name and a port that the Host header lacks, as with nginx's `$host`. It is still refused. */
function isPortLost(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && new URL(origin).hostname === host;
}

/** Lower case, without the port. Undefined if the header is not a host. */
function hostnameOf(host: string | undefined): string | undefined {
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host)) return undefined;
  const bare = isIP(host) === 6 ? `[${host}]` : host;
  return URL.canParse(`http://${bare}`) ? new URL(`http://${bare}`).hostname : undefined;
}
