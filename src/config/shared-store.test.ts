import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { explainConfig } from './explain.js';
import { loadConfig } from './load.js';
import { sharedStore } from './shared-store.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const URL = 'postgres://app:s3cret-of-db@db.example.com/codemode';
const load = (inline: object, environment = {}) => loadConfig({ inline, cwd: '/', environment });

test('without a store there is no database', async () => {
  expect(sharedStore(await load({}), {}, '/')).toBeUndefined();
});

test('CODEMODE_STORE sets the store, and its password is masked where settings are shown', async () => {
  const loaded = await load({}, { CODEMODE_STORE: URL });
  expect(sharedStore(loaded, {}, '/')).toMatchObject({ url: URL, leaseMs: 15_000, maxConnections: 10 });
  const shown = JSON.stringify(explainConfig(loaded));
  expect(shown).toContain('db.example.com');
  expect(shown).not.toContain('s3cret-of-db');
});

test.each(['mysql://root:s3cret@db/x', 'postgres:/root:s3cret@db/x'])(
  'another address is refused, unseen',
  async (store) => {
    const error = await load({ store }).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({
      code: 'bad_config',
      message: expect.stringContaining('postgres://user:password@host'),
    });
    expect((error as Error).message).not.toContain('s3cret');
  },
);

test('the key comes from CODEMODE_KEY, else from the file, in both forms of base64', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'codemode-key-')), 'key');
  writeFileSync(file, `${Buffer.alloc(32, 255).toString('base64url')}\n`);
  const loaded = await load({ store: URL, security: { keyFile: file } });
  expect(await sharedStore(loaded, { CODEMODE_KEY: KEY }, '/')?.key()).toEqual(new Uint8Array(32).fill(7));
  expect(await sharedStore(loaded, {}, '/')?.key()).toEqual(new Uint8Array(32).fill(255));
});

test.each([
  ['none', undefined],
  ['31 bytes', Buffer.alloc(31).toString('base64')],
  ['no base64', 'p@ssword'],
])('a host with no usable key says how to make one: %s', async (_, key) => {
  const given = sharedStore(await load({ store: URL }), { CODEMODE_KEY: key }, '/')?.key();
  await expect(given).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringContaining('openssl rand -base64 32'),
  });
});
