import { expect, test } from 'vitest';
import { fillParagraphs, wrapLines } from './wrap.js';

test('a line that is too wide is broken between words, under its own indentation', () => {
  expect(wrapLines('  one two three four\nshort', 12)).toBe('  one two\n  three four\nshort');
  expect(wrapLines('a unbreakable-word b', 5)).toBe('a\nunbreakable-word\nb');
  expect(wrapLines('one two three', undefined)).toBe('one two three');
});

test('styles take no column, and spaces inside a line stay', () => {
  expect(wrapLines('\u001b[1mcodemode\u001b[0m  lists them', 20)).toBe('\u001b[1mcodemode\u001b[0m  lists them');
});

test('paragraphs that were wrapped for a wider terminal are wrapped again, and lists are kept', () => {
  const text = 'Tools of a server that\ndoes not answer stay.\n\nStatus:\n    0  it did\n';
  expect(fillParagraphs(text, 16)).toBe('Tools of a\nserver that does\nnot answer stay.\n\nStatus:\n    0  it did\n');
  expect(fillParagraphs(text, 40)).toBe(text);
});
