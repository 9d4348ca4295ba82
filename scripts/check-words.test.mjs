// @ts-check
import { expect, test } from 'vitest';
import { findPhrases } from './check-words.mjs';

test('a phrase that reads as translated is found, with its line and what to write', () => {
  expect(findPhrases('a.ts', 'one\nthe run is put away')).toEqual([
    'a.ts:2: "put away": write suspend (glossary: run state)',
  ]);
});

test('plain words pass', () => {
  expect(findPhrases('a.ts', 'the run is suspended, and resumed when the caller decides')).toEqual([]);
});
