import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { callerOf, hasPerson, type Principal } from '../../domain/principal.js';
import { bearerOf, byAccessToken, byListedTokens, firstOf } from './principals.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test('a token is taken as a bearer token, whole and exact', () => {
  expect(['Bearer secret-token', 'bearer  secret-token'].map(bearerOf)).toEqual(['secret-token', 'secret-token']);
  const wrong = [undefined, '', 'Bearer', 'Bearer ', 'Basic secret-token', 'secret-token', 'Bearer secret, Bearer x'];
  expect(wrong.filter((header) => bearerOf(header) !== undefined)).toEqual([]);
});

test('each token speaks for its own subject, with its own scopes', async () => {
  const identify = firstOf([
    byAccessToken('made'),
    byListedTokens([
      { name: 'ann', sha256: sha256('hers'), scopes: ['approve'] },
      { name: 'bot', sha256: sha256('its').toUpperCase(), scopes: ['execute'] },
    ]),
  ]);
  const seen = await Promise.all(['made', 'hers', 'its', 'hers ', '', 'Made'].map((token) => identify(token)));
  expect(seen).toEqual([
    { principal: { subject: 'token', scopes: new Set(['execute', 'tools']) } },
    expect.objectContaining({ principal: { subject: 'token ann', scopes: new Set(['approve']) } }),
    expect.objectContaining({ principal: { subject: 'token bot', scopes: new Set(['execute']) } }),
    undefined,
    undefined,
    undefined,
  ]);
});

test('a person sits where the configuration or the issuer says so, and nowhere by default', async () => {
  const identify = byListedTokens([
    { name: 'agent', sha256: sha256('agent'), scopes: ['execute', 'tools'], person: false },
    { name: 'desk', sha256: sha256('desk'), scopes: ['execute'], person: true },
  ]);
  const found = await Promise.all(['agent', 'desk'].map((token) => identify(token)));
  const principals = found.flatMap((each) => (each !== undefined && 'principal' in each ? [each.principal] : []));
  expect(principals.map(hasPerson)).toEqual([false, true]);
  const ofIssuer: Principal = { subject: 'user ann', scopes: new Set(['execute', 'approve']) };
  expect(hasPerson(ofIssuer)).toBe(true);
  expect([...principals, ofIssuer].map(callerOf)).toEqual([
    'subject token agent',
    'subject token desk',
    'subject user ann',
  ]);
});
