/** The last millisecond of a valid date. No time, size or count of ours comes near it, and a double holds it exactly. */
const MOST = 8_640_000_000_000_000;

/**
 * Clamps a number read from a store. An attacker who can write to a store without its key can store any number, and an invalid date
 * would break every list that contains it.
 */
export function storedNumber(value: number): number {
  return Math.min(MOST, Math.max(-MOST, value));
}
