import { expect, test } from 'vitest';
import { parseRunRequest } from './contract.js';

test.each([null, 'code', 7, ['code'], true])('%j is refused as a request: it must be an object [A2]', (input) => {
  expect(() => parseRunRequest(input)).toThrowError(/^the request: must be an object/);
});

test('a program in another argument than `code` is refused with both names [A2]', () => {
  expect(() => parseRunRequest({ source: 'x', limits: {} })).toThrowError(
    /^code: is missing; source is not known: give the program as code$/,
  );
});
