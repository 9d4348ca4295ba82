import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunResponse } from '../../src/profiles/codemode/render.js';
import type { Ended } from '../support/command.js';
import { NewUser, pack } from '../support/installed.js';
import { needs } from '../support/needs.js';
import { needsTerminal } from '../support/terminal.js';

/** A person who has a client with servers, and has just heard of codemode: each step as they would take it. */

const SERVER = '@modelcontextprotocol/server-filesystem';
const INSTALLING_MS = 180_000;

interface Entry {
  readonly command: string;
  readonly args: readonly string[];
}

describe('from an empty home to a first approval', {
  ...needs('registry', 'bubblewrap'),
  timeout: INSTALLING_MS,
}, () => {
  let user: NewUser;
  let node: string;
  let program: string;
  let before: string;
  const clientFile = () => join(user.home, '.cursor/mcp.json');
  const codemode = (...words: string[]): Promise<Ended> =>
    user.run(node, [program, ...words], { cwd: user.folder('work') });
  const entryOf = () =>
    (
      JSON.parse(readFileSync(clientFile(), 'utf8').replace(/^ *\/\/.*$/gm, '')) as {
        mcpServers: Record<string, Entry>;
      }
    ).mcpServers;

  beforeAll(async () => {
    user = new NewUser();
    node = user.node(Number(process.versions.node.split('.')[0]));
    const notes = user.folder('notes');
    const servers = user.folder('servers');
    const { version } = JSON.parse(
      readFileSync(new URL(`../../node_modules/${SERVER}/package.json`, import.meta.url), 'utf8'),
    ) as { version: string };
    await user.npm(node, 'npm', ['install', '--no-audit', '--no-fund', '--prefix', servers, `${SERVER}@${version}`]);
    user.folder('.cursor');
    const files = { command: node, args: [join(servers, 'node_modules', SERVER, 'dist/index.js'), notes] };
    before = `{
  // what I use every day
  "mcpServers": {
    "files": ${JSON.stringify(files)},
    "tracker": { "command": "tracker-that-is-not-installed", "args": ["--all"] },
    "mail": { "url": "https://mail.invalid/mcp", "headers": { "Authorization": "Bearer \${env:MAIL_TOKEN}" } }
  }
}
`;
    writeFileSync(clientFile(), before);
    const tarball = pack(user.folder('tarball'));
    const prefix = join(user.home, 'global');
    const installed = await user.npm(node, 'npm', [
      'install',
      '-g',
      '--prefix',
      prefix,
      '--no-audit',
      '--no-fund',
      tarball,
    ]);
    expect(installed).toMatchObject({ status: 0 });
    program = join(prefix, 'bin/codemode');
  }, INSTALLING_MS);
  afterAll(() => user?.[Symbol.dispose]());

  test('codemode alone says that init comes next', async () => {
    const { status, stdout } = await codemode();
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(/codemode init/) });
  });

  test('init shows every command with its file, and one broken server stops nothing', async () => {
    const { status, stdout } = await codemode('init', '--yes');
    expect(status).toBe(0);
    for (const shown of [
      'dist/index.js',
      'tracker-that-is-not-installed --all',
      'https://mail.invalid/mcp',
      clientFile(),
    ])
      expect(stdout).toContain(shown);
    expect(stdout).toContain(join(user.home, '.config/codemode/config.yaml'));
    const { stdout: json } = await codemode('servers', '--json');
    const { servers } = JSON.parse(json) as { servers: { id: string; state: string; reason?: string }[] };
    const stateOf = (id: string) => servers.find((each) => each.id === id);
    expect(stateOf('files')).toMatchObject({ state: 'ready' });
    expect(stateOf('tracker')?.reason).toContain('command not found: tracker-that-is-not-installed');
    expect(stateOf('mail')).toMatchObject({ state: 'disabled', reason: expect.stringContaining('MAIL_TOKEN') });
  });

  test('install moves the servers into codemode, and the client starts it from any folder', async () => {
    const { status, stdout } = await codemode('install', 'cursor', '--replace-servers', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ client: 'cursor', state: 'added', isWritten: true });
    const entries = entryOf();
    expect(Object.keys(entries)).toContain('codemode');
    expect(Object.keys(entries)).not.toContain('files');
    // Neither works in codemode: one is not installed, the other has no token.
    expect(Object.keys(entries)).toEqual(expect.arrayContaining(['tracker', 'mail']));
    expect(entries.codemode?.command).toMatch(/^\//);
  });

  test(
    'the first list has the tools, the first program runs, the first approval releases a call',
    needsTerminal,
    async () => {
      const { command, args } = entryOf().codemode as Entry;
      const start = user.commandLine(node, [command, ...args]);
      const transport = new StdioClientTransport({ ...start, cwd: '/', stderr: 'ignore' });
      const client = new Client({ name: 'a-client', version: '1' });
      await client.connect(transport);
      try {
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).toEqual(['codemode_run']);
        expect(`${client.getInstructions()}\n${tools[0]?.description}`).toContain('files');
        expect(tools[0]?.description).not.toMatch(/files[^\n]*not available/);
        const run = async (code: string) => {
          const { structuredContent } = await client.callTool({ name: 'codemode_run', arguments: { code } });
          return structuredContent as unknown as RunResponse;
        };
        const notes = join(user.home, 'notes');
        const listed = await run(`import { list_allowed_directories } from '@codemode/servers/files';
        globalThis.__codemode_result__ = String(JSON.stringify(await list_allowed_directories())).includes(${JSON.stringify(notes)});`);
        expect(listed.result).toBe(true);

        const path = join(notes, 'first.txt');
        const asked = await run(`import { write_file } from '@codemode/servers/files';
        await write_file({ path: ${JSON.stringify(path)}, content: 'hello' });
        globalThis.__codemode_result__ = 'written';`);
        const pending = asked.diagnostics.find(({ code }) => code === 'APPROVAL_PENDING');
        const text = JSON.stringify(pending);
        const approval = /approvals approve ([\w-]+)/.exec(text)?.[1];
        expect(approval, text).toBeDefined();
        // npm's folder is not on the PATH here, so the answer says what to type for codemode.
        const typed = `${node} ${program}`;
        expect(asked).toMatchObject({ notes: [expect.stringContaining(`they type: ${typed}`)] });
        const line = `${typed} approvals approve ${approval}`;
        const terminal = user.commandLine(node, ['/usr/bin/script', '-qec', line, '/dev/null']);
        const decided = await user.spawned(terminal);
        expect(decided.stdout).toContain('approved');
        await expect.poll(() => readIfThere(path), { timeout: 30_000 }).toBe('hello');
      } finally {
        await client.close();
      }
      const { stdout } = await codemode('runs', '--json');
      expect(JSON.parse(stdout)).toEqual(
        expect.arrayContaining([expect.objectContaining({ program: expect.stringContaining('write_file') })]),
      );
    },
  );

  test('uninstall gives the client back what it had, byte for byte', async () => {
    expect(await codemode('uninstall', 'cursor')).toMatchObject({ status: 0 });
    expect(readFileSync(clientFile(), 'utf8')).toBe(before);
  });
});

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
