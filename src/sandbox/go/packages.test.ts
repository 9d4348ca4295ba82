import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GoPackages, packagesAsked } from './packages.js';

const toolchain = { path: '/go/bin/go', root: '/go', version: 'go1.26.0', tools: '/go/tools', folders: [] };
const open = (folder: string, sourcesDigest = 'a') => new GoPackages(folder, toolchain, sourcesDigest);

test('a compromised compiler can request standard library packages and nothing else', () => {
  const standard = ['fmt', 'net/http', ...Array.from({ length: 100 }, (_, index) => `p${index}`)];
  expect(packagesAsked('net/http -o /etc/passwd ../fmt cmd/go fmt fmt\nos', standard)).toEqual(['net/http', 'fmt']);
  expect(packagesAsked(standard.join(' '), standard)).toHaveLength(64);
});

test('what is compiled is found by its name, and told by how much there is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-packages-'));
  const packages = open(folder);
  expect([packages.isBegun, packages.progress()]).toEqual([false, { compiled: 0, total: 0 }]);
  const names = ['standard', 'builder', 'starter', 'codemode.a', 'net~http.a'];
  packages.store(new Map(names.map((name) => [name, Buffer.from('net/http\nunsafe\nos\n')])));
  expect([packages.isBegun, packages.has('net/http'), packages.has('net')]).toEqual([true, true, false]);
  // Nothing has to be compiled for `unsafe`.
  expect(packages.progress()).toEqual({ compiled: 2, total: 3 });
  expect(readdirSync(packages.folder).sort()).toEqual(names.sort());
  expect((statSync(packages.starter).mode & 0o777).toString(8)).toBe('555');
  // Other sources of ours, other packages.
  expect(open(folder, 'b').folder).not.toBe(packages.folder);
});
