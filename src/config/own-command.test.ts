import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownCommand } from './own-command.js';

const NODE = '/opt/node/bin/node';
let folder = '';
const at = (...parts: string[]) => join(folder, ...parts);

function program(file: string): string {
  mkdirSync(dirname(at(file)), { recursive: true });
  writeFileSync(at(file), '#!/bin/sh\n');
  chmodSync(at(file), 0o755);
  return at(file);
}

function link(file: string, target: string): void {
  mkdirSync(dirname(at(file)), { recursive: true });
  symlinkSync(target, at(file));
}

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'codemode-own-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('ownCommand', () => {
  test('is codemode where the first one on PATH is this program', () => {
    const script = program('lib/codemode/dist/bin.js');
    link('bin/codemode', script);
    const own = ownCommand({ PATH: `/nowhere:${at('bin')}` }, folder, { node: NODE, script });
    expect(own).toEqual({ shell: 'codemode', command: NODE, args: [script] });
  });

  test('is not codemode where another program of that name comes first on PATH', () => {
    const script = program('lib/codemode/dist/bin.js');
    link('bin/codemode', script);
    program('other/codemode');
    const own = ownCommand({ PATH: `${at('other')}:${at('bin')}` }, folder, { node: NODE, script });
    expect(own.shell).toBe(`${NODE} ${script}`);
  });

  test('is npx codemode where this folder or one above has it installed', () => {
    const script = program('project/node_modules/codemode/dist/bin.js');
    link('project/node_modules/.bin/codemode', script);
    mkdirSync(at('project/deep/er'), { recursive: true });
    const environment = { PATH: at('project/node_modules/.bin') }; // as npx starts it
    for (const cwd of ['project', 'project/deep/er'])
      expect(ownCommand(environment, at(cwd), { node: NODE, script }).shell).toBe('npx codemode');
    expect(ownCommand(environment, folder, { node: NODE, script }).shell).toBe(`${NODE} ${script}`);
  });

  test('is not npx codemode where the nearest installation is another one', () => {
    const script = program('project/node_modules/codemode/dist/bin.js');
    link('project/node_modules/.bin/codemode', script);
    program('project/inner/node_modules/.bin/codemode');
    expect(ownCommand({}, at('project/inner'), { node: NODE, script }).shell).toBe(`${NODE} ${script}`);
  });

  test('quotes absolute paths that a shell would take apart', () => {
    const script = program("it's mine/bin.js");
    expect(ownCommand({ PATH: '' }, folder, { node: NODE, script })).toEqual({
      shell: `${NODE} '${folder}/it'\\''s mine/bin.js'`,
      command: NODE,
      args: [script],
    });
  });
});
