/** A part of a text that is redacted, and the kind of secret it is. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Sorts and merges spans. Of two that overlap, the first gives the kind, and both give the extent. */
export function inOrder(spans: Span[]): Span[] {
  if (spans.length < 2) return spans;
  const merged: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push(span);
    else if (span.end > last.end) merged[merged.length - 1] = { ...last, end: span.end };
  }
  return merged;
}
