import { expect, test, vi } from 'vitest';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { EVALUATION_BOUNDS } from './evaluate.js';
import { type ExampleMaker, ToolChecker } from './tool-checker.js';

/*
 * Schemas come from servers and inputs from programs: either may be made to cost. No test here asserts a time; each
 * would run for minutes, or not end at all, or overflow the stack, if the bound that it is about were gone.
 */

vi.setConfig({ testTimeout: 60_000 });

const noExample: ExampleMaker = () => ({});
const toolOf = (inputSchema: JsonObject): Tool => ({ serverId: 's', name: 'tool', inputSchema });
const check = (schema: JsonObject, input: JsonValue) => {
  const checker = new ToolChecker(noExample);
  const tool = toolOf(schema);
  const verdict = checker.checkArguments(tool, 'tool', input);
  return { error: verdict.ok ? undefined : verdict.error, warnings: checker.warningsOf(tool) };
};

/** 10,000 levels of something. */
function nested(levels: number, inner: JsonValue, wrap: (value: JsonValue) => JsonValue): JsonValue {
  let value = inner;
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
}

test('a schema nested 10,000 deep is enforced as far as it is read, with a warning', () => {
  const deep = nested(10_000, { type: 'string' }, (items) => ({ type: 'array', items })) as JsonObject;
  const { error, warnings } = check(deep, [['not an array']]);
  expect(error?.fields?.['path']).toBe('/0/0');
  expect(warnings.join()).toContain('the rest of this schema is not enforced');
});

test('a schema of 10 MB is read in part, and what was read is enforced', () => {
  const properties: JsonObject = { first: { type: 'integer' } };
  for (let index = 0; index < 100_000; index += 1) {
    properties[`property${index}`] = { type: 'string', description: 'x'.repeat(60) };
  }
  const { error, warnings } = check({ type: 'object', properties }, { first: 'one', property99999: 1 });
  expect(error?.fields?.['path']).toBe('/first');
  expect(warnings.join()).toContain('too deep or too large');
});

test('references that lead back to themselves accept everything', () => {
  const circles: JsonObject[] = [
    { $ref: '#' },
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
    { oneOf: [{ $ref: '#' }, { $ref: '#' }, { $ref: '#' }] },
    { not: { $ref: '#' } },
    { if: { $ref: '#' }, then: false, else: false },
    { allOf: [{ $ref: '#' }], unevaluatedProperties: false },
    { anyOf: [{ type: 'object' }, { $ref: '#' }, { $ref: '#' }], unevaluatedProperties: { type: 'number' } },
  ];
  for (const schema of circles) expect(check(schema, { a: 1 }).error).toBeUndefined();
});

test('a recursive schema is enforced at every level of its value', () => {
  const schema: JsonObject = { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false };
  expect(check(schema, { next: { next: { nxt: {} } } }).error?.fields?.['path']).toBe('/next/next/nxt');
});

