import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'acorn';
import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../../support/cli.js';
import { needs } from '../../support/needs.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Node's own releases as packages of npm, each a binary. Kept between runs of the tests. */
const NODES = join(ROOT, 'node_modules/.cache/codemode/nodes');

function fetchNode(version: string): string {
  const folder = join(NODES, version);
  const binary = join(folder, `node_modules/node-linux-${process.arch}/bin/node`);
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true });
    const words = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', [...words, `node-linux-${process.arch}@${version}`], { stdio: 'pipe' });
  }
  return binary;
}

describe('a Node that is too old', needs('registry'), () => {
  // The oldest that knows modules, one that many machines still have, and the last one that is too old.
  test.each(['14.21.3', '18.20.8', '20.18.3'])('%s is told so in one line, before anything else runs', (version) => {
    const node = fetchNode(version);
    for (const words of [[], ['mcp'], ['--version']]) {
      const { status, stdout, stderr } = spawnSync(node, [PROGRAM, ...words], { encoding: 'utf8' });
      expect({ status, stdout, stderr }).toEqual({
        status: 69,
        stdout: '',
        stderr: `codemode: Node 20.19 or newer is needed, and this is Node ${version} (${node}). Install a newer one from https://nodejs.org, or start codemode with it.\n`,
      });
    }
  });
});

test('the first file that runs has no static import and no syntax that is newer than 2020', () => {
  const source = readFileSync(PROGRAM, 'utf8');
  // An `await` outside of functions is newer.
  const { body } = parse(source, { ecmaVersion: 2020, sourceType: 'module', allowHashBang: true });
  expect(body.filter(({ type }) => /^(Import|Export)/.test(type))).toEqual([]);
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } };
  const [, major, minor] = /\[(\d+), (\d+)\]/.exec(source) ?? [];
  expect(engines.node).toBe(`>=${major}.${minor}`);
});
