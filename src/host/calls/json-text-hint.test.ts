import { expect, test } from 'vitest';
import type { Outcome } from '../../domain/run.js';
import { isJsonText, textToolsOf, withSearchHint, withTextHint } from './json-text-hint.js';

const failed = (name: string): Outcome => ({
  status: 'failed',
  failure: { kind: 'exception', name, message: 'inv.filter is not a function' },
});
const tools = () => new Map([['crm/export_invoices', 'JSON text']]);
const hintOf = (outcome: Outcome) => (outcome.status === 'failed' ? outcome.failure.hint : undefined);

test('a TypeError after JSON text says how to parse it', () => {
  expect(hintOf(withTextHint(failed('TypeError'), 'inv.filter()', tools))).toBe(
    "crm/export_invoices returns JSON text: parse it with: import { parse } from '@codemode/text'",
  );
});

test('a program that parses, got no such text or failed otherwise gets no such hint', () => {
  expect(hintOf(withTextHint(failed('TypeError'), 'JSON.parse(inv)', tools))).toBeUndefined();
  expect(hintOf(withTextHint(failed('TypeError'), 'inv.filter()', () => new Map()))).toBeUndefined();
  expect(hintOf(withTextHint(failed('Error'), 'inv.filter()', tools))).toBeUndefined();
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

test('tools are named with the kind of text that they were seen to return', () => {
  const observed: Record<string, string> = {
    rows: '/** CSV text of: { id: string }[] */ string',
    log: '/** Python literal or JSON text, or plain text, cut off by the server where it is long */ string',
    page: '{ body: /** JSON text of: {} */ string }',
    words: 'string',
  };
  const names = [...Object.keys(observed), 'failed'];
  const forCode = { serverByPath: new Map([['crm', { tools: names.map((name) => ({ tool: { name } })) }]]) };
  const view = { forCode, observedTypeOf: ({ name }: { name: string }) => observed[name] };
  const trace = names.map((toolName) => ({ serverId: 'crm', toolName, durationMs: 1, ok: toolName !== 'failed' }));
  expect([...textToolsOf(trace, new Set(['crm/now']), view as unknown as Parameters<typeof textToolsOf>[2])]).toEqual([
    ['crm/rows', 'CSV text'],
    ['crm/log', 'Python literal or JSON text'],
    ['crm/now', 'JSON text'],
  ]);
});
