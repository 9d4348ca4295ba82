import { visibleLine, visibleText } from '../lib/visible-text.js';

/** Who has to act when this happens. */
export type Blame = 'caller' | 'program' | 'policy' | 'upstream' | 'host' | 'machine';

export interface ErrorTraits {
  readonly blame: Blame;
  /** HTTP status on the REST surface. */
  readonly http: number;
  /** Exit status of the command line. */
  readonly exit: number;
  /** Whether the same request may succeed if it is made again. */
  readonly retry: boolean;
}

/**
 * Every way in which the host itself can fail, and what each surface makes of it.
 * A program that throws is a result, not an error: see `Failure` in `execution.ts`.
 */
export const ERRORS = {
  bad_input: { blame: 'caller', http: 400, exit: 2, retry: false },
  bad_config: { blame: 'caller', http: 500, exit: 2, retry: false },
  untrusted_config: { blame: 'caller', http: 500, exit: 2, retry: false },
  not_found: { blame: 'caller', http: 404, exit: 2, retry: false },
  conflict: { blame: 'caller', http: 409, exit: 2, retry: false },
  capability_violation: { blame: 'policy', http: 403, exit: 4, retry: false },
  cancelled: { blame: 'caller', http: 499, exit: 130, retry: true },
  image_rejected: { blame: 'caller', http: 409, exit: 4, retry: false },
  upstream_unavailable: { blame: 'upstream', http: 502, exit: 69, retry: true },
  issuer_unavailable: { blame: 'upstream', http: 503, exit: 69, retry: true },
  login_needed: { blame: 'caller', http: 502, exit: 69, retry: false },
  quota_exceeded: { blame: 'caller', http: 429, exit: 75, retry: true },
  sandbox_busy: { blame: 'host', http: 503, exit: 75, retry: true },
  shutting_down: { blame: 'host', http: 503, exit: 75, retry: true },
  jail_unavailable: { blame: 'machine', http: 500, exit: 69, retry: false },
  worker_lost: { blame: 'host', http: 500, exit: 70, retry: true },
  wire_violation: { blame: 'host', http: 500, exit: 70, retry: true },
  internal: { blame: 'host', http: 500, exit: 70, retry: false },
} as const satisfies Record<string, ErrorTraits>;

export type ErrorCode = keyof typeof ERRORS;

/** The one error class of the host. `message` is read by people and models: what happened, and what to do next. */
export class HostError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    // Much of what it says is somebody else's text: a name, a path, a server's own words. Only lists have lines.
    super(LISTS.has(code) ? visibleText(message) : visibleLine(message), options);
    this.name = 'HostError';
    this.code = code;
  }
}

/** Their messages are several lines, each of them made visible by itself. */
const LISTS: ReadonlySet<string> = new Set<ErrorCode>(['bad_config', 'untrusted_config', 'jail_unavailable']);

export function isHostError(error: unknown, code?: ErrorCode): error is HostError {
  return error instanceof HostError && (code === undefined || error.code === code);
}
