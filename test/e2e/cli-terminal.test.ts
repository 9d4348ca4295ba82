import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Home, PROGRAM } from '../support/cli.js';
import { skipped } from '../support/needs.js';
import { fixture } from '../support/upstreams.js';

const SCRIPT = '/usr/bin/script';
const needsTerminal = existsSync(SCRIPT)
  ? {}
  : skipped('script of util-linux, which makes a terminal, is not installed');

/** Runs the program on a terminal of its own; both its outputs arrive as one. */
function onTerminal(home: Home, words: readonly string[], input: string) {
  // The words that follow `sh -c` are its parameters, which this one does not look at.
  const through = ['sh', '-c', `exec ${SCRIPT} -qec "$COMMAND" /dev/null`];
  const env = { TERM: 'xterm-256color', COMMAND: [process.execPath, PROGRAM, ...words].join(' ') };
  return home.run([], { through, input, env });
}

test(
  'on a terminal init shows commands, asks before it writes, and takes no for an answer',
  needsTerminal,
  async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', { mcpServers: { 'it\u001b[2J': { command: 'x', args: ['--all'] } } });
    const file = home.path('.config/codemode/config.yaml');
    const refused = await onTerminal(home, ['init'], 'n\n');
    expect(refused.stdout).toMatch(/x --all[\s\S]*Write .*config\.yaml\? \[Y\/n\]/);
    expect(refused.stdout).not.toContain('\u001b[2J');
    expect(refused.status).toBe(1);
    expect(existsSync(file)).toBe(false);
    const agreed = await onTerminal(home, ['init'], 'y\n');
    expect(agreed.status).toBe(0);
    expect(existsSync(file)).toBe(true);
    home.write('.cursor/mcp.json', { mcpServers: { second: { command: 'y' } } });
    expect((await onTerminal(home, ['init', '--merge'], 'n\n')).stdout).toContain(`Add them to ${file}? [Y/n]`);
    expect(readFileSync(file, 'utf8')).not.toContain('second');
    expect((await onTerminal(home, ['init', '--merge'], '\n')).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('second');
  },
);

test('on a terminal there are colours, and a spinner while a slow server starts', needsTerminal, async () => {
  using home = new Home();
  const slow = home.write(
    'slow.mjs',
    `await new Promise((resolve) => setTimeout(resolve, 1_000)); await import(${JSON.stringify(fixture('everyday-server.mjs'))});`,
  );
  home.write('codemode.config.yaml', { mcpServers: { slow: { command: process.execPath, args: [slow] } } });
  const { stdout, status } = await onTerminal(home, ['servers'], '');
  expect(status).toBe(0);
  expect(stdout).toContain('connecting servers');
  expect(stdout).toContain('\u001b[32mready');
});
