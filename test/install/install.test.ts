import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ended } from '../support/command.js';
import { NewUser, pack, packagesUnder, whyNotHidden } from '../support/installed.js';
import { needs, skipped } from '../support/needs.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { version, engines, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const INSTALLING_MS = 180_000;
const NODES = [20, 22, 24] as const;
const OLDEST = NODES[0];
const NEWEST = NODES[2];
const MB = 1e6;

const PROGRAM = `
import { get_customer, list_customers } from '@codemode/servers/customers';
const { customers } = await list_customers();
const [first] = customers;
const again = await get_customer({ id: first.id });
globalThis.__codemode_result__ = again.name === first.name ? 'found twice' : again;`;

const online = needs('registry');
const unhidden = whyNotHidden();
const hidden = unhidden === undefined ? {} : skipped(unhidden);

describe('the tarball, installed by a user who is not root into an empty folder', {
  ...online,
  timeout: INSTALLING_MS,
}, () => {
  let user: NewUser;
  let tarball: string;
  beforeAll(() => {
    user = new NewUser();
    tarball = pack(user.folder('tarball'));
  }, INSTALLING_MS);
  afterAll(() => user?.[Symbol.dispose]());

  describe.each(NODES)('on Node %i', (major) => {
    let node: string;
    let installed: Ended;
    const prefix = () => join(user.home, `global-${major}`);
    const program = () => join(prefix(), 'bin/codemode');
    const library = () => join(prefix(), 'lib/node_modules');
    const codemode = (words: string[], more: { input?: string; hides?: string[] } = {}) =>
      user.run(node, [program(), ...words], { cwd: user.folder('empty'), ...more });

    beforeAll(async () => {
      node = user.node(major);
      const words = ['install', '--global', '--prefix', prefix(), '--no-audit', '--no-fund', tarball];
      installed = await user.npm(node, 'npm', words, { cwd: user.folder('empty') });
    }, INSTALLING_MS);

    /** A configuration outside of the current folder, with one of the example servers of the package. */
    const configure = () => {
      const file = join(user.folder(`config-${major}`), 'codemode.config.json');
      const server = join(library(), 'codemode/examples/servers/customers.mjs');
      writeFileSync(file, JSON.stringify({ mcpServers: { customers: { command: node, args: [server] } } }));
      return file;
    };

    test('npm i -g says nothing but what it added', () => {
      expect(installed).toEqual({ status: 0, stdout: expect.stringMatching(/^\s*added \d+ packages/), stderr: '' });
    });

    test('npm links the man page, so that man codemode finds it', () => {
      expect(existsSync(join(prefix(), 'share/man/man1/codemode.1'))).toBe(true);
    });

    test('only native packages come with it, none runs a script, and all take less than 40 MB', () => {
      const names = packagesUnder(library());
      const platform = `linux-${process.arch}`;
      const native = [`@libsql/${platform}-gnu`, `@libsql/${platform}-musl`, `@oxc-transform/binding-${platform}-`];
      const expected = ['@neon-rs/load', 'codemode', 'detect-libc', 'libsql'];
      expect(names.filter((name) => !native.some((start) => name.startsWith(start)))).toEqual(expected);
      const scripts = names.flatMap((name) => installScripts(join(library(), name), library()));
      expect(scripts).toEqual([]);
      expect(bytesUnder(library())).toBeLessThan(40 * MB);
    });

    test('a program with a tool call works', needs('bubblewrap'), async () => {
      const run = await codemode(['--config', configure(), 'run', '-'], { input: PROGRAM });
      expect(JSON.parse(run.stdout)).toMatchObject({ result: 'found twice', diagnostics: [] });
    });

    test('without bubblewrap programs run at level namespaces', hidden, async () => {
      const words = ['--config', configure(), 'run', '-', '--json'];
      const run = await codemode(words, { input: PROGRAM, hides: ['bwrap'] });
      expect(JSON.parse(run.stdout)).toMatchObject({ result: 'found twice' });
    });

    // What needs no more of Node than the above is checked on one of them.
    if (major === OLDEST) {
      test('--help, doctor and the demonstration work', needs('bubblewrap'), async () => {
        const help = await codemode(['--help']);
        expect(help).toMatchObject({ status: 0, stdout: expect.stringContaining('Usage: codemode'), stderr: '' });
        const doctor = await codemode(['--config', configure(), 'doctor', '--json']);
        const { ok, findings } = JSON.parse(doctor.stdout) as {
          ok: boolean;
          findings: { name: string; state: string }[];
        };
        expect(findings.filter(({ state }) => state === 'missing')).toEqual([]);
        expect({ ok, strict: findings.find(({ name }) => name.includes('"strict"'))?.state }).toEqual({
          ok: true,
          strict: 'ok',
        });
        const demo = await codemode(['demo']);
        expect({ status: demo.status, errors: demo.stderr }).toMatchObject({ status: 0 });
        expect(demo.stdout).not.toBe('');
      });

      test('without bubblewrap doctor says what to type', hidden, async () => {
        const doctor = await codemode(['doctor', '--json'], { hides: ['bwrap'] });
        const { findings } = JSON.parse(doctor.stdout) as {
          findings: Record<'name' | 'state' | 'message' | 'fix', string>[];
        };
        const inUse = findings.find(({ name }) => name === 'A program in the sandbox');
        expect(inUse).toMatchObject({ state: 'ok', message: expect.stringContaining('isolation namespaces') });
        const strict = findings.find(({ name }) => name === 'Isolation "strict"');
        expect(strict).toMatchObject({
          state: 'warning',
          message: 'unavailable on this machine: not installed: bwrap',
          fix: expect.stringContaining('install -y bubblewrap'),
        });
      });
    }

    if (major === NEWEST)
      test(
        'an MCP client lists the tool of the installed program and runs a program',
        needs('bubblewrap'),
        async () => {
          const line = user.commandLine(node, [program(), '--config', configure(), 'mcp']);
          const client = new Client({ name: 'install-test', version: '0' });
          await client.connect(new StdioClientTransport({ ...line, cwd: user.folder('empty'), stderr: 'ignore' }));
          try {
            expect(client.getServerVersion()).toMatchObject({ version });
            const { tools } = await client.listTools();
            expect(tools).toHaveLength(1);
            const { structuredContent } = await client.callTool({
              name: tools[0]?.name ?? '',
              arguments: { code: PROGRAM },
            });
            expect(structuredContent).toMatchObject({ result: 'found twice' });
          } finally {
            await client.close();
          }
        },
      );

    // The npm program is the same on each: what npx itself does is checked once.
    if (major === NEWEST)
      test('npx of the tarball runs a program in an empty folder, without a warning', needs('bubblewrap'), async () => {
        const words = ['--yes', '--package', tarball, '--', 'codemode', '--config', configure(), 'run', '-'];
        const { status, stdout, stderr } = await user.npm(node, 'npx', words, {
          cwd: user.folder('empty'),
          input: PROGRAM,
        });
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        expect(JSON.parse(stdout)).toMatchObject({ result: 'found twice', diagnostics: [] });
      });

    test('the library and both subpaths can be imported, and nothing is written to the folder', async () => {
      const project = user.folder(`project-${major}`);
      mkdirSync(join(project, 'node_modules'), { recursive: true });
      symlinkSync(join(library(), 'codemode'), join(project, 'node_modules/codemode'));
      const script = `
        const [a, b, c] = await Promise.all(['codemode', 'codemode/langchain', 'codemode/ai-sdk'].map((name) => import(name)));
        console.log(typeof a.createHost, typeof b.fromLangChain, Object.keys(c).length > 0);`;
      const { stdout, stderr } = await user.run(node, ['--input-type=module', '-e', script], { cwd: project });
      expect({ stdout, stderr }).toEqual({ stdout: 'function function true\n', stderr: '' });
      expect(readdirSync(user.folder('empty'))).toEqual([]);
    });
  });

  test('without bubblewrap and unshare it refuses to run a program and says what to install', hidden, async () => {
    const program = join(user.home, 'global-20/bin/codemode');
    const options = { input: PROGRAM, hides: ['bwrap', 'unshare'], cwd: user.folder('empty') };
    const { status, stdout, stderr } = await user.run(user.node(20), [program, 'run', '-'], options);
    expect({ status, stdout }).toEqual({ status: 69, stdout: '' });
    expect(stderr).toContain('bubblewrap util-linux');
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('its declarations are whole: a strict project that checks libraries too compiles', async () => {
    const project = user.folder('types');
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(join(user.home, 'global-20/lib/node_modules/codemode'), join(project, 'node_modules/codemode'));
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    writeFileSync(
      join(project, 'use.ts'),
      `import { createHost, defineTool, type RunResponse } from 'codemode';
       import { fromLangChain } from 'codemode/langchain';
       import * as sdk from 'codemode/ai-sdk';
       export const host = await createHost({ tools: { other: fromLangChain([]) } });
       export const answer: RunResponse | undefined = undefined;
       export const names = [defineTool, sdk];
       // @ts-expect-error: the declarations say something, they are not any
       createHost({ noSuchOption: 1 });`,
    );
    const compiler = join(ROOT, 'node_modules/typescript-native/bin/tsc');
    const flags = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck', 'false'];
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
    const { execFile } = await import('node:child_process');
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [compiler, ...flags, ...types, 'use.ts'], { cwd: project }, (_error, text) =>
        resolve(text),
      );
    });
    expect(output).toBe('');
  });
});

/** Scripts that npm would run when it installs this package. */
function installScripts(folder: string, library: string): string[] {
  const file = existsSync(join(folder, 'package.json'))
    ? join(folder, 'package.json')
    : join(library, 'codemode/node_modules', folder.slice(library.length + 1), 'package.json');
  const { name, scripts = {} } = JSON.parse(readFileSync(file, 'utf8'));
  const onInstall = ['preinstall', 'install', 'postinstall', 'prepare'];
  return onInstall.filter((each) => each in scripts).map((each) => `${name}: ${each}`);
}

function bytesUnder(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

test('the types of Node that we compile with are those of the oldest Node that we run on [C15]', () => {
  const [, oldest] = /(\d+)/.exec(engines.node) ?? [];
  expect(devDependencies['@types/node'].split('.')[0]).toBe(oldest);
});
