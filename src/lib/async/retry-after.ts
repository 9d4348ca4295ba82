/** The longest wait for one call. A header that asks for more is cut to this. */
const MOST_MS = 24 * 60 * 60 * 1000;

/** The wait that a `Retry-After` header asks for, in seconds or until a date. Undefined if the header is missing or invalid. */
export function retryAfterMs(header: string | null | undefined, nowMs = Date.now()): number | undefined {
  const text = header?.trim() ?? '';
  const waitMs = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  return Number.isFinite(waitMs) ? Math.min(MOST_MS, Math.max(0, Math.round(waitMs))) : undefined;
}
