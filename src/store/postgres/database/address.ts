import { readFileSync } from 'node:fs';
import { HostError } from '../../../domain/errors.js';

/** Where the database is and how to talk to it, read from `postgres://user:password@host:port/database?sslmode=…`. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** Undefined: the connection is not encrypted. */
  readonly tls: TlsOptions | undefined;
  /** Names the server in messages: host, port and database, never the user's password. */
  readonly shown: string;
}

export interface TlsOptions {
  readonly rejectUnauthorized: true;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Only for `verify-ca`: the certificate is checked against the authority, not against the host name. */
  readonly checkServerIdentity?: () => undefined;
}

export const DEFAULT_PORT = 5432;
const PARAMETERS = ['host', 'port', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'];

/** Throws `bad_config`, without the text of the address: it may hold a password. */
export function parsePostgresAddress(text: string): PostgresAddress {
  const url = parseUrl(text);
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    throw badAddress(`it has the parameter ${unknown}; codemode knows ${PARAMETERS.join(', ')}`);
  }
  const host = url.searchParams.get('host') ?? (decoded(url.hostname).replace(/^\[|\]$/g, '') || 'localhost');
  const port = Number(url.searchParams.get('port') ?? (url.port || DEFAULT_PORT));
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw badAddress('its port is not a number up to 65535');
  const database = decoded(url.pathname.slice(1)) || undefined;
  return {
    host,
    port,
    user: decoded(url.username) || undefined,
    password: decoded(url.password) || undefined,
    database,
    tls: tlsOf(url.searchParams, host),
    shown: `${host.startsWith('/') ? host : `${host}:${port}`}${database === undefined ? '' : `/${database}`}`,
  };
}

function parseUrl(text: string): URL {
  const [, scheme, rest = ''] = /^(postgres(?:ql)?):\/\/(.*)$/s.exec(text) ?? [];
  if (scheme === undefined) throw badAddress('it does not begin with postgres://');
  // `postgres://user@/database?host=/run/postgresql` has no host, but a URL must have one.
  const withHost = rest.replace(/^([^@/?#]*@)?(?=[/?#]|$)/, '$1localhost');
  const address = `http://${withHost}`;
  if (!URL.canParse(address)) throw badAddress('it is not an address');
  return new URL(address);
}

/**
 * A connection to another machine is encrypted and the server's certificate verified, unless the address says
 * `sslmode=disable`. Weaker modes of libpq that fall back silently are refused; `require` verifies too.
 */
function tlsOf(parameters: URLSearchParams, host: string): TlsOptions | undefined {
  const mode =
    parameters.get('sslmode') ?? (isLocal(host) && !parameters.has('sslrootcert') ? 'disable' : 'verify-full');
  if (mode === 'disable') return undefined;
  if (!['require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw badAddress(
      `sslmode=${mode} would accept a server that nobody verified; use verify-full (with sslrootcert=FILE for an ` +
        'authority of your own), verify-ca, or disable',
    );
  }
  const authority = parameters.get('sslrootcert');
  return {
    rejectUnauthorized: true,
    ...(authority === null || authority === 'system' ? {} : { ca: readPem('sslrootcert', authority) }),
    ...(parameters.has('sslcert') ? { cert: readPem('sslcert', parameters.get('sslcert') ?? '') } : {}),
    ...(parameters.has('sslkey') ? { key: readPem('sslkey', parameters.get('sslkey') ?? '') } : {}),
    ...(mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  };
}

function isLocal(host: string): boolean {
  return host.startsWith('/') || host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function readPem(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new HostError('bad_config', `store: the file of ${parameter} cannot be read: ${file}`, { cause: error });
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badAddress('a % in it is not followed by two hexadecimal digits; write % in a password as %25');
  }
}

function badAddress(problem: string): HostError {
  return new HostError(
    'bad_config',
    `store: the address of the database cannot be used: ${problem}. Write it as postgres://user:password@host:5432/database`,
  );
}
