import { visibleLine, visibleText } from '../lib/text/visible-text.js';

/** Who has to act on the error. */
export type Blame = 'caller' | 'program' | 'policy' | 'upstream' | 'host' | 'machine';

export interface ErrorTraits {
  readonly blame: Blame;
  /** HTTP status on the REST surface. */
  readonly http: number;
  /** Exit status of the command line. */
  readonly exit: number;
  /** Whether the same request may succeed if it is made again. */
  readonly retry: boolean;
  /** When the error occurs, and what to do. `docs/reference/errors.md` is generated from both. */
  readonly meaning: string;
  readonly next: string;
}

/**
 * Every error of the host itself, and how each surface reports it.
 * A program that throws is a result, not an error: see `Failure` in `run.ts`.
 */
export const ERRORS = {
  bad_input: {
    blame: 'caller',
    http: 400,
    exit: 2,
    retry: false,
    meaning: 'A request, an argument or an option is malformed or names something that does not exist.',
    next: 'Correct what the message names.',
  },
  bad_config: {
    blame: 'caller',
    http: 500,
    exit: 2,
    retry: false,
    meaning: 'The configuration, the state folder or its key cannot be used.',
    next: 'Correct the place that the message names, with file, line and column.',
  },
  untrusted_config: {
    blame: 'caller',
    http: 500,
    exit: 2,
    retry: false,
    meaning: 'The `codemode.config.*` of the current folder is not trusted yet, or has changed.',
    next: 'Review it with `codemode trust`, or name a file with `--config`.',
  },
  not_found: {
    blame: 'caller',
    http: 404,
    exit: 2,
    retry: false,
    meaning: 'There is no such run, approval, server, script or route for this caller.',
    next: 'Check the id or name; `codemode runs`, `approvals`, `servers` and `scripts` list them.',
  },
  conflict: {
    blame: 'caller',
    http: 409,
    exit: 2,
    retry: false,
    meaning: 'The request contradicts the present state: a second decision, a name that is taken.',
    next: 'Read the state again before the next request.',
  },
  capability_violation: {
    blame: 'policy',
    http: 403,
    exit: 4,
    retry: false,
    meaning: 'The request asks for more than the token or the configuration grants.',
    next: 'Ask for less, or extend the grant in `security.capabilities`.',
  },
  cancelled: {
    blame: 'caller',
    http: 499,
    exit: 130,
    retry: true,
    meaning: 'The client cancelled the request, or closed its connection.',
    next: 'Send the request again if it is still wanted.',
  },
  image_rejected: {
    blame: 'caller',
    http: 409,
    exit: 4,
    retry: false,
    meaning: 'A suspended program was changed, or belongs to another run, caller, key or build.',
    next: 'Start the program again.',
  },
  upstream_unavailable: {
    blame: 'upstream',
    http: 502,
    exit: 69,
    retry: true,
    meaning: 'A server is down, or did not answer in time.',
    next: '`codemode servers` says what is wrong with it.',
  },
  issuer_unavailable: {
    blame: 'upstream',
    http: 503,
    exit: 69,
    retry: true,
    meaning: 'The keys of the token issuer could not be fetched.',
    next: 'Try again; check `security.auth.issuer`.',
  },
  login_needed: {
    blame: 'caller',
    http: 502,
    exit: 69,
    retry: false,
    meaning: 'A server needs an OAuth login.',
    next: '`codemode auth login SERVER`.',
  },
  quota_exceeded: {
    blame: 'caller',
    http: 429,
    exit: 75,
    retry: true,
    meaning: 'The caller has used up one of its quotas.',
    next: 'Wait for its other work to end, or raise the key of `quotas` that the message names.',
  },
  sandbox_busy: {
    blame: 'host',
    http: 503,
    exit: 75,
    retry: true,
    meaning: 'All workers are in use and the queue is full.',
    next: 'Try again in a few seconds, or raise `sandbox.workers.max`.',
  },
  lease_lost: {
    blame: 'host',
    http: 409,
    exit: 75,
    retry: true,
    meaning:
      'Another host has taken this run over: this one was paused or cut off, and must not write about it any more.',
    next: 'Ask for the run again: any host knows its state.',
  },
  shutting_down: {
    blame: 'host',
    http: 503,
    exit: 75,
    retry: true,
    meaning: 'The host is stopping and takes no new work.',
    next: 'Send the request again to the next host.',
  },
  store_unavailable: {
    blame: 'machine',
    http: 503,
    exit: 69,
    retry: true,
    meaning: 'The database that hosts share cannot be reached, or did not answer in time.',
    next: '`codemode doctor` says what is wrong with it. Send the request again later.',
  },
  jail_unavailable: {
    blame: 'machine',
    http: 500,
    exit: 69,
    retry: false,
    meaning: 'The configured isolation is unavailable on this machine. No program runs with less.',
    next: '`codemode doctor` prints the command that repairs it.',
  },
  worker_lost: {
    blame: 'host',
    http: 500,
    exit: 70,
    retry: true,
    meaning: 'A worker process died, and the run could not be rebuilt in another one.',
    next: 'Send the request again, unless its calls must not be repeated.',
  },
  wire_violation: {
    blame: 'host',
    http: 500,
    exit: 70,
    retry: true,
    meaning: 'A worker broke the wire protocol and was killed.',
    next: 'Send the request again; report it if it repeats.',
  },
  internal: {
    blame: 'host',
    http: 500,
    exit: 70,
    retry: false,
    meaning: 'A bug in codemode.',
    next: 'Report it, with the log.',
  },
} as const satisfies Record<string, ErrorTraits>;

export type ErrorCode = keyof typeof ERRORS;

/** The one error class of the host. `message` is read by people and models: what happened, and what to do next. */
export class HostError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    // Much of the message is untrusted text: a name, a path, a server's own text. Only lists may have several lines.
    super(LISTS.has(code) ? visibleText(message) : visibleLine(message), options);
    this.name = 'HostError';
    this.code = code;
  }
}

/** Errors whose messages have several lines, each of them made visible by itself. */
const LISTS: ReadonlySet<string> = new Set<ErrorCode>(['bad_config', 'untrusted_config', 'jail_unavailable']);

export function isHostError(error: unknown, code?: ErrorCode): error is HostError {
  return error instanceof HostError && (code === undefined || error.code === code);
}
