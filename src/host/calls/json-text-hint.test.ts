import { expect, test } from 'vitest';
import type { Outcome } from '../../domain/run.js';
import { isJsonText, withJsonTextHint, withSearchHint } from './json-text-hint.js';

const failed = (name: string): Outcome => ({
  status: 'failed',
  failure: { kind: 'exception', name, message: 'inv.filter is not a function' },
});
const tools = new Set(['crm/export_invoices']);
const hintOf = (outcome: Outcome) => (outcome.status === 'failed' ? outcome.failure.hint : undefined);

test('a TypeError after JSON text says how to parse it', () => {
  expect(hintOf(withJsonTextHint(failed('TypeError'), 'inv.filter()', tools))).toBe(
    "crm/export_invoices returns JSON text: parse it with: import { parse } from '@codemode/text'",
  );
});

test('a program that parses, got no such text or failed otherwise gets no such hint', () => {
  expect(hintOf(withJsonTextHint(failed('TypeError'), 'JSON.parse(inv)', tools))).toBeUndefined();
  expect(hintOf(withJsonTextHint(failed('TypeError'), 'inv.filter()', new Set()))).toBeUndefined();
  expect(hintOf(withJsonTextHint(failed('Error'), 'inv.filter()', tools))).toBeUndefined();
});

test('JSON text is a string that holds an object or a list', () => {
  const texts = ['{"a":1}', '[1]', '\n [1]', 'plain', '', 'a {'];
  expect(texts.map((text) => isJsonText(JSON.stringify(text)))).toEqual([true, true, true, false, false, false]);
  expect(isJsonText('[1]')).toBe(false);
});

test('a program that takes what searchTools gives for a list is told where the list is', () => {
  const hint = 'searchTools gives { query, results }: write (await searchTools(...)).results';
  expect(hintOf(withSearchHint(failed('TypeError'), '(await searchTools("a")).filter()'))).toBe(hint);
  expect(hintOf(withSearchHint(failed('TypeError'), '(await searchTools("a")).results.x.filter()'))).toBeUndefined();
  expect(hintOf(withSearchHint(failed('TypeError'), 'inv.filter()'))).toBeUndefined();
});
