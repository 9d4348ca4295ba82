import { expect, test } from 'vitest';
import { substitute } from './substitute.js';

test('variables are filled into text values, at any depth, and nowhere else', () => {
  const { result, problems } = substitute({ '${A}': ['x${A}y${B:-z}', 7, null, { deep: '${A}' }] }, { A: '1' });
  expect(result.value).toEqual({ '${A}': ['x1yz', 7, null, { deep: '1' }] });
  expect([...result.fromEnvironment]).toEqual(['["${A}"][0]', '["${A}"][3].deep']);
  expect(problems).toEqual([]);
});

test('a default replaces a missing or empty variable and may hold anything but a brace', () => {
  const fill = (text: string) => substitute(text, { EMPTY: '', SET: 'x' }).result.value;
  expect([fill('${NO:-}'), fill('${EMPTY:-d}'), fill('${SET:-d}'), fill('${EMPTY}'), fill('${NO:-a:-b$c}')]).toEqual([
    '',
    'd',
    'x',
    '',
    'a:-b$c',
  ]);
});

test("a doubled dollar sign is literal, and a variable's value is not expanded again", () => {
  expect(substitute('$${A} $A ${A}', { A: '${B}' }).result.value).toBe('${A} $A ${B}');
});

test('every missing variable is named, with its key', () => {
  const { problems } = substitute({ a: '${X} ${Y}', b: '${}' }, {});
  expect(problems.map(({ path, problem }) => `${path.join('.')}: ${problem}`)).toEqual([
    'a: the environment variable X is not set; set it, or write ${X:-default}',
    'a: the environment variable Y is not set; set it, or write ${Y:-default}',
    'b: expected ${NAME} or ${NAME:-default}, found ${',
  ]);
});
