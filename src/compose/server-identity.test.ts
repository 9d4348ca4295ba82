import { expect, test } from 'vitest';
import type { StdioTarget } from '../domain/targets/stdio.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { fingerprint, identityOf, withoutSecrets } from './server-identity.js';

const server = (environment: Record<string, string>, inherited?: Record<string, string>): StdioTarget => ({
  kind: 'stdio',
  command: 'db-server',
  arguments: [],
  environment,
  ...omitUndefined({ inherited }),
});

test('another environment value is another server; another secret or inherited value is not', () => {
  const before = identityOf(server({ DATABASE_URL: 'postgres://test/', API_TOKEN: 'a', B: '1' }, { LANG: 'a' }));
  const same = identityOf(server({ B: '1', API_TOKEN: 'b', DATABASE_URL: 'postgres://test/' }, { LANG: 'b' }));
  const other = identityOf(server({ DATABASE_URL: 'postgres://live/', API_TOKEN: 'a', B: '1' }, { LANG: 'a' }));
  expect(fingerprint(same)).toBe(fingerprint(before));
  expect(fingerprint(other)).not.toBe(fingerprint(before));
  expect(JSON.stringify(before)).not.toContain('postgres');
});

test('a server without such values is what earlier versions took it for', () => {
  const target = server({ API_TOKEN: 'a' });
  expect(identityOf(target)).toEqual(withoutSecrets(target));
});
