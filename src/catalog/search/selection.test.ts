import { expect, test } from 'vitest';
import { NameMatch } from './name-match.js';
import { Postings } from './postings.js';
import { RANKING } from './ranking.js';
import { selectTools } from './selection.js';

test('once a step has its tool, the next choice goes to another step', () => {
  const first = Float32Array.of(10, 10, 10, 10, 0);
  const second = Float32Array.of(0, 0, 0, 0, 2);
  const whole = first.map((score, tool) => score + second[tool]!);
  const steps = [first, second].map((scores) => ({ scores, pull: 1 }));
  const chosen = selectTools({ whole, steps, words: [], names: ['a', 'b', 'c', 'd', 'e'], start: 0, end: 5 }, 5);
  expect(chosen.map(({ tool }) => tool)).toEqual([0, 4, 1, 2, 3]);
});

test('within a step, a tool for an unanswered word ranks before a twin of the last choice', () => {
  const scores = Float32Array.of(10, 10, 9.9);
  const words = [
    { documents: [0, 1], values: Float32Array.of(10, 10) },
    { documents: [2], values: Float32Array.of(9.9) },
  ];
  const chosen = selectTools(
    { whole: scores, steps: [{ scores, pull: 1 }], words, names: ['a', 'b', 'c'], start: 0, end: 3 },
    3,
  );
  expect(chosen.map(({ tool }) => tool)).toEqual([0, 2, 1]);
});

test('an implied step comes after the named ones', () => {
  const named = Float32Array.of(0, 5);
  const implied = Float32Array.of(5, 0);
  const steps = [
    { scores: implied, pull: RANKING.implied },
    { scores: named, pull: 1 },
  ];
  const chosen = selectTools(
    { whole: Float32Array.of(5, 5), steps, words: [], names: ['a', 'b'], start: 0, end: 2 },
    2,
  );
  expect(chosen.map(({ tool }) => tool)).toEqual([1, 0]);
});

test('a name that was asked for in full counts more than one asked for in part', () => {
  const tools = ['list_issues', 'list_issue_types', 'ping'].map((name) => ({ serverId: 's', name }));
  const postings = new Postings(
    tools.map(({ name }) => [name]),
    [{ weight: 1, lengthPenalty: 0 }],
  );
  const words = ['list', 'issu'].map((term) => ({ alternatives: [{ term, share: 1 }], weight: 1 }));
  const [full, part, none] = new NameMatch(tools, postings).factorsFor([{ words, pull: 1 }]);
  expect(full).toBeCloseTo(1 + RANKING.fullName);
  expect(part).toBeGreaterThan(1);
  expect(part).toBeLessThan(1.5);
  expect(none).toBe(1);
});

test('a tool of the same name on another server comes after what else fits', () => {
  const whole = Float32Array.of(5, 4.9, 3);
  const steps = [{ scores: whole, pull: 1 }];
  const chosen = selectTools({ whole, steps, words: [], names: ['list', 'list', 'read'], start: 0, end: 3 }, 3);
  expect(chosen.map(({ tool }) => tool)).toEqual([0, 2, 1]);
});
