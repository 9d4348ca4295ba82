const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A duration in at most 8 characters if it is shorter than a day: `3.2 ms`, `1.5 s`, `2 min`. */
export function duration(ms: number): string {
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return ms < 2 * DAY_MS ? `${(ms / HOUR_MS).toFixed(1)} h` : `${Math.floor(ms / DAY_MS)} days`;
}

/** Roughly how long ago something was. If the clock was set back, it is `now`. */
export function timeAgo(ms: number): string {
  if (ms < MINUTE_MS) return ms < SECOND_MS ? 'now' : `${Math.floor(ms / SECOND_MS)} s ago`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ago`;
  return ms < 2 * DAY_MS ? `${Math.floor(ms / HOUR_MS)} h ago` : `${Math.floor(ms / DAY_MS)} days ago`;
}
