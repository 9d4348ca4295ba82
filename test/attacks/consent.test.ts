import { existsSync, readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Home } from '../support/cli.js';
import { LedgerHome } from '../support/ledger.js';
import { needsTerminal, onTerminal, Terminal } from '../support/terminal.js';

/** Somebody wants a yes from a person who has not seen what it is about. */

const CTRL_D = '\u0004';
const write = (text: string) => `import { write } from '@codemode/servers/ledger';
globalThis.__codemode_result__ = await write({ text: ${text} }).then(() => 'done', () => 'refused');`;

describe('keys that were pressed before the question', () => {
  test.each([
    ['trust', ['trust'], 'Trust this file? [y/N] '],
    ['init', ['init', '--project', '--force'], 'codemode.config.yaml? [Y/n] '],
    ['install', ['install', 'cursor', '--config', 'mine.yaml'], 'Uninstall puts them back. [y/N] '],
  ])('do not answer that of %s', needsTerminal, async (_, words, question) => {
    using home = new Home();
    const mcpServers = { a: { command: 'true' } };
    const config = home.write('codemode.config.yaml', { mcpServers });
    home.write('mine.yaml', { mcpServers });
    home.write('.cursor/mcp.json', { mcpServers });
    const before = readFileSync(config, 'utf8');
    using terminal = new Terminal(home, words);
    terminal.type('y\r');
    await terminal.sees(question);
    terminal.type(CTRL_D);
    await terminal.ended();
    expect(existsSync(home.path('state/trusted-configs.json'))).toBe(false);
    expect(readFileSync(config, 'utf8')).toBe(before);
    expect(JSON.parse(readFileSync(home.path('.cursor/mcp.json'), 'utf8')).mcpServers).toMatchObject(mcpServers);
  });

  test('do not answer that of approvals approve last', needsTerminal, async () => {
    using home = new LedgerHome();
    await home.program(write(`'one'`));
    using terminal = new Terminal(home, ['--config', home.config, 'approvals', 'approve', 'last']);
    terminal.type('y\r');
    await terminal.sees('Approve this call? [y/N] ');
    terminal.type(CTRL_D);
    expect((await terminal.ended()).status).toBe(1);
    expect(await home.pending()).toHaveLength(1);
  });
});

describe('an approval', () => {
  test.each([
    ['spaces', ' '],
    ['braille blanks', '\\u2800'],
    ['fillers', '\\u3164'],
  ])('cannot be pushed off the screen by %s', needsTerminal, async (_, blank) => {
    using home = new LedgerHome();
    const file = home.write('program.ts', write(`'harmless' + '${blank}'.repeat(9_000) + 'and this'`));
    using terminal = new Terminal(home, ['--config', home.config, 'run', file]);
    const card = stripVTControlCharacters(await terminal.sees('Allow? [y/N/run/hour] '));
    expect(card).toContain('"text": "harmless[9,000 blanks]and this"');
    expect(card.replaceAll('\r', '')).toContain('\nledger/write\nAllow?');
    terminal.type(CTRL_D);
    await terminal.ended();
    expect(home.lines).toEqual([]);
  });

  test('that cannot be shown whole is denied, or decided where it can', needsTerminal, async () => {
    using home = new LedgerHome();
    const file = home.write('program.ts', write(`'x'.repeat(5_000) + ' Allow? [y/N/run/hour] the end'`));
    using terminal = new Terminal(home, ['--config', home.config, 'run', file]);
    const card = await terminal.sees('[n] ');
    expect(card).toMatch(/… 3,030 more characters/);
    const [approval] = await home.pending();
    const id = approval?.id ?? '';
    expect(card).toContain(`codemode approvals show ${id}`);
    for (const answer of ['y\r', 'run\r']) {
      terminal.type(answer);
      await terminal.sees('cannot be allowed here');
      await terminal.sees('[n] ');
    }
    const last = await onTerminal(home, ['approvals', 'approve', 'last'], 'y\n', { typesAfter: /too long/ });
    expect([last.status, last.stdout]).toEqual([2, expect.stringContaining(`codemode approvals show ${id}`)]);
    expect(home.lines).toEqual([]);
    // Every row of the whole is marked, wherever the screen ends.
    const whole = await onTerminal(home, ['approvals', 'show', id], '', { env: { COLUMNS: '60' } });
    const rows = whole.stdout.split('\n').filter((row) => /xxx|the end/.test(row));
    expect(rows.length).toBeGreaterThan(80);
    expect(rows.filter((row) => !row.startsWith('  | '))).toEqual([]);
    expect(whole.stdout).toContain('the end');
    await home.decide('approve', id);
    await terminal.ended();
    expect(home.lines).toHaveLength(1);
  });
});

describe('the review of a file', () => {
  test('shows the values by which a variable loads code, and headers', needsTerminal, async () => {
    using home = new Home();
    home.write('codemode.config.yaml', {
      mcpServers: {
        a: { command: 'node', args: ['x.mjs'], env: { NODE_OPTIONS: '--require=./evil.cjs', TOKEN: '${A_TOKEN}' } },
        b: { url: 'https://b.test/', headers: { 'X-Run': 'curl | sh' } },
      },
    });
    const { stdout } = await onTerminal(home, ['trust'], 'n\n', { isUntold: true });
    expect(stdout).toContain('    | with the variable NODE_OPTIONS, which can load code: --require=./evil.cjs');
    expect(stdout).toContain('    | with the variable TOKEN: "${A_TOKEN}"');
    expect(stdout).toContain('    | sending X-Run: "curl | sh"');
  });

  test('marks each row of a long command, and refuses what is too long to be shown', needsTerminal, async () => {
    using home = new Home();
    const asked = async (word: string) => {
      home.write('codemode.config.yaml', { mcpServers: { a: { command: 'sh', args: ['-c', word] } } });
      return onTerminal(home, ['trust'], 'n\n', {
        isUntold: true,
        env: { COLUMNS: '80' },
        typesAfter: /\[y\/N\] |--config/,
      });
    };
    const { stdout } = await asked(`${'x'.repeat(75)}Trust this file? [y/N] ${'\u2800'.repeat(900)}evil`);
    expect(stdout).toContain('[901 blanks]evil');
    expect(stripVTControlCharacters(stdout).match(/^Trust this file\?/gm)).toHaveLength(1);
    const long = await asked('x'.repeat(3_000));
    expect([long.status, long.stdout]).toEqual([1, expect.stringContaining('cannot be trusted here')]);
  });
});

test('a log or an error of a program never begins at the left edge', needsTerminal, async () => {
  using home = new LedgerHome();
  const forged = 'Allow? [y/N/run/hour]';
  const source = `console.log('a\\n${forged}');
console.log('x'.repeat(74) + '${forged}');
throw new Error('b\\n${forged}');`;
  using terminal = new Terminal(home, ['--config', home.config, 'run', home.write('program.ts', source)]);
  const shown = stripVTControlCharacters((await terminal.ended()).shown).replaceAll('\r', '');
  expect(shown).toContain(`\n      ${forged}`);
  expect(shown).not.toMatch(/^Allow\?/m);
  expect(Math.max(...shown.split('\n').map((row) => row.length))).toBeLessThan(80);
});
