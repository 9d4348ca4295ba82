/** A span of time in which something happened. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

export interface Gap extends Interval {
  /** Its position on the scale, in 0..1. */
  readonly at: number;
  readonly width: number;
}

export interface TimeScale {
  /** The position of a time on the scale, in 0..1. */
  place(ms: number): number;
  readonly gaps: readonly Gap[];
  /** Total time without the gaps that are drawn short. */
  readonly shownMs: number;
  /** Round times, and their positions. */
  readonly ticks: readonly Tick[];
}

export interface Tick {
  readonly ms: number;
  readonly at: number;
}

/** Width of a long wait, as a fraction of the whole. */
const GAP_WIDTH = 0.05;
const MIN_GAP_MS = 1_000;

/** A time scale that shortens long waits (a suspended run, a person who thinks), so that the calls stay visible. */
export function timeScale(intervals: readonly Interval[]): TimeScale {
  const sorted = [...intervals].sort((left, right) => left.from - right.from);
  const first = sorted[0]?.from ?? 0;
  const busy: { from: number; to: number }[] = [];
  for (const { from, to } of sorted) {
    const last = busy.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else busy.push({ from, to });
  }
  const busyMs = busy.reduce((sum, { from, to }) => sum + to - from, 0);
  const longest = Math.max(MIN_GAP_MS, busyMs * 0.6);
  const long: Interval[] = [];
  for (const [index, { from }] of busy.entries()) {
    const before = busy[index - 1];
    if (before !== undefined && from - before.to > longest) long.push({ from: before.to, to: from });
  }
  const end = Math.max(first + 1, ...busy.map(({ to }) => to));
  const shownMs = Math.max(1, end - first - long.reduce((sum, { from, to }) => sum + to - from, 0));
  const gapWidth = Math.min(GAP_WIDTH, 0.5 / Math.max(1, long.length));
  const scale = (1 - gapWidth * long.length) / shownMs;
  const place = (ms: number): number => {
    let shown = 0;
    let at = first;
    let width = 0;
    for (const { from, to } of long) {
      if (ms <= from) break;
      shown += from - at;
      at = to;
      if (ms < to) return Math.min(1, shown * scale + width + (gapWidth * (ms - from)) / (to - from));
      width += gapWidth;
    }
    return Math.max(0, Math.min(1, (shown + Math.max(0, ms - at)) * scale + width));
  };
  const gaps = long.map(({ from, to }) => ({ from, to, at: place(from), width: gapWidth }));
  const step = roundStep(shownMs / TICKS);
  const ticks = Array.from({ length: Math.floor(shownMs / step) + 1 }, (_, index) => {
    const ms = index * step;
    let passed = 0;
    const before = gaps.filter(({ from, to }) => {
      const isBefore = from - first - passed < ms;
      passed += to - from;
      return isBefore;
    });
    return { ms, at: ms * scale + before.length * gapWidth };
  });
  return { place, gaps, shownMs, ticks };
}

/** Approximate number of labelled times. */
const TICKS = 4;

/** The next value of 1, 2 or 5 times a power of ten. */
function roundStep(ms: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, ms)));
  return ([1, 2, 5, 10].find((factor) => factor * power >= ms) ?? 10) * power;
}
