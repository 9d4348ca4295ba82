/** A duration for people: `7 s`, `1.5 s`, `800 ms`. */
export function inSeconds(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  return `${Math.round(milliseconds / 100) / 10} s`;
}
