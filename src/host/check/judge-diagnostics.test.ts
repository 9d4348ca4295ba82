import { expect, test } from 'vitest';
import type { JsonObject } from '../../domain/json.js';
import type { CompilerDiagnostic } from '../../domain/type-check.js';
import { judgeDiagnostics } from './judge-diagnostics.js';

/** Open like most schemas; `strict` is closed. */
const INPUT = {
  type: 'object',
  properties: { title: { type: 'string' }, size: { type: 'number' }, in: { type: 'object', properties: { a: {} } } },
  required: ['title'],
};
const SCHEMAS: Readonly<Record<string, JsonObject>> = {
  create: INPUT,
  strict: { ...INPUT, additionalProperties: false },
  list: {
    type: 'object',
    properties: { rows: { type: 'array', items: INPUT }, either: { anyOf: [INPUT, { type: 'null' }] } },
  },
};

const HEAD =
  "import { create, list, strict } from '@codemode/servers/shop'; import * as shop from '@codemode/servers/shop';\n";

/** The compiler's words about the first place where `part` stands, after the imports. */
function judged(body: string, part: string, code: number, text: string, chain: CompilerDiagnostic['chain'] = []) {
  const source = HEAD + body;
  const start = source.indexOf(part, HEAD.length);
  const found = { start, end: start + part.length, code, text, chain, related: [] };
  const [problem] = judgeDiagnostics(source, [found], ({ module, name }) =>
    module === 'servers/shop' ? SCHEMAS[name] : undefined,
  );
  return problem;
}

const MISSING = "Property 'title' is missing in type '{}' but required in type '{ title: string; }'.";
const WRONG = "Type 'number' is not assignable to type 'string'.";
const TITEL = "but 'titel' does not exist. Did you mean to write 'title'?";
const SZE = "but 'sze' does not exist. Did you mean to write 'size'?";
const ON_PROMISE = "Property 'items' does not exist on type 'Promise<any>'.";

test.each<[string, string, string, number, string]>([
  ['a required property is missing', 'await create({});', '{}', 2741, MISSING],
  ['so of a function of the module', 'await shop.create({});', '{}', 2741, MISSING],
  ['so in a nested object', 'await create({ in: { a: 1 } });', 'in', 2741, MISSING],
  ['a literal has the wrong type', 'await create({ title: 5 });', 'title', 2322, WRONG],
  ['so as an element of a list', 'await create({ tags: ["a", 5] });', '5', 2322, WRONG],
  ['a quoted name with a wrong value', 'await create({ "title": -5 });', '"title"', 2322, WRONG],
  ['a required property is misspelt', 'await create({ titel: x });', 'titel', 2561, TITEL],
  ['so in an element of a list', 'await list({ rows: [{ titel: x }] });', 'titel', 2561, TITEL],
  ['so where null is allowed too', 'await list({ "either": { titel: x } });', 'titel', 2561, TITEL],
  ['a closed schema has no such property', 'await strict({ title: t, sze: 1 });', 'sze', 2561, SZE],
  ['so without a suggestion', 'await shop.strict({ title: t, other: 1 });', 'other', 2353, SZE],
  [
    'another property takes the place of a required one',
    'await create({ name: 1 });',
    'name',
    2353,
    "and 'name' does not exist in type '{ title: string; size?: number | undefined; }'.",
  ],
  ['nothing is passed', 'await create();', 'create', 2554, 'Expected 1 arguments, but got 0.'],
  [
    'a function does not exist',
    'await shop.creat({});',
    'creat',
    2551,
    "Property 'creat' does not exist on type 'typeof import(\"/p/modules/servers/shop\")'. Did you mean 'create'?",
  ],
  ['a promise is read', 'create({ title: t }).items;', 'items', 2339, ON_PROMISE],
  ['so through a constant', 'const r = create({ title: t });\nr.items;', 'items', 2339, ON_PROMISE],
  ['so by a pattern', 'const { items } = create({ title: t });', 'items', 2339, ON_PROMISE],
  [
    'a promise is iterated',
    'for (const x of create({ title: t })) f(x);',
    'create({ title: t })',
    2488,
    "Type 'Promise<any>' must have a '[Symbol.iterator]()' method that returns an iterator.",
  ],
])('it is certain where %s', (_, body, part, code, text) => {
  expect(judged(body, part, code, text)).toMatchObject({ severity: 'error' });
});

