const CONTEXT_LINES = 3;
/** Texts that differ in more lines are shown as replaced: the search time is quadratic in the differences. */
const MAX_DIFFERENCES = 2_000;

interface Change {
  readonly kind: ' ' | '-' | '+';
  readonly line: string;
}

/** The output of `diff -u` for two texts; empty if they are the same. */
export function unifiedDiff(before: string, after: string, name: string): string {
  if (before === after) return '';
  const changes = changesBetween(linesOf(before), linesOf(after));
  return [`--- ${name}`, `+++ ${name}`, ...hunksOf(changes), ''].join('\n');
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  else lines.push(`${lines.pop()}\n\\ No newline at end of file`);
  return lines;
}

function hunksOf(changes: readonly Change[]): string[] {
  const isNear = changes.map(() => false);
  changes.forEach(({ kind }, index) => {
    if (kind !== ' ') isNear.fill(true, Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1);
  });
  const output: string[] = [];
  let [oldLine, newLine] = [1, 1];
  for (let index = 0; index < changes.length; ) {
    let end = index;
    while (end < changes.length && isNear[end] === isNear[index]) end++;
    const part = changes.slice(index, end);
    const [oldCount, newCount] = ['+', '-'].map((other) => part.filter(({ kind }) => kind !== other).length);
    if (isNear[index]) {
      output.push(`@@ -${range(oldLine, oldCount ?? 0)} +${range(newLine, newCount ?? 0)} @@`);
      output.push(...part.map(({ kind, line }) => kind + line));
    }
    oldLine += oldCount ?? 0;
    newLine += newCount ?? 0;
    index = end;
  }
  return output;
}

function range(line: number, count: number): string {
  return `${count === 0 ? line - 1 : line},${count}`;
}

function changesBetween(before: readonly string[], after: readonly string[]): Change[] {
  let start = 0;
  while (start < Math.min(before.length, after.length) && before[start] === after[start]) start++;
  let [oldEnd, newEnd] = [before.length, after.length];
  while (oldEnd > start && newEnd > start && before[oldEnd - 1] === after[newEnd - 1]) {
    oldEnd--;
    newEnd--;
  }
  const marked = (kind: Change['kind'], lines: readonly string[]) => lines.map((line) => ({ kind, line }));
  return [
    ...marked(' ', before.slice(0, start)),
    ...shortest(before.slice(start, oldEnd), after.slice(start, newEnd)),
    ...marked(' ', before.slice(oldEnd)),
  ];
}

/** Myers' algorithm: the furthest point of each diagonal, for one difference, then two, and so on. */
function shortest(before: readonly string[], after: readonly string[]): Change[] {
  const trail: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  for (let differences = 0; differences <= Math.min(before.length + after.length, MAX_DIFFERENCES); differences++) {
    trail.push(furthest);
    const next = new Map<number, number>();
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      const isDown = comesDown(furthest, diagonal, differences);
      let x = isDown ? (furthest.get(diagonal + 1) ?? 0) : (furthest.get(diagonal - 1) ?? 0) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x++;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return walkBack(before, after, trail);
    }
    furthest = next;
  }
  return [
    ...before.map((line): Change => ({ kind: '-', line })),
    ...after.map((line): Change => ({ kind: '+', line })),
  ];
}

function comesDown(furthest: ReadonlyMap<number, number>, diagonal: number, differences: number): boolean {
  if (diagonal === -differences) return true;
  return diagonal !== differences && (furthest.get(diagonal - 1) ?? 0) < (furthest.get(diagonal + 1) ?? 0);
}

function walkBack(
  before: readonly string[],
  after: readonly string[],
  trail: readonly ReadonlyMap<number, number>[],
): Change[] {
  const changes: Change[] = [];
  let [x, y] = [before.length, after.length];
  for (let differences = trail.length - 1; differences >= 0; differences--) {
    const furthest = trail[differences] ?? new Map<number, number>();
    const diagonal = x - y;
    const isDown = comesDown(furthest, diagonal, differences);
    const fromX = furthest.get(isDown ? diagonal + 1 : diagonal - 1) ?? 0;
    const fromY = fromX - (isDown ? diagonal + 1 : diagonal - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      changes.push({ kind: ' ', line: before[--x] ?? '' });
      y--;
    }
    if (differences === 0) break;
    if (isDown) changes.push({ kind: '+', line: after[--y] ?? '' });
    else changes.push({ kind: '-', line: before[--x] ?? '' });
  }
  return changes.reverse();
}
