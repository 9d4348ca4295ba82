import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Home } from '../support/cli.js';

/*
 * Files that somebody else made: a pipe that nobody writes to, a device that never ends, a terabyte that takes no room on disk. Each
 * command that reads a file refuses it at once, by what it is, and a project's folder that is full of them stops no command.
 */

/** What is refused at once has its own exit status; what hangs or reads on has that of `timeout`. */
const AT_ONCE = { through: ['timeout', '-k', '1', '30'] };
const REFUSED = /regular file|ordinary file|at most \d+ are read|has more than \d+ bytes/;

const makePipe = (file: string) => void execFileSync('mkfifo', [file]);
const makeEndless = (file: string) => symlinkSync('/dev/zero', file);
function makeHuge(file: string): void {
  const descriptor = openSync(file, 'w');
  ftruncateSync(descriptor, 2 ** 40);
  closeSync(descriptor);
}

test('a named file that is not a regular file or has no end is refused by every command', async () => {
  using home = new Home();
  const own = ['--config', home.write('empty.json', { mcpServers: {} })];
  const [pipe, endless, huge] = ['pipe.json', 'endless.json', 'huge.json'].map((name) => home.path(name));
  makePipe(pipe as string);
  makeEndless(endless as string);
  makeHuge(huge as string);
  mkdirSync(home.path('project'));
  makePipe(home.path('project', 'codemode.config.yaml'));
  const attempts = [pipe, endless, huge].flatMap((file = '') => [
    [...own, 'replay', file],
    ['--config', file, 'policy', 'check', 'a/b'],
    [...own, 'scripts', 'add', 'one', file],
  ]);
  attempts.push(
    [...own, 'run', pipe as string],
    [...own, 'code', 'exec', '--file', pipe as string],
    [...own, 'code', 'exec', '--code', '1', '--input-file', pipe as string],
    [...own, 'measure', '--tasks', pipe as string],
    ['init', '--yes', '--from', pipe as string, '--output', home.path('out.yaml')],
    ['trust', home.path('project')],
  );
  for (let next = 0; next < attempts.length; next += 5)
    await Promise.all(
      attempts.slice(next, next + 5).map(async (words) => {
        const { status, stderr } = await home.run(words, AT_ONCE);
        expect([words.join(' '), status, stderr]).toEqual([words.join(' '), 2, expect.stringMatching(REFUSED)]);
      }),
    );
}, 60_000);

test('a folder whose files are pipes holds nobody up who works in it', async () => {
  using home = new Home();
  const folder = home.path('project');
  for (const name of ['.git', '.vscode', '.cursor']) mkdirSync(home.path('project', name), { recursive: true });
  for (const name of ['.mcp.json', '.gitignore', '.vscode/mcp.json', '.cursor/mcp.json', 'opencode.json', 'api.json'])
    makePipe(home.path('project', name));
  makePipe(home.path('project', 'named.yaml.bak'));
  const named = home.write('project/named.yaml', { mcpServers: { api: { openapi: './api.json' } } });
  const run = (...words: string[]) => home.run(words, { ...AT_ONCE, cwd: folder });
  const [init, servers, added] = await Promise.all([
    run('init', '--json'),
    run('--config', named, 'servers', '--json'),
    run('--config', named, 'add', 'more', '--', 'node', 'more.js'),
  ]);
  expect([init.status, init.stderr]).toEqual([0, '']);
  expect(servers.stdout).toMatch(/api\.json is not an ordinary file/);
  expect([added.status, added.stderr]).toEqual([0, expect.any(String)]);
}, 60_000);
