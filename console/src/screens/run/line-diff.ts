export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

const MAX_CELLS = 4_000_000;

/** Diffs two texts by line, by their longest common subsequence. Texts that are too large are shown as removed and added. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const left = before.split('\n');
  const right = after.split('\n');
  if (left.length * right.length > MAX_CELLS) {
    return [...left.map(lineOf('removed')), ...right.map(lineOf('added'))];
  }
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    const [old, next] = [left[row], right[column]];
    if (old !== undefined && old === next) {
      lines.push({ kind: 'same', text: old });
      row += 1;
      column += 1;
    } else if (next === undefined || (old !== undefined && at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ kind: 'removed', text: old ?? '' });
      row += 1;
    } else {
      lines.push({ kind: 'added', text: next });
      column += 1;
    }
  }
  return lines;
}

function lineOf(kind: DiffLine['kind']) {
  return (text: string): DiffLine => ({ kind, text });
}
