import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findCompiler } from './compiler.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-compiler-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A package as npm lays it out, without the binary's content. */
function install(place: string, version: string, isWhole = true): string {
  const modules = join(folder, place, 'node_modules');
  const own = join(modules, 'typescript');
  const platform = join(modules, '@typescript', `typescript-${process.platform}-${process.arch}`);
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'package.json'), JSON.stringify({ name: 'typescript', version }));
  if (!isWhole) return own;
  mkdirSync(join(platform, 'lib'), { recursive: true });
  writeFileSync(join(platform, 'package.json'), '{}');
  writeFileSync(join(platform, 'lib', 'tsc'), '');
  return own;
}

const search = (installed: string, beside: string) => ({
  installFolder: join(folder, installed),
  from: join(folder, beside, 'program.js'),
});

test('the installed one comes before the one beside us', () => {
  install('own', '7.0.2');
  install('other', '7.1.0');
  expect(findCompiler(search('own', 'other'))).toMatchObject({ version: '7.0.2' });
  expect(findCompiler(search('none', 'other'))).toMatchObject({ version: '7.1.0' });
});

test('an older one beside us is as good as none', () => {
  install('older', '6.0.3');
  expect(findCompiler(search('none', 'older'))).toEqual({
    reason: 'the type checker is not installed',
    fix: 'Install it with: codemode check --install',
  });
});

test.each([
  ['an older version', () => install('five', '5.9.0'), /is TypeScript 5\.9\.0/],
  ['a package without its binary', () => install('half', '7.0.2', false), /is not installed$/],
  ['a folder that is not a package', () => folder, /is not an npm package$/],
])('%s that is configured is refused, and nothing else is tried', (_, configured, reason) => {
  install('beside', '7.0.2');
  const found = findCompiler({ ...search('none', 'beside'), configured: configured() });
  expect(found).toMatchObject({
    reason: expect.stringMatching(reason),
    fix: expect.stringContaining('check.compiler'),
  });
});
