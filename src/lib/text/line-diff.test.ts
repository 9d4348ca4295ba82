import { expect, test } from 'vitest';
import { unifiedDiff } from './line-diff.js';

test('equal texts have no difference', () => {
  expect(unifiedDiff('a\nb\n', 'a\nb\n', 'x')).toBe('');
});

test('a line that was added is shown with three lines around it', () => {
  const before = [1, 2, 3, 4, 5, 6, 7, 8].join('\n');
  expect(unifiedDiff(`${before}\n`, `${before.replace('5', '5\nnew')}\n`, 'x')).toBe(
    '--- x\n+++ x\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+new\n 6\n 7\n 8\n',
  );
});

test('a new file is all added, and a missing last line break is told', () => {
  expect(unifiedDiff('', 'a\nb', 'x')).toBe('--- x\n+++ x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n');
});

/** Lines of a small alphabet: they repeat, as braces do in JSON. */
function someText(random: () => number): string {
  return Array.from({ length: Math.floor(random() * 30) }, () => `${'abcd'[Math.floor(random() * 4)]}\n`).join('');
}

/** What `patch` does: the lines of each hunk take the place of those it names. */
function patched(before: string, patch: string): string {
  const lines = before.split('\n').slice(0, -1);
  const result: string[] = [];
  let at = 0;
  for (const hunk of patch.split(/^@@ /m).slice(1)) {
    const [head = '', ...body] = hunk.trimEnd().split('\n');
    const [start = 0, count = 0] = (/^-(\d+),(\d+)/.exec(head) ?? []).slice(1).map(Number);
    const from = count === 0 ? start : start - 1;
    result.push(...lines.slice(at, from));
    const old = body.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
    expect(old).toEqual(lines.slice(from, from + count));
    result.push(...body.filter((line) => !line.startsWith('-')).map((line) => line.slice(1)));
    at = from + count;
  }
  return [...result, ...lines.slice(at)].map((line) => `${line}\n`).join('');
}

test('the hunks make the second text out of the first, whatever they are', () => {
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  for (let round = 0; round < 500; round++) {
    const [before, after] = [someText(random), someText(random)];
    const patch = unifiedDiff(before, after, 'x');
    expect(patch === '' ? before : patched(before, patch), patch).toBe(after);
  }
});
