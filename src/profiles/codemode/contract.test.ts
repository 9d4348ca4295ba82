import { expect, test } from 'vitest';
import { parseRunRequest } from './contract.js';

test.each([null, 'code', 7, ['code'], true])('%j is no request: it must be an object [A2]', (input) => {
  expect(() => parseRunRequest(input)).toThrowError(/^the request: must be an object/);
});
