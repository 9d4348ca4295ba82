import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CatalogCacheFiles } from './catalog-cache.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-catalog-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a listing is that of its server, as it was reached, and has no tools of another', async () => {
  const cache = new CatalogCacheFiles(folder);
  const listing = { tools: [{ serverId: 'notes', name: 'add' }], savedAtMs: 1 };
  await cache.write('notes', 'here', listing);
  expect(await cache.read('notes', 'here')).toEqual(listing);
  expect(await cache.read('notes', 'elsewhere')).toBeUndefined();
  const file = join(folder, 'catalog', readdirSync(join(folder, 'catalog'))[0] as string);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"serverId":"notes"', '"serverId":"bank"'));
  expect(await cache.read('notes', 'here')).toBeUndefined();
});
