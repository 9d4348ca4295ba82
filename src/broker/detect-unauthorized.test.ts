import { expect, test } from 'vitest';
import { saysUnauthorized } from './detect-unauthorized.js';

test.each([
  'HTTP 401: {"message":"Bad credentials"}',
  'Request failed with status code 401',
  '401 Unauthorized',
  'MCP error -32001: Unauthorized',
  'UNAUTHENTICATED: Request had invalid authentication credentials.',
  'Error: the access token has expired',
  'invalid or expired token',
  'Invalid API key',
  'Your API key is invalid.',
  'invalid_grant: Token has been expired or revoked.',
  'Authentication required',
  'You are not logged in',
])('%j asks for a credential', (text) => {
  expect(saysUnauthorized(text, {})).toBe(true);
});

test.each([
  'HTTP 403: you may not do this',
  'found 401 rows',
  'order 401 has no items',
  'SyntaxError: invalid token at line 3',
  'Unexpected token < in JSON at position 0',
  'invalid page token',
  'the nextPageToken is invalid',
  'title: must be a string',
  `${'x'.repeat(400)} HTTP 401`,
])('%j does not', (text) => {
  expect(saysUnauthorized(text, {})).toBe(false);
});

test('a credential that the program passes itself is its own', () => {
  expect(saysUnauthorized('invalid token', { token: 'mine' })).toBe(false);
  expect(saysUnauthorized('invalid token', { query: 'mine' })).toBe(true);
});

test('the status of an HTTP API decides alone', () => {
  expect(saysUnauthorized('unauthorized', {}, { status: 404 })).toBe(false);
  expect(saysUnauthorized('no', {}, { status: 401 })).toBe(true);
});
