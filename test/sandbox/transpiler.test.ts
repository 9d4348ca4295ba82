import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ min: 1, max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

/** Deep enough to end the process that parses it. */
const DEADLY = `${'('.repeat(20_000)}1${')'.repeat(20_000)}`;

const UNREADABLE = {
  status: 'failed',
  failure: {
    kind: 'syntax',
    name: 'SyntaxError',
    message: 'the source could not be parsed: it is nested too deeply, or brings the parser to its end in another way',
    hint: 'Flatten deeply nested parentheses, brackets or expressions.',
  },
};

test('a source that ends the parser is a syntax error of that source, and the next one compiles [A11, A12, A35]', async () => {
  expect((await box.run(DEADLY)).outcome).toEqual(UNREADABLE);
  expect(await box.value(result('"next"'))).toBe('next');
});

test('sources behind one that ends the parser are compiled all the same, in order [A35]', async () => {
  const sources = [result('1'), DEADLY, result('2'), DEADLY, DEADLY, result('3')];
  const reports = await Promise.all(sources.map((source) => box.run(source)));
  expect(reports.map(({ outcome }) => (outcome.status === 'completed' ? outcome.resultJson : outcome))).toEqual([
    '1',
    UNREADABLE,
    '2',
    UNREADABLE,
    UNREADABLE,
    '3',
  ]);
});

test('another caller notices nothing: its sources are parsed elsewhere [A35]', async () => {
  const deadly = Array.from({ length: 3 }, () => box.run(DEADLY, { caller: 'eve' }));
  expect(await box.value(result('"mine"'), { caller: 'ada' })).toBe('mine');
  for (const { outcome } of await Promise.all(deadly)) expect(outcome).toEqual(UNREADABLE);
});

test('a source of more than a megabyte is refused before it is parsed, with what to do', async () => {
  await expect(box.run(`// ${'x'.repeat(1024 * 1024)}`)).rejects.toMatchObject({
    code: 'bad_input',
    message: 'the program is larger than 1048576 bytes; pass data through tools, not through source',
  });
  expect(await box.value(`/* ${'x'.repeat(1_000_000)} */ ${result('"large"')}`)).toBe('large');
});
