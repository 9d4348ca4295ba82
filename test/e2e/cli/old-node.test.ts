import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'acorn';
import { describe, expect, test } from 'vitest';
import { PROGRAM } from '../../support/cli.js';
import { needs } from '../../support/needs.js';
import { nodeRelease } from '../../support/node-releases.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

describe('a Node that is too old', needs('registry'), () => {
  // The oldest that knows modules, and the last one that is too old.
  test.each(['14.21.3', '20.18.3'])('%s is told so in one line, before anything else runs', (version) => {
    const node = nodeRelease(version);
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
