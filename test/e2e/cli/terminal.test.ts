import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { needsTerminal, onTerminal } from '../../support/terminal.js';
import { fixture } from '../../support/upstreams.js';

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

test('tools names the server that it waits for', needsTerminal, async () => {
  using home = new Home();
  const slow = home.write(
    'slow.mjs',
    `await new Promise((resolve) => setTimeout(resolve, 1_000)); await import(${JSON.stringify(fixture('everyday-server.mjs'))});`,
  );
  home.write('codemode.config.yaml', {
    mcpServers: {
      quick: { command: process.execPath, args: [fixture('everyday-server.mjs')] },
      sleepy: { command: process.execPath, args: [slow] },
    },
  });
  const { stdout, status } = await onTerminal(home, ['tools'], '', { env: { COLUMNS: '100' } });
  expect(status).toBe(0);
  expect(stdout).toMatch(
    /asking servers: (0 of 2 answered, waiting for quick, sleepy|1 of 2 answered, waiting for sleepy)/,
  );
  // Before any has answered, too.
  expect(stdout).not.toMatch(/asking servers\r/);
});

test('on a terminal a message that names codemode says how it is typed here', needsTerminal, async () => {
  using home = new Home();
  const { stdout } = await onTerminal(home, ['runs', 'show', 'zzzz'], '');
  expect(stdout).toContain(`codemode is not on your PATH; here it is: ${process.execPath} ${PROGRAM}`);
  expect((await home.run(['runs', 'show', 'zzzz'])).stderr).not.toContain('PATH');
});

test('on a terminal the last lines of a server that crashed stand below each other', needsTerminal, async () => {
  using home = new Home();
  const args = [fixture('slow-server.mjs'), '--crash', '3'];
  home.write('codemode.config.yaml', { mcpServers: { broken: { command: process.execPath, args } } });
  const { stdout } = await onTerminal(home, ['servers'], '', { env: { NO_COLOR: '1' } });
  expect(stdout.replaceAll('\r', '')).toMatch(
    /exit code 3\. The last\s+lines of its stderr:\n {12}line 34 of a long.*\n(?: {12}line 3\d of.*\n){5} {12}line 40 of .*\n {12}Error: the license file is missing\n/,
  );
});

test('in a narrow terminal help and sentences are broken between words', needsTerminal, async () => {
  using home = new Home();
  const args = [fixture('slow-server.mjs'), '--crash', '3'];
  home.write('codemode.config.yaml', { mcpServers: { broken: { command: process.execPath, args } } });
  const columns = 50;
  const env = { COLUMNS: String(columns), NO_COLOR: '1' };
  const wide = await home.run(['servers', '--help']);
  const words = new Set(wide.stdout.split(/\s+/));
  const { stdout } = await onTerminal(home, ['servers', '--help'], '', { env });
  for (const line of stdout.split('\r\n')) {
    expect(line.length).toBeLessThanOrEqual(columns);
    for (const word of line.split(/\s+/)) expect(words).toContain(word);
  }
  const next = await onTerminal(home, [], '', { env });
  for (const line of next.stdout.split('\r\n').filter((each) => each.includes(' ') && !each.includes(PROGRAM)))
    expect(line.length).toBeLessThanOrEqual(columns);
});
