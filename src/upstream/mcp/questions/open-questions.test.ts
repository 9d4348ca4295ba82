import { expect, test } from 'vitest';
import { OpenQuestions } from './open-questions.js';

test('a caller has sixteen open at a time, and as many again once they are answered', () => {
  const open = new OpenQuestions();
  const answered = Array.from({ length: 16 }, () => open.enter('one', 10) as () => void);
  expect(open.enter('one', 10)).toContain('at most 16');
  expect(open.enter('two', 10)).toBeTypeOf('function');
  answered[0]?.();
  expect(open.enter('one', 10)).toBeTypeOf('function');
});

test('what waits is bounded in memory, for a caller and for all', () => {
  const open = new OpenQuestions();
  const large = (caller: string) => Array.from({ length: 5 }, () => typeof open.enter(caller, 4_000_000));
  expect(large('one')).toEqual([...Array(4).fill('function'), 'string']);
  for (let caller = 2; caller <= 8; caller += 1) expect(large(String(caller))[3]).toBe('function');
  expect(open.enter('nine', 100)).toContain('too large together');
});
