export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly factor: number;
}

/**
 * The wait before attempt `attempt` (1, 2, 3...): it grows, up to a bound, and a random half of it is left out,
 * so that many clients of one server that went down do not all come back in the same instant.
 */
export function backoffMs(attempt: number, options: BackoffOptions, random: () => number = Math.random): number {
  const full = Math.min(options.maxMs, options.firstMs * options.factor ** Math.max(0, attempt - 1));
  return Math.round(full / 2 + (full / 2) * random());
}
