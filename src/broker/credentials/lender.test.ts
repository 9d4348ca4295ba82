import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { UpstreamDefinition } from '../../domain/upstream.js';
import { masterKey } from '../../store/master-key.js';
import { SqliteCredentialStore } from '../../store/sqlite/credentials.js';
import { Database } from '../../store/sqlite/database.js';
import { Redactor } from '../redaction/redactor.js';
import { type Account, accountOf } from './account.js';
import { CredentialLender } from './lender.js';
import { Vault } from './vault.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-lender-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a token is redacted in answers from the moment it is lent, and so is the refresh token [B17]', async () => {
  const database = await Database.open(folder);
  const key = await masterKey(folder);
  const vault = new Vault(async () => ({ store: new SqliteCredentialStore(database), key }));
  const target = { kind: 'http', url: 'https://example.com/mcp', headers: {}, flavour: 'auto' } as const;
  const account = accountOf({ id: 'remote', target } as unknown as UpstreamDefinition) as Account;
  const tokens = { accessToken: 'access-0123456789', refreshToken: 'refresh-0123456789', issuedAtMs: Date.now() };
  await vault.locked(account, async (session) =>
    session.write('grant', {
      grant: 'authorization_code',
      server: { issuer: 'https://issuer', tokenEndpoint: 'https://issuer/token', clientAuthentication: [] },
      client: { clientId: 'us' },
      resource: target.url,
      tokens,
    }),
  );
  const redactor = new Redactor([], { patterns: true, emails: false, extra: [], allow: [] });
  const lender = new CredentialLender(account, vault, redactor);
  const echo = `${tokens.accessToken} ${Buffer.from(tokens.refreshToken).toString('base64')}`;
  expect(redactor.text(echo)).toBe(echo);
  expect(await lender.token()).toBe(tokens.accessToken);
  expect(redactor.text(echo)).toBe('[redacted:credential] [redacted:credential]');
  database.close();
});
