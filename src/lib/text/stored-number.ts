/** The last millisecond that a date can be. No time, size or count of ours comes near it, and a double holds it exactly. */
const MOST = 8_640_000_000_000_000;

/**
 * A number as it was stored. Who can write to a store without its key can store any: one that no date can be would end every list that it
 * is in.
 */
export function storedNumber(value: number): number {
  return Math.min(MOST, Math.max(-MOST, value));
}
