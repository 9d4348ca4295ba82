import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needsSuite, suiteProgram } from '../../support/mcp-suite.js';
import { everyday, openHome, PROGRAM, type Response } from '../../support/program.js';

/** The protocol's own tool for people, on the command line, in front of the built program. */
const INSPECTOR = '@modelcontextprotocol/inspector/clients/launcher/build/index.js';

interface Said {
  readonly tools: { name: string; description: string }[];
  readonly structuredContent: Response;
}

describe('the MCP Inspector', needsSuite(), () => {
  test('lists the one tool, and finds nothing in its schemas that a client could not take [X1]', async () => {
    const { said, status } = await inspect('--method', 'tools/list', '--strict');
    expect(said.tools.map(({ name }) => name)).toEqual(['codemode_run']);
    expect(said.tools[0]?.description).toContain('everyday');
    expect(status).toBe(0);
  });

  test('runs a program that calls a server [X1]', async () => {
    const code = `import { add } from '@codemode/servers/everyday';
      globalThis.__codemode_result__ = await add({ a: 40, b: 2 });`;
    const call = ['--method', 'tools/call', '--tool-name', 'codemode_run', '--tool-arg', `code=${code}`];
    const { said, status } = await inspect(...call);
    expect(said.structuredContent).toMatchObject({ result: { sum: 42 } });
    expect(status).toBe(0);
  });
});

/** What it prints, and its exit status. It starts the program itself, over stdio. */
async function inspect(...words: string[]): Promise<{ said: Said; status: number }> {
  using home = openHome({ mcpServers: { everyday: everyday() } });
  const file = join(home.work, 'inspector.json');
  const args = [PROGRAM, '--config', home.configFile, 'mcp'];
  const codemode = { type: 'stdio', command: process.execPath, args, env: home.environment };
  writeFileSync(file, JSON.stringify({ mcpServers: { codemode } }));
  const program = suiteProgram(INSPECTOR, ['--cli', '--config', file, '--server', 'codemode', ...words]);
  // It keeps files of its own under the home folder.
  const child = spawn(program.command, program.args, { env: { ...process.env, HOME: home.work } });
  child.stdin.end();
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [status] = (await once(child, 'close')) as [number];
  if (!stdout.trim().startsWith('{')) throw new Error(`the Inspector ended with ${status}: ${stdout}${stderr}`);
  return { said: JSON.parse(stdout) as Said, status };
}
