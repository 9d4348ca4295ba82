import { HostError } from '../../../domain/errors.js';
import type { PostgresAddress } from './address.js';

/** The fields that the driver and Node set on their errors. `message` has the server's own text. */
interface DriverError {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly severity?: unknown;
}

/** The oldest supported PostgreSQL release: it has everything our statements use. */
export const OLDEST_VERSION = 13;

/** Turns a database error into one that says what to do. A `HostError` is returned unchanged. */
export function postgresError(error: unknown, address: PostgresAddress, isOpening = false): HostError {
  if (error instanceof HostError) return error;
  const { code, message, severity } = (error ?? {}) as DriverError;
  const text = typeof message === 'string' ? message : 'unknown reason';
  const key = typeof code === 'string' ? code : '';
  const isAtLogin = severity === 'FATAL';
  const known =
    isAtLogin && key === MISSING_RIGHT
      ? NO_CONNECT
      : (KNOWN[key] ?? KNOWN[key.slice(0, 2)] ?? byMessage(text, isOpening));
  if (known === undefined) {
    return new HostError('internal', `the database ${address.shown} refused a statement: ${text}`, { cause: error });
  }
  return new HostError(known.code, `${known.what(address, text)}; ${known.next(address, text)}`, { cause: error });
}

/** Whether the whole transaction was rolled back only because of a concurrent one. */
export function isConflict(error: unknown): boolean {
  const { code } = (error ?? {}) as DriverError;
  return code === '40001' || code === '40P01';
}

/** Whether it is unknown if the statement was executed: the connection was lost, or the answer came too late. */
export function isOutcomeUnknown(error: unknown): boolean {
  const { code, message } = (error ?? {}) as DriverError;
  return (
    (typeof message === 'string' && /Query read timeout|Connection terminated|connection error/i.test(message)) ||
    (typeof code === 'string' &&
      (/^E[A-Z]+$/.test(code) || code === '57P01' || code === '57P02' || code.startsWith('08')))
  );
}

interface Known {
  readonly code: 'bad_config' | 'store_unavailable';
  what(address: PostgresAddress, text: string): string;
  next(address: PostgresAddress, text: string): string;
}

const role = ({ user }: PostgresAddress): string => user ?? 'the role';
const CORRECT_ADDRESS = 'correct the address in `store` or CODEMODE_STORE, then check it with: codemode doctor';

/** SQLSTATE `insufficient_privilege`. */
export const MISSING_RIGHT = '42501';
/** SQLSTATE `read_only_sql_transaction`. */
export const READ_ONLY = '25006';

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), its first two characters, or Node's code. */
const KNOWN: Readonly<Record<string, Known>> = {
  ECONNREFUSED: {
    code: 'store_unavailable',
    what: ({ shown }) => `no database answers at ${shown} (connection refused)`,
    next: () => 'start PostgreSQL, or correct the address in `store`; then check it with: codemode doctor',
  },
  ENOENT: {
    code: 'store_unavailable',
    what: ({ shown }) => `no database listens on the socket in ${shown}`,
    next: () => 'start PostgreSQL, or correct the address in `store`; then check it with: codemode doctor',
  },
  ENOTFOUND: {
    code: 'bad_config',
    what: ({ host }) => `the host ${host} of the database is unknown`,
    next: () => CORRECT_ADDRESS,
  },
  EAI_AGAIN: {
    code: 'store_unavailable',
    what: ({ host }) => `the name ${host} of the database's host could not be resolved`,
    next: () => 'check the name server of this machine, then: codemode doctor',
  },
  '28P01': {
    code: 'bad_config',
    what: (address) => `the database ${address.shown} refused the password of ${role(address)}`,
    next: () => CORRECT_ADDRESS,
  },
  '28': {
    code: 'bad_config',
    what: (address, text) => `the database ${address.shown} does not let ${role(address)} in (${text})`,
    next: letIn,
  },
  '3D000': {
    code: 'bad_config',
    what: (address) => `there is no database ${address.database ?? ''} at ${address.host}`,
    next: (address) =>
      `create it with: createdb -h ${address.host} -p ${address.port} ${address.database ?? 'codemode'}`,
  },
  [MISSING_RIGHT]: {
    code: 'bad_config',
    what: (address, text) => `${role(address)} lacks a right in the database ${address.shown} (${text})`,
    next: (address) =>
      `let the owner of the schema migrate and grant it: codemode store migrate --grant ${address.user ?? 'ROLE'}`,
  },
  '53300': {
    code: 'store_unavailable',
    what: ({ shown }) => `the database ${shown} has no free connection`,
    next: () => 'lower `cluster.connections` of the hosts, raise max_connections, or put a pooler in front of it',
  },
  '53100': {
    code: 'store_unavailable',
    what: ({ shown }) => `the disk of the database ${shown} is full`,
    next: () => 'make room on it; what was not written is written again',
  },
  '53': {
    code: 'store_unavailable',
    what: ({ shown }, text) => `the database ${shown} is out of a resource (${text})`,
    next: () => 'give it more, then check it with: codemode doctor',
  },
  '58': {
    code: 'store_unavailable',
    what: ({ shown }, text) => `the database ${shown} has a problem with its machine (${text})`,
    next: () => 'read the log of PostgreSQL',
  },
  [READ_ONLY]: {
    code: 'bad_config',
    what: ({ shown }) => `the database ${shown} is read-only: it is a replica`,
    next: () => 'set `store` to the address of the primary, then: codemode doctor',
  },
  '57014': {
    code: 'store_unavailable',
    what: ({ shown }) => `the database ${shown} did not finish a statement in time`,
    next: () => 'look at its load; codemode doctor measures how long it takes to answer',
  },
  '55P03': {
    code: 'store_unavailable',
    what: ({ shown }) => `a row of the database ${shown} was locked for too long`,
    next: () => 'look for a transaction that stays open: SELECT * FROM pg_stat_activity',
  },
  '57': {
    code: 'store_unavailable',
    what: ({ shown }, text) => `the database ${shown} is starting or stopping (${text})`,
    next: () => 'wait until it accepts connections again',
  },
  '25': {
    code: 'store_unavailable',
    what: ({ shown }, text) => `the database ${shown} ended a transaction (${text})`,
    next: () => 'try again',
  },
  '08': {
    code: 'store_unavailable',
    what: ({ shown }, text) => `the connection to the database ${shown} failed (${text})`,
    next: () => 'check the network between this host and it with: codemode doctor',
  },
  '42P01': {
    code: 'bad_config',
    what: ({ shown }, text) => `the database ${shown} lacks a table of codemode (${text})`,
    next: () => 'restore it from a backup, or create it again: codemode store migrate',
  },
};

