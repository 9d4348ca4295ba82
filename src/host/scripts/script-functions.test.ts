import { expect, test } from 'vitest';
import { functionNameOf, scriptFunctions } from './script-functions.js';

test.each([
  ['monthly-report', 'monthly_report'],
  ['1st', '_1st'],
  ['delete', 'delete_'],
  ['then', 'then_'],
  ['save', 'save_'],
  ['plain', 'plain'],
])('the script %s is the function %s', (name, expected) => {
  expect(functionNameOf(name)).toBe(expected);
});

test('a function is that of the script which is called so, in whichever order they come', () => {
  const both = [{ name: 'a-b' }, { name: 'a_b' }];
  for (const scripts of [both, [...both].reverse()]) expect([...scriptFunctions(scripts)]).toEqual([['a_b', 'a_b']]);
});