test('a value nested 10,000 deep is checked as far as the bound goes', () => {
  const schema: JsonObject = { type: 'array', items: { $ref: '#' }, uniqueItems: true };
  const deep = nested(10_000, [], (value) => [value]);
  expect(check(schema, deep).error).toBeUndefined();
  const wrong = check(schema, [nested(10_000, [], (value) => [value]), 1]).error;
  expect(wrong?.fields?.['path']).toBe('/1');
  expect(check({ type: 'string' }, deep).error?.fields?.['received']).toMatch(/^array \[\[\[.{0,90}$/);
});

test('references that double at every step end at the budget', () => {
  const $defs: JsonObject = { d0: { type: 'string' } };
  for (let level = 1; level <= 60; level += 1) {
    const both = [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }];
    $defs[`d${level}`] = { anyOf: both };
  }
  expect(check({ $defs, $ref: '#/$defs/d60' }, 1).error).toBeUndefined();
});

test.each<[string, JsonObject]>([
  ['properties', { properties: { none: {} } }],
  ['counts', { minProperties: 1 }],
  ['required names', { required: Array.from({ length: 1_000 }, (_, index) => `k${index}`) }],
  ['patterns', { patternProperties: { '^k': {} } }],
  ['values', { enum: [{ a: 1 }, 'none'] }],
])('an object of 100,000 keys is not gone through for each of 1,000 forms: %s', (_, form) => {
  const members = Array.from({ length: 100_000 }, (_each, index) => [`k${index}`, 1] as const);
  const forms = Array.from({ length: 1_000 }, () => form);
  for (const schema of [{ anyOf: forms }, { oneOf: forms }, { anyOf: [...forms, {}], unevaluatedProperties: false }])
    expect(check(schema, Object.fromEntries(members)).warnings).toEqual([]);
});

test('values are compared as far as the allowed ones go', () => {
  const allowed = { enum: [{ b: [1, { c: 'x' }], a: {} }, [], { '"': '\n' }] };
  const fits = (value: JsonValue) => check(allowed, value).error === undefined;
  expect([{ a: {}, b: [1, { c: 'x' }] }, [], { '"': '\n' }].map(fits)).toEqual([true, true, true]);
  expect([{ a: {}, b: [1, { c: 'y' }] }, [[]], {}, Array(1_000_000).fill(1), 'x'.repeat(1_000)].map(fits)).toEqual(
    Array(5).fill(false),
  );
});

test('a pattern that makes other engines backtrack is decided at once', () => {
  const schema: JsonObject = { type: 'string', pattern: '^(a+)+$' };
  const text = `${'a'.repeat(50_000)}b`;
  expect(check(schema, text).error?.fields?.['expected']).toBe('string that matches /^(a+)+$/');
  expect(check(schema, 'a'.repeat(50_000)).error).toBeUndefined();
  const names: JsonObject = { patternProperties: { '^(a|a)*$': false }, additionalProperties: true };
  expect(check(names, { [`${'a'.repeat(50_000)}b`]: 1 }).error).toBeUndefined();
});

test.each(['(?=a)b', '(a)\\1', '(', 'a{1,99999}', '((a{100}){100}){100}', `${'x'.repeat(2_000)}y`])(
  'the pattern %s is not enforced, with a warning',
  (pattern) => {
    const { error, warnings } = check({ type: 'object', properties: { p: { pattern } } }, { p: 'zzz' });
    expect(error).toBeUndefined();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^#\/properties\/p: the pattern .* can't be checked, and is not enforced$/);
  },
);

test('beside a pattern that is not run, unknown keys are let through', () => {
  const schema: JsonObject = { patternProperties: { '^(?!x)': {} }, additionalProperties: false };
  expect(check(schema, { y: 1 }).error).toBeUndefined();
});

test('a list of 200,000 allowed values is not enforced; of 10,000 a few are shown', () => {
  const many = Array.from({ length: 200_000 }, (_, index) => `value-${index}`);
  expect(check({ enum: many }, 'other')).toEqual({
    error: undefined,
    warnings: ['#: a list of 200000 allowed values is not enforced'],
  });
  const { error } = check({ enum: many.slice(0, 10_000) }, 'value-77777');
  expect(error?.fields?.['expected']).toMatch(/^one of "value-0", .* and 9988 more$/);
  expect(error?.message.length).toBeLessThan(1_000);
});

test('a list of a million wrong items gives one error with a bounded message', () => {
  const { error } = check({ type: 'array', items: { type: 'string' } }, Array(1_000_000).fill(1));
  expect(error?.fields?.['path']).toBe('/0');
  expect(error?.message).toMatch(new RegExp(`and ${EVALUATION_BOUNDS.problems - 4} more\\.`));
  expect(error?.message.length).toBeLessThan(1_000);
});

test('100,000 items are found to be distinct without comparing each with each', () => {
  const schema: JsonObject = { uniqueItems: true };
  const items = Array.from({ length: 100_000 }, (_, id) => ({ id }));
  expect(check(schema, items).error).toBeUndefined();
  expect(check(schema, [...items.slice(0, 50_000), { id: 7 }]).error?.fields).toMatchObject({
    path: '/50000',
    received: 'object {"id":7}, which is item 7 again',
  });
});

test('names of what every object inherits are names like any other', () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["toString"]}',
  ) as JsonObject;
  expect(check(schema, {}).error?.fields?.['path']).toBe('/toString');
  expect(check(schema, JSON.parse('{"toString":1,"__proto__":1}')).error?.fields?.['path']).toBe('/__proto__');
  expect(check({ $ref: '#/constructor' }, {}).error).toBeUndefined();
});

test('text of a schema that could repaint a terminal or forge a line is shown escaped', () => {
  const { error } = check({ properties: { a: { enum: ['\u001b[2J\n"hint": x', '\u202eabc'] } } }, { a: 1 });
  expect(error?.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('a value in a message is cut to 80 characters, in any position', () => {
  for (const value of ['s'.repeat(1e6), ['s'.repeat(1e6)], { ['k'.repeat(1e6)]: 1 }, { a: ['b'.repeat(1e6)] }]) {
    const received = String(check({ type: 'integer' }, value).error?.fields?.['received']);
    expect(received.length).toBeLessThan(80 + 'object '.length + 1);
  }
});
