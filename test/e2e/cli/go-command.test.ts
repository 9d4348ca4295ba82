import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openGoHome } from '../../support/go-program.js';
import { needs } from '../../support/needs.js';
import { everyday, openHome, PROGRAM, runProgram } from '../../support/program.js';

type GoHome = ReturnType<typeof openGoHome>;

/** The configuration's profile is not go: the program is, by its name or by a flag. */
const openCommandHome = (config: object = {}) => openGoHome({ config: { profile: 'codemode', ...config } });

const CITY = 'city, err := getCity(ctx)\nif err != nil { return err }\nfmt.Println(city.City)';

async function runGo(home: GoHome, source: string, ...words: string[]) {
  const file = join(home.work, 'report.go');
  writeFileSync(file, source);
  const [before, after] = words[0] === '--isolation' ? [words.slice(0, 2), words.slice(2)] : [[], words];
  const { stdout, stderr, status } = await runProgram(home, ...before, 'run', file, ...after);
  return { answer: stdout === '' ? undefined : JSON.parse(stdout), stderr, status };
}

describe('codemode run of a Go program', needs('go', 'bubblewrap'), () => {
  test('prints its response as JSON, and its status tells how it ended [E1, E4]', { timeout: 600_000 }, async () => {
    using home = openCommandHome();
    expect(await runGo(home, CITY)).toMatchObject({ answer: { output: 'New York\n' }, status: 0 });
    const [{ runId }] = JSON.parse((await runProgram(home, 'runs', '--json')).stdout);
    const again = await runProgram(home, 'replay', runId, '--json');
    expect({ status: again.status, ...JSON.parse(again.stdout) }, again.stderr).toMatchObject({
      status: 0,
      same: true,
    });
    const wrong = await runGo(home, 'fmt.Println("x")\nmissing()');
    expect(wrong).toMatchObject({ answer: { output: expect.stringMatching(/program\.go:2:1: undefined/) }, status: 1 });
    const slow = await runGo(home, 'fmt.Println("before")\ntime.Sleep(time.Hour)', '--timeout', '500');
    expect(slow).toMatchObject({ answer: { output: expect.stringMatching(/^before\nstopped: .*500 ms/) }, status: 1 });
    const other = await runGo(home, '1 + 1', '--language', 'javascript');
    expect(other).toMatchObject({ answer: { logs: [], diagnostics: [] }, status: 0 });
    expect(await runGo(home, CITY, '--language', 'goo')).toMatchObject({
      stderr: expect.stringContaining('--language is "goo"; use one of: typescript, javascript, go (did you mean go?)'),
      status: 2,
    });
  });

  test.each(['namespaces', 'none'])(
    'compiles and runs at isolation %s where that is asked for [E5]',
    {
      timeout: 600_000,
    },
    async (level) => {
      using home = openCommandHome({ sandbox: { unsafelyAllowNoJail: level === 'none' } });
      const { answer, status, stderr } = await runGo(home, CITY, '--isolation', level);
      expect({ answer, status }, stderr).toEqual({ answer: { output: 'New York\n' }, status: 0 });
    },
  );

  test('runs nothing where the isolation that is asked for cannot be had [E5]', async () => {
    using home = openCommandHome();
    const none = await runGo(home, CITY, '--isolation', 'none');
    expect(none).toMatchObject({ answer: undefined, status: 69 });
    expect(none.stderr).toContain('needs a second key');
    // A machine that lets nobody have a namespace, as default containers do.
    const refusing = 'printf 0 > /proc/sys/user/max_user_namespaces; exec "$@"';
    const words = ['--config', home.configFile, '--isolation', 'strict', 'run', join(home.work, 'report.go')];
    const { status, stdout, stderr } = spawnSync(
      'unshare',
      ['--user', '--map-root-user', 'sh', '-euc', refusing, 'sh', process.execPath, PROGRAM, ...words],
      { env: home.environment, cwd: home.work, encoding: 'utf8' },
    );
    expect({ status, stdout }, stderr).toEqual({ status: 69, stdout: '' });
    expect(stderr).toContain('isolation "strict" is unavailable on this machine');
  });
});

describe('codemode types and prompt', () => {
  test('print what programs in Go are compiled with [E2]', async () => {
    using home = openCommandHome();
    const all = await runProgram(home, 'types', '--language', 'go', '--refresh');
    expect(all.stdout).toContain('var getCity func(ctx context.Context) (GetCityOutput, error)\n');
    expect(all.stdout).toContain('var echo func(');
    expect(all.stdout).toContain('callTool');
    const one = JSON.parse(
      (await runProgram(home, 'types', 'weather', '--language', 'go', '--detail', 'signatures', '--json')).stdout,
    );
    expect(one.declarations).toContain('var getCity func(');
    expect(one.declarations).not.toMatch(/var echo func|Current city location/);
    expect((await runProgram(home, 'types', '--language', 'typescript')).stdout).toContain('declare module');
    expect((await runProgram(home, 'types', 'nowhere', '--language', 'go')).status).toBe(2);
  });

  test('name the functions of one server as programs do, whatever the others have [E2]', async () => {
    using home = openHome({ mcpServers: { one: everyday(), two: everyday() } });
    const { stdout } = await runProgram(home, 'types', 'one', '--language', 'go', '--detail', 'signatures');
    expect(stdout).toContain('var oneEcho func(');
    expect(stdout).not.toMatch(/var (?:echo|twoEcho) func/);
  });

  test('show the rules and the declarations of profile go [E1]', needs('go'), async () => {
    using home = openCommandHome();
    const { stdout } = await runProgram(home, 'prompt', '--profile', 'go', '--refresh');
    expect(stdout).toContain('## Tool execute_go_code');
    expect(stdout).toContain('func Run(ctx context.Context) error');
    expect(stdout).toContain('var getCity func(');
  });
});

test('another program called go is skipped, and named if there is no Go [E5]', async () => {
  using home = openCommandHome({ go: {} });
  const bin = join(home.work, 'bin');
  mkdirSync(bin);
  // The file called go here is not a Go toolchain.
  symlinkSync('/bin/true', join(bin, 'go'));
  const bare = { ...home, environment: { ...home.environment, PATH: bin } };
  const { stdout } = await runProgram(bare, 'doctor', '--json');
  const { findings } = JSON.parse(stdout) as { findings: { name: string; state: string; message: string }[] };
  const found = findings.find(({ name }) => name === 'Go for programs');
  // Installers that do not touch the PATH are found all the same.
  expect(found?.message).toMatch(/is not a working Go|\(\/usr\/l\w+\/go\S*\/bin\/go\)/);
});
