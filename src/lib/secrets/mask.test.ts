import { expect, test } from 'vitest';
import { secretsOfAddress } from './address-secrets.js';
import { SecretMask, secretsOf } from './mask.js';

test('a secret is masked as it is, percent-encoded and in base64', () => {
  const mask = new SecretMask(secretsOf({ PASSWORD: 'p&ss wörd' }));
  const base64 = Buffer.from('p&ss wörd').toString('base64');
  expect(mask.apply(`p&ss wörd, ${encodeURIComponent('p&ss wörd')}, ${base64}`)).toBe('***, ***, ***');
});

test('a token is masked without its scheme too', () => {
  expect(new SecretMask(secretsOf({ Authorization: 'Bearer abc' })).apply('got abc')).toBe('got ***');
});

test('short values that are not secrets stay readable', () => {
  expect(secretsOf({ MODE: 'true', LEVEL: 'info', API_KEY: 'abc', HOST: 'db.example.com' })).toEqual([
    'abc',
    'db.example.com',
  ]);
});

test('a secret inside another leaves no rest', () => {
  expect(new SecretMask(['secret', 'secret-and-more']).apply('x secret-and-more x')).toBe('x *** x');
});

test('the password and the query of an address are secrets', () => {
  expect(secretsOfAddress('https://me:p%40ss@host/mcp?key=abc')).toEqual(['p%40ss', 'p@ss', 'abc']);
});