test.each<[string, string, string, number, string]>([
  ['the argument is a variable', 'await create(input);', 'input', 2741, MISSING],
  ['properties are spread', 'await create({ ...input });', '{ ...input }', 2741, MISSING],
  ['a name is computed', 'await create({ [name]: 1 });', '{ [name]: 1 }', 2741, MISSING],
  ['the value is a variable', 'await create({ title: n });', 'title', 2322, WRONG],
  ['the value is computed', 'await create({ title: 5 + n });', 'title', 2322, WRONG],
  ['the value has a type', 'await create({ title: 5 as never });', 'title', 2322, WRONG],
  ['the function is not of a server', 'await other({});', '{}', 2741, MISSING],
  ['it is a method of something else', 'await thing.create({});', '{}', 2741, MISSING],
  ['it is inside a callback', 'await create(list.map((x) => ({ title: 5 })));', 'title', 2322, WRONG],
  [
    'more is passed than is declared',
    'await create({ title: t, more: 1 });',
    'more',
    2353,
    "and 'more' does not exist in type '{ title: string; size?: number | undefined; }'.",
  ],
  ['an optional property of an open schema is misspelt', 'await create({ title: t, sze: 1 });', 'sze', 2561, SZE],
  ['so in a nested object', 'await create({ title: t, in: { b: 1 } });', 'b', 2561, SZE],
  ['so beside a spread', 'await create({ ...more, titel: x });', 'titel', 2561, TITEL],
  ['so under a computed name', 'await list({ [rows]: [{ titel: x }] });', 'titel', 2561, TITEL],
  ['an error is caught', 'try { await create({}); } catch {}', '{}', 2741, MISSING],
  ['all results are looked at', 'await Promise.allSettled([create({})]);', '{}', 2741, MISSING],
  ['any value is taken', 'await create({ x: 1 });', 'x', 2322, "Type 'number' is not assignable to type 'never'."],
  ['the variable is assigned again', 'let r = create({ title: t });\nr = await r; r.items;', 'items', 2339, ON_PROMISE],
  [
    'it may be a promise',
    'const r = f(); r.items;',
    'items',
    2339,
    "Property 'items' does not exist on type 'Promise<any> | { a: 1; }'.",
  ],
  ['it is asked for carefully', 'const r = create({ title: t });\nr?.items;', 'items', 2339, ON_PROMISE],
  ['brackets cannot be paired', 'await create({}); (', '{}', 2741, MISSING],
  [
    'a property of an answer is unknown',
    'const r = await create({ title: t });\nr.nme;',
    'nme',
    2551,
    "Property 'nme' does not exist on type '{ name: string; }'. Did you mean 'name'?",
  ],
])('it is only a warning where %s', (_, body, part, code, text) => {
  expect(judged(body, part, code, text)).toMatchObject({ severity: 'warning' });
});

test('the position counts lines and columns from 1, and the correction is named', () => {
  expect(judged('\nawait create({ titel: x });', 'titel', 2561, "Did you mean to write 'title'?")).toEqual({
    severity: 'error',
    code: 2561,
    message: "Did you mean to write 'title'?",
    hint: 'Write title: `await create({ title: x });`.',
    position: { line: 3, column: 16 },
  });
});

test('the corrected line has the right name or the right value', () => {
  const wrong = 'Type \'"payed"\' is not assignable to type \'"paid"\'. Did you mean \'"paid"\'?';
  expect(judged("await create({ state: 'payed', n: 1 });", 'state', 2820, wrong)?.hint).toBe(
    'Write "paid": `await create({ state: "paid", n: 1 });`.',
  );
  const quoted = "but '\"titel\"' does not exist. Did you mean to write 'title'?";
  expect(judged('await create({ "titel": x });', '"titel"', 2561, quoted)?.hint).toBe(
    'Write title: `await create({ "title": x });`.',
  );
  expect(judged('await create({ state: s });', 'state', 2820, wrong)?.hint).toBe('Write "paid".');
});

test('what cannot be seen in a name is shown', () => {
  const shown = judged('f();', 'f', 2304, "Cannot find name '\u202eevil\n\u001b[2J'.");
  for (const hidden of ['\u202e', '\n', '\u001b']) expect(shown?.message).not.toContain(hidden);
});

test('the property is named, and a long promise is not written out', () => {
  expect(judged('await create({ title: 5 });', 'title', 2322, WRONG)?.message).toBe(`title: ${WRONG}`);
  const long = `Property 'a' does not exist on type 'Promise<{ ${'b: string; '.repeat(20)}}>'.`;
  const shown = judged('create({ title: t }).a;', 'a', 2339, long);
  expect(shown?.message).toBe("Property 'a' does not exist on type 'Promise<...>'.");
});

test('types that were left out are not mentioned', () => {
  expect(judged('f((x) => x);', 'x', 7006, "Parameter 'x' implicitly has an 'any' type.")).toBeUndefined();
});