/** By the reason in the server's text, which is English unless the server was told otherwise. */
function letIn({ host, port, user = 'ROLE' }: PostgresAddress, text: string): string {
  if (/role .* does not exist/.test(text)) return `create it with: createuser -h ${host} -p ${port} ${user}`;
  if (/not permitted to log in/.test(text)) return `let it, as an administrator: ALTER ROLE ${user} LOGIN`;
  if (/certificate/.test(text))
    return 'give this host one that it accepts: add sslcert=FILE and sslkey=FILE to the address, then: codemode doctor';
  return 'add a line for it to pg_hba.conf, or correct the address in `store`; then: codemode doctor';
}

const NO_CONNECT: Known = {
  code: 'bad_config',
  what: (address, text) => `the database ${address.shown} does not let ${role(address)} in (${text})`,
  next: ({ database = 'codemode', user = 'ROLE' }) =>
    `let the owner of the database grant it: GRANT CONNECT ON DATABASE ${database} TO ${user}`,
};
const LOST: Known = {
  code: 'store_unavailable',
  what: ({ shown }, text) => `the connection to the database ${shown} was lost (${text})`,
  next: () => 'check the network between this host and it with: codemode doctor',
};
const NO_ANSWER: Known = {
  code: 'store_unavailable',
  what: ({ shown }, text) => `nothing at ${shown} answers as PostgreSQL does (${text})`,
  next: () => 'correct the address in `store`, or look for a firewall between this host and the database',
};
const NO_TLS: Known = {
  code: 'bad_config',
  what: ({ shown }) => `the database ${shown} does not speak TLS`,
  next: () =>
    'set `ssl = on` in postgresql.conf; on a network that only you can read, add sslmode=disable to the address',
};
const UNVERIFIED: Known = {
  code: 'bad_config',
  what: ({ shown }, text) => `the certificate of the database ${shown} is not trusted (${text})`,
  next: () => 'name the authority that signed it: add sslrootcert=FILE to the address, then: codemode doctor',
};
const PASSWORD_MISSING: Known = {
  code: 'bad_config',
  what: ({ shown }) => `the database ${shown} asks for a password`,
  next: () => CORRECT_ADDRESS,
};

/** Errors that the driver throws without a code. */
function byMessage(text: string, isOpening: boolean): Known | undefined {
  if (/does not support SSL/i.test(text)) return NO_TLS;
  if (/certificate|altnames|self.signed/i.test(text)) return UNVERIFIED;
  if (/password must be a string/i.test(text)) return PASSWORD_MISSING;
  if (/timeout|terminated|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|socket|not queryable|connection error/i.test(text))
    return isOpening ? NO_ANSWER : LOST;
  return undefined;
}
