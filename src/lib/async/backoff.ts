export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly factor: number;
}

/**
 * The wait before attempt `attempt` (1, 2, 3...). It grows up to a maximum, and up to half of it is randomly left out, so that many
 * clients of one failed server do not all reconnect at the same instant.
 */
export function backoffMs(attempt: number, options: BackoffOptions, random: () => number = Math.random): number {
  const full = Math.min(options.maxMs, options.firstMs * options.factor ** Math.max(0, attempt - 1));
  return Math.round(full / 2 + (full / 2) * random());
}
