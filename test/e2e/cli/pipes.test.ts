import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROGRAM } from '../../support/cli.js';
import { LedgerHome } from '../../support/ledger.js';
import { fixture } from '../../support/upstreams.js';

let home: LedgerHome;

beforeAll(async () => {
  home = new LedgerHome({
    mcpServers: { schemas: { command: process.execPath, args: [fixture('schema-server.mjs')] } },
  });
  await home.program(`import { look } from '@codemode/servers/ledger';
for (let i = 0; i < 300; i++) await look({ text: 'n' + i });`);
});
afterAll(() => home[Symbol.dispose]());

/** Runs a line in bash with `$codemode` as the program. Gives the status of the program, not of what reads its output. */
async function piped(line: string) {
  const child = spawn('bash', ['-c', `${line}; exit "\${PIPESTATUS[0]}"`], {
    cwd: home.folder,
    env: {
      PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`,
      HOME: home.folder,
      CODEMODE_CONFIG: home.path('codemode.config.json'),
      CODEMODE_HOME: home.path('state'),
      CODEMODE_KEYRING: 'file',
      codemode: `${process.execPath} ${PROGRAM}`,
    },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [status] = (await once(child, 'close')) as [number];
  return { status, stdout, stderr };
}

describe('a reader that goes away', () => {
  test.each([
    'tools --detail full',
    'tools --json --detail full',
    'types',
    'servers',
    'prompt',
    'runs --json',
    'audit --limit 1000',
    'audit --json --limit 1000',
    'audit export',
    'config explain',
    'completion bash',
    '--help',
    '',
  ])('costs codemode %s nothing', async (words) => {
    // `true` has ended long before anything is written: every write meets a closed pipe.
    for (const reader of ['head -1', 'true']) {
      const { status, stderr } = await piped(`$codemode ${words} | ${reader}`);
      expect({ reader, status }).toEqual({ reader, status: 0 });
      expect(stderr).not.toMatch(/EPIPE|went wrong|could not be written|^\s+at /m);
    }
  });

  test('of stderr costs a command nothing but its warnings', async () => {
    const { status, stdout } = await piped('$codemode audit --run nothing-like-that 2> >(true) | cat');
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect((await piped('$codemode tolls 2>&1 >/dev/null | true')).status).toBe(2);
  });

  test('of both costs nothing', async () => {
    expect((await piped('$codemode audit export 2>&1 | true')).status).toBe(0);
    expect((await piped('$codemode servers >&- 2>&-')).status).toBe(0);
  });
});

test('output on a full disk is a failure still', async () => {
  const { status, stderr } = await piped('$codemode --help > /dev/full');
  expect({ status, stderr }).toEqual({ status: 70, stderr: expect.stringMatching(/could not be written: ENOSPC/) });
});
