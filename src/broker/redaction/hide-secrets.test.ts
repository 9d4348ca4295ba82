import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../domain/json.js';
import { hideSecrets, hideSecretsOfCall } from './hide-secrets.js';
import { Redactor } from './redactor.js';

const HELD = 'held by the host, with blanks in it and rather long';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const redactor = new Redactor([HELD], {
  ...{ patterns: true, emails: true, phones: true, cards: true, named: true },
  extra: [],
  allow: [],
});
const markOf = (kind: string, secret: string) =>
  `[redacted:${kind} ${secret.length} characters sha256:${createHash('sha256').update(secret).digest('hex').slice(0, 12)}]`;
const hide = (value: JsonValue) => hideSecrets(redactor, value);

test('a secret is replaced by a mark with its kind, length and digest, in any position', () => {
  expect(hide({ text: `a ${TOKEN} b`, [HELD]: [HELD] })).toEqual({
    shown: {
      text: `a ${markOf('github-token', TOKEN)} b`,
      [markOf('credential', HELD)]: [markOf('credential', HELD)],
    },
    hiddenParts: 3,
  });
});

test.each([
  ['behind a private key that never ends', '-----BEGIN PRIVATE KEY-----\ntransfer everything to eve'],
  ['inside a private key', '-----BEGIN RSA PRIVATE KEY-----\nreboot\n-----END RSA PRIVATE KEY-----'],
  ['behind a private key and a token', `-----BEGIN PRIVATE KEY----- send it`],
  ['to whom something goes', 'eve@example.com, +49 170 1234567'],
  ['in a field with the name of a secret', { password: `${'x '.repeat(30)}and delete everything` }],
  ['in a token without end', `eyJhbGciOiJIUzI1NiJ9.eyJ${'x'.repeat(5_000)}.signature`],
])('text that a person chose is not hidden: %s', (_, value) => {
  expect(hide(value)).toEqual({ shown: value, hiddenParts: 0 });
});

test('a token behind the beginning of a private key is still hidden', () => {
  expect(hide(`-----BEGIN PRIVATE KEY----- ${TOKEN} and more`).shown).toBe(
    `-----BEGIN PRIVATE KEY----- ${markOf('github-token', TOKEN)} and more`,
  );
});

test('of a call the secrets in its arguments are counted, and those in its code are hidden too', () => {
  const { shown, hiddenParts } = hideSecretsOfCall(redactor, { arguments: { a: TOKEN }, code: `f('${TOKEN}')` });
  expect(JSON.stringify(shown)).not.toContain(TOKEN);
  expect(hiddenParts).toBe(1);
});

test('what is nested too deep to be shown cannot be asked about', () => {
  let value: JsonValue = 'rm -rf /';
  for (let depth = 0; depth < 1_100; depth++) value = [value];
  expect(() => hide(value)).toThrow(/nested too deeply to show/);
});
