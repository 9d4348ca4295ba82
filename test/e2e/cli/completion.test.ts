import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { needs } from '../../support/needs.js';
import { needsTerminal } from '../../support/terminal.js';

const PAGE = fileURLToPath(new URL('../../../man/codemode.1', import.meta.url));
/** Server names in a project's file that try to run commands in the shell of a user who presses Tab. */
const HOSTILE_NAMES = ['$(touch witness)', '`touch witness`', 'x; touch witness', 'g*', "q'uote", 'two words'];

let home: Home;
let witness: string;
let scripts: Record<string, string>;
let env: Record<string, string>;

beforeAll(async () => {
  home = new Home();
  witness = home.path('witness');
  const servers = ['github', 'gitlab', 'slack', ...HOSTILE_NAMES];
  const started = { command: 'touch', args: [witness] };
  home.write('codemode.config.json', { mcpServers: Object.fromEntries(servers.map((name) => [name, started])) });
  home.write('other.json', { mcpServers: { elsewhere: started } });
  await home.run(['scripts', 'add', 'weekly-report', home.write('p.ts', 'export {};'), '--no-check']);
  home.write('bin/.keep', '');
  // The script asks the program that the shell finds.
  symlinkSync(PROGRAM, home.path('bin', 'codemode'));
  env = {
    PATH: `${home.path('bin')}:${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
    HOME: home.folder,
    CODEMODE_CONFIG: home.path('codemode.config.json'),
    CODEMODE_HOME: home.path('state'),
    CODEMODE_KEYRING: 'file',
    LC_ALL: 'C.UTF-8',
    TERM: 'xterm-256color',
  };
  scripts = {};
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, status } = await home.run(['completion', shell]);
    expect(status).toBe(0);
    scripts[shell] = home.write(`completion.${shell}`, stdout);
  }
});
afterAll(() => {
  expect(existsSync(witness)).toBe(false);
  home[Symbol.dispose]();
});

function shell(command: string, args: readonly string[], input = '') {
  const { stdout, stderr, status } = spawnSync(command, args, { cwd: home.folder, env, input, encoding: 'utf8' });
  return { stdout, stderr, status };
}

/** What bash would offer for a line; the cursor is at its end. */
function inBash(...words: string[]): string[] {
  const driver = `source ${scripts.bash}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_codemode
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = shell('bash', ['--norc', '-c', driver]);
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

/** What fish would offer. */
function inFish(line: string): string[] {
  const { stdout, stderr } = shell('fish', [
    '--no-config',
    '-c',
    `source ${scripts.fish}; complete -C ${JSON.stringify(line)}`,
  ]);
  expect(stderr).toBe('');
  return stdout
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => each.split('\t')[0] ?? '');
}

/** What zsh makes of a line when the tab key is pressed: typed on a terminal, and then run by a codemode that echoes it. */
function inZsh(typed: string): string {
  const setUp = `autoload -U compinit && compinit -u -d ${home.path('zcompdump')} && source ${scripts.zsh}
codemode() { print -r -- "RAN:$*:" }
PS1='> '
unsetopt beep
`;
  home.write('.zshrc', setUp);
  const { stdout } = shell('/usr/bin/script', ['-qec', 'zsh -i', '/dev/null'], `${typed}\n exit\n`);
  return [...stdout.matchAll(/RAN:(.*?):/g)].at(-1)?.[1]?.trim() ?? `nothing ran: ${stdout}`;
}

describe('completion in bash', () => {
  test('is registered for codemode', () => {
    const { stdout } = shell('bash', ['--norc', '-c', `source ${scripts.bash}; complete -p codemode`]);
    expect(stdout).toBe('complete -F _codemode codemode\n');
  });

  test('offers commands, commands below them, and options', () => {
    expect(inBash('codemode', 'ser')).toEqual(['serve', 'servers']);
    expect(inBash('codemode', 'runs', '')).toEqual(['list', 'show', 'resume', 'wait', 'undo', 'cancel']);
    expect(inBash('codemode', 'runs', 'show', '--j')).toEqual(['--json']);
    expect(inBash('codemode', 'tools', '--re')).toEqual(['--refresh']);
    // Options of the program may stand anywhere, and those of `runs list` behind `runs`.
    expect(inBash('codemode', 'tools', '--conf')).toEqual(['--config']);
    expect(inBash('codemode', 'runs', '--lim')).toEqual(['--limit']);
    expect(inBash('codemode', 'help', 'app')).toEqual(['approvals']);
  });

  test('offers the clients that install and uninstall know', () => {
    expect(inBash('codemode', 'install', 'claude-')).toEqual(['claude-code', 'claude-desktop']);
    expect(inBash('codemode', 'uninstall', 'ze')).toEqual(['zed']);
  });

  test('offers what an option takes', () => {
    expect(inBash('codemode', '--isolation', '')).toEqual(['strict', 'namespaces', 'none']);
    expect(inBash('codemode', 'approvals', 'approve', 'x', '--scope', 'ca')).toEqual(['call', 'calls']);
    expect(inBash('codemode', '--config', 'other')).toEqual(['other.json']);
  });

  test('offers servers and scripts from files of the named configuration and runs nothing', () => {
    expect(inBash('codemode', 'tools', '--server', 'git')).toEqual(['github', 'gitlab']);
    expect(inBash('codemode', 'types', '')).toEqual(['github', 'gitlab', 'slack']);
    expect(inBash('codemode', 'types', 'github', 's')).toEqual(['slack']);
    expect(inBash('codemode', '--config', 'other.json', 'types', '')).toEqual(['elsewhere']);
    expect(inBash('codemode', 'scripts', 'run', '')).toEqual(['weekly-report']);
    expect(existsSync(witness)).toBe(false);
  });

  test('offers nothing, and says nothing, where the configuration is broken', () => {
    home.write('broken.json', '{');
    expect(inBash('codemode', '--config', 'broken.json', 'types', '')).toEqual([]);
  });
});

describe('completion in fish', needs('fish'), () => {
  test('offers commands, options and values', () => {
    expect(inFish('codemode ser')).toEqual(['serve', 'servers']);
    // Fish puts them in order.
    expect(inFish('codemode runs ')).toEqual(['cancel', 'list', 'resume', 'show', 'undo', 'wait']);
    expect(inFish('codemode runs show --j')).toEqual(['--json']);
    expect(inFish('codemode --isolation ')).toEqual(expect.arrayContaining(['strict', 'namespaces', 'none']));
    expect(inFish('codemode --config other.json types ')).toEqual(['elsewhere']);
    expect(inFish('codemode tools --server git')).toEqual(['github', 'gitlab']);
    expect(inFish('codemode scripts run ')).toEqual(['weekly-report']);
  });
});

describe('completion in zsh', { ...needs('zsh'), ...needsTerminal }, () => {
  test.each([
    ['codemode runs sh\t', 'runs show'],
    ['codemode approv\t', 'approvals'],
    ['codemode tools --ref\t', 'tools --refresh'],
    ['codemode tools --server sl\t', 'tools --server slack'],
    ['codemode scripts run \t', 'scripts run weekly-report'],
    ['codemode --config other.json types e\t', '--config other.json types elsewhere'],
    ['codemode --isolation nam\t', '--isolation namespaces'],
  ])('%j becomes %s', (typed, ran) => {
    expect(inZsh(typed)).toBe(ran);
  });
});

test('run ids are offered from the state folder, and nothing is made where there is none', async () => {
  using empty = new Home();
  expect(await empty.run(['completion', 'values', 'runs'])).toEqual({ status: 0, stdout: '', stderr: '' });
  expect(existsSync(empty.path('state'))).toBe(false);
  await empty.run(['run', '-'], { input: '1' });
  const [run] = await empty.json<{ runId: string }[]>(['runs', '--json']);
  expect((await empty.run(['completion', 'values', 'runs'])).stdout).toBe(`last\n${run?.runId}\n`);
});

describe('the man page', () => {
  test('has no mistake that mandoc finds', needs('mandoc'), () => {
    const { stdout, status } = shell('mandoc', ['-Tlint', '-Wall', PAGE]);
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
  });

  test('is shown by mandoc with commands, options and exit status', needs('mandoc'), () => {
    const { stdout } = shell('sh', ['-c', `mandoc -Tascii ${PAGE} | col -bx`]);
    expect(stdout).toMatch(/^ {2,}codemode runs show/m);
    expect(stdout).toMatch(/--isolation <level>/);
    expect(stdout).toMatch(/^EXIT STATUS/m);
  });
});
