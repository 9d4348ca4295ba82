import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gitPlaceOf } from './git-folder.js';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codemode-git-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function repository(ignore: string, inner = ''): string {
  execFileSync('git', ['init', '-q', folder]);
  mkdirSync(join(folder, 'app', 'deep'), { recursive: true });
  writeFileSync(join(folder, '.gitignore'), ignore);
  if (inner !== '') writeFileSync(join(folder, 'app', '.gitignore'), inner);
  return join(folder, 'app', 'deep', 'codemode.config.yaml');
}

/** What git itself says. */
function isIgnoredByGit(file: string): boolean {
  try {
    execFileSync('git', ['-C', folder, 'check-ignore', '-q', file]);
    return true;
  } catch {
    return false;
  }
}

describe('gitPlaceOf', () => {
  test.each([
    ['', '', false],
    ['codemode.config.yaml', '', true],
    ['/codemode.config.yaml', '', false],
    ['codemode.*', '', true],
    ['*.yaml\n!codemode.config.yaml', '', false],
    ['app/', '', true],
    ['/app/deep', '', true],
    ['app/*.yaml', '', false],
    ['app/**/*.yaml', '', true],
    ['**/deep/**', '', true],
    ['# *.yaml\n\n', 'deep/*.yaml', true],
    ['*.yaml', '!codemode.config.yaml', false],
    ['app/\n!codemode.config.yaml', '', true],
    ['codemode.config.yaml   ', '', true],
    ['codemode.config.yaml/', '', false],
  ])('says of %j and below it %j what git says', async (ignore, inner, expected) => {
    const file = repository(ignore, inner);
    expect(await gitPlaceOf(file)).toEqual({ root: folder, isIgnored: expected });
    expect(isIgnoredByGit(file)).toBe(expected);
  });

  test('a pattern that is not understood never makes a file ignored', async () => {
    expect(await gitPlaceOf(repository('codemode.confi?.yaml'))).toMatchObject({ isIgnored: false });
    expect(await gitPlaceOf(repository('*.yaml\n![c]odemode*'))).toMatchObject({ isIgnored: false });
  });

  test('outside of a work tree there is none', async () => {
    expect(await gitPlaceOf(join(folder, 'codemode.config.yaml'))).toBeUndefined();
  });
});
