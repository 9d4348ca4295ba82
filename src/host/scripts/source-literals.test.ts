import { expect, test } from 'vitest';
import { readChosenInput, withInputs } from './script-inputs.js';
import { literalsOf } from './source-literals.js';

const valuesOf = (source: string) => literalsOf(source)?.map(({ value }) => value);

test('texts and numbers of a program are found with their lines', () => {
  expect(literalsOf(`const a = 'x';\nconst b = [7, "y", 2.5];`)).toEqual([
    { value: 'x', from: 10, to: 13, line: 1 },
    { value: 7, from: 26, to: 27, line: 2 },
    { value: 'y', from: 29, to: 32, line: 2 },
    { value: 2.5, from: 34, to: 37, line: 2 },
  ]);
});

test.each([
  [`import { a } from '@codemode/servers/x'; import 'y'; await import('z');`, []],
  [`const o = { 'key': 'value', 1: 2 };`, ['value', 2]],
  [`const t = a ? 'yes' : 'no';`, ['yes', 'no']],
  [`// 'comment' 1\n/* "2" */ const r = /'3'/;`, []],
  [`const e = 'it\\'s'; const v2 = x3 + 0x10 + 1e5 + a[4];`, [4]],
  ['const t = `plain`; const u = `a ${f(`in ${1} ner`, "deep")} b`; const v = "after";', ['plain', 1, 'deep', 'after']],
])('names, comments, escapes and templates with expressions are left alone: %s', (source, values) => {
  expect(valuesOf(source)).toEqual(values);
});

test('a source whose brackets do not pair up has none', () => {
  expect(literalsOf('f((1)')).toBeUndefined();
});

const context = { isClassic: false, given: {} };

test('every literal that is equal to a chosen value becomes the input', () => {
  const source = `const month = '2026-11';\nf({ month: "2026-11", since: '2026-11-01' });`;
  expect(withInputs(source, [{ name: 'month', value: '2026-11' }], context)).toEqual({
    source: `import { input } from '@codemode/input';\nconst month = input.month;\nf({ month: input.month, since: '2026-11-01' });`,
    inputSchema: {
      type: 'object',
      properties: { month: { type: 'string', examples: ['2026-11'] } },
      required: ['month'],
      additionalProperties: false,
    },
    replaced: [{ name: 'month', value: '2026-11', lines: [1, 2] }],
  });
});

test('the input gets another name where the program has one of its own', () => {
  const { source } = withInputs(`const input = 3;\nf(input, 'x');`, [{ name: 'what', value: 'x' }], context);
  expect(source).toBe(
    `import { input as scriptInput } from '@codemode/input';\nconst input = 3;\nf(input, scriptInput.what);`,
  );
});

test('what the run itself was given stays an input, without large values', () => {
  const given = { days: 7, filter: { state: 'open' } };
  expect(withInputs('1', [], { isClassic: false, given }).inputSchema).toEqual({
    type: 'object',
    properties: {
      days: { type: 'number', examples: [7] },
      filter: { type: 'object', properties: { state: { type: 'string' } }, required: ['state'] },
    },
    required: ['days', 'filter'],
    additionalProperties: false,
  });
});

test.each(['__proto__', 'constructor', 'prototype', 'a-b', '1a', '', 'toString'])(
  '%j is no name of an input',
  (name) => {
    expect(() => withInputs(`f('x')`, [{ name, value: 'x' }], context)).toThrow('cannot be the name of an input');
  },
);

test.each([
  [[{ name: 'a', value: 'y' }], 'is not in the program'],
  [[{ name: 'a', value: 7 }], 'is not in the program'],
  [
    [
      { name: 'a', value: 'x' },
      { name: 'a', value: '7' },
    ],
    'two inputs a',
  ],
  [
    [
      { name: 'a', value: 'x' },
      { name: 'b', value: 'x' },
    ],
    'cannot be two inputs',
  ],
])('a choice that cannot be made is refused: %j', (chosen, says) => {
  expect(() => withInputs(`f('x', '7')`, chosen, context)).toThrow(says);
});

test('a value is a number where the program has it as one, and a text in quotes is one', () => {
  expect(readChosenInput('days=7', 'f(7)')).toEqual({ name: 'days', value: 7 });
  expect(readChosenInput('days=7', `f('7')`)).toEqual({ name: 'days', value: '7' });
  expect(readChosenInput('days="7"', 'f(7)')).toEqual({ name: 'days', value: '7' });
  expect(readChosenInput('query=a=b', `f('a=b')`)).toEqual({ name: 'query', value: 'a=b' });
  expect(() => readChosenInput('7', 'f(7)')).toThrow('expected NAME=VALUE');
});
