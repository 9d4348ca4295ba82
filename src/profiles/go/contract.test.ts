import { expect, test } from 'vitest';
import { parseGoRequest } from './contract.js';

test('arguments that the contract does not know are left out', () => {
  expect(parseGoRequest({ code: 'return', explanation: 'because' })).toEqual({ code: 'return' });
});

test.each([
  [{}, 'code: must be a string: Go code, the body of Run'],
  [{ program: 'return' }, 'code: is missing; program is not known: give the program as code'],
  [{ code: ' ' }, 'code: is empty; give Go code, the body of Run'],
])('%j is refused with the field and what is wrong', (request, message) => {
  expect(() => parseGoRequest(request)).toThrow(message);
});
