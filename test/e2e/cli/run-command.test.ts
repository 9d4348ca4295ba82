import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type CommandOptions, command, endOf, openWorkFolder, startCommand } from '../../support/command.js';
import { skipped } from '../../support/needs.js';
import { descendantsOf, expectGone } from '../../support/processes.js';

const folder = openWorkFolder();
afterAll(() => folder[Symbol.dispose]());
const cwd = folder.path;

const run = (args: readonly string[], options: Partial<CommandOptions> = {}) => command(args, { cwd, ...options });

function write(name: string, content: string | Uint8Array): string {
  writeFileSync(join(cwd, name), content);
  return name;
}

/** Refused with one line on stderr, nothing on stdout, and no stack trace. */
async function expectRefusal(ended: ReturnType<typeof run>, status: number, message: string | RegExp) {
  const { stdout, stderr, ...rest } = await ended;
  expect(stderr).toMatch(message);
  expect({ stdout, ...rest }).toEqual({ stdout: '', status });
  expect(stderr).not.toMatch(/^\s+at /m);
}

describe('codemode run', () => {
  test('prints the response, with logs, result, diagnostics and toolTrace and nothing else [A5, A8, A9]', async () => {
    const file = write(
      'sum.ts',
      `const numbers: number[] = [1, 2, 3];
       console.log('numbers', numbers); console.warn('careful');
       globalThis.__codemode_result__ = { sum: numbers.reduce((a, b) => a + b) };`,
    );
    const { status, stdout, stderr } = await run(['run', '--json', file]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.endsWith('\n')).toBe(true);
    expect(stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(stdout)).toEqual({
      logs: [
        { level: 'log', message: 'numbers [1,2,3]', timeMs: expect.any(Number) },
        { level: 'warn', message: 'careful', timeMs: expect.any(Number) },
      ],
      result: { sum: 6 },
      diagnostics: [],
      toolTrace: [],
    });
  });

  test('reads stdin, named or not, and indents with --pretty [A5, A8]', async () => {
    const input = 'globalThis.__codemode_result__ = 6 * 7';
    const [plain, dash] = await Promise.all([
      run(['run', '--pretty'], { input }),
      run(['run', '-', '--pretty'], { input }),
    ]);
    expect(dash).toEqual(plain);
    expect(plain).toEqual({
      status: 0,
      stderr: '',
      stdout: '{\n  "logs": [],\n  "result": 42,\n  "diagnostics": [],\n  "toolTrace": []\n}\n',
    });
  });

  test('answers a program that fails with everything up to the failure, and status 1 [A8, A11, A12]', async () => {
    const { status, stdout, stderr } = await run(['run', '-'], {
      input: 'type A = 1;\nconsole.log("before");\n\nnull.x;',
    });
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      logs: [{ level: 'log', message: 'before', timeMs: expect.any(Number) }],
      result: null,
      diagnostics: [
        {
          severity: 'error',
          code: 'UNCAUGHT_EXCEPTION',
          message: expect.stringMatching(/^TypeError: .*null/),
          path: expect.stringMatching(/^main\.ts:4:\d+$/),
        },
      ],
      toolTrace: [],
    });
  });

  test.each([
    ['const x = ;', 'SYNTAX_ERROR', 'main.ts:1:11'],
    ["import x from 'fs'", 'IMPORT_FAILURE', 'main.ts:1:15'],
    [
      "import type { Stats } from 'fs';\ninterface A { b: string }\nlet a: A;\nimport {\n  getTool,\n  find\n} from '@codemode/discovery';",
      'IMPORT_FAILURE',
      'main.ts:6:3',
    ],
    ["const text = \"import 'path'\";\n  import * as paths from 'path';", 'IMPORT_FAILURE', 'main.ts:2:26'],
    ["console.log(1);\nconst { x } = await import('nowhere');", 'IMPORT_FAILURE', 'main.ts:2:28'],
    ['await fetch("https://example.com")', 'UNCAUGHT_EXCEPTION', 'main.ts:1:7'],
  ])('answers %s with %s and the place, and with a hint where one says more [A11, A12]', async (input, code, path) => {
    const { status, stdout } = await run(['run', '-'], { input });
    expect(status).toBe(1);
    const { result, diagnostics } = JSON.parse(stdout);
    expect({ result, count: diagnostics.length }).toEqual({ result: null, count: 1 });
    expect(diagnostics[0]).toMatchObject({ severity: 'error', code });
    expect('hint' in diagnostics[0]).toBe(code !== 'SYNTAX_ERROR');
    expect(diagnostics[0].path).toBe(path);
  });

  test('stops at the limits of the configuration where none are typed', async () => {
    const config = write('limits.json', JSON.stringify({ sandbox: { limits: { timeout: '300ms' } } }));
    const { stdout } = await run(['--config', config, 'run', '-'], { input: 'for (;;) {}' });
    expect(JSON.parse(stdout).diagnostics[0].message).toBe('the program was stopped after 300 ms');
  });

  test('stops at the limits that were typed [A7, A11]', async () => {
    const { status, stdout } = await run(['run', '-', '--timeout', '200', '--memory', '8000000'], {
      input: 'for (;;) {}',
    });
    expect(status).toBe(1);
    expect(JSON.parse(stdout).diagnostics).toEqual([
      {
        severity: 'error',
        code: 'SANDBOX_LIMIT',
        message: 'the program was stopped after 200 ms',
        hint: 'It was still computing, as in an endless loop; if it only needs longer, raise limits.timeoutMs.',
        errorClass: 'SandboxLimitError',
      },
    ]);
  });

  test('prints text that would steer a terminal as harmless JSON of the same value', async () => {
    const evil = '\u001b[2J\u001b]0;title\u0007\r\b\u009b31m\u202efdp.exe\u2066\u2028\u2029\u0000\ufeff"\\';
    const { status, stdout } = await run(['run', '-'], {
      input: `const evil = ${JSON.stringify(evil)}; console.log(evil); globalThis.__codemode_result__ = { [evil]: evil };`,
    });
    expect(status).toBe(0);
    for (const character of '\u001b\u0007\r\b\u009b\u202e\u2066\u2028\u2029\u0000\ufeff')
      expect(stdout).not.toContain(character);
    const { result, logs } = JSON.parse(stdout);
    expect(result).toEqual({ [evil]: evil });
    expect(logs[0].message).toBe(evil);
  });

  test('refuses text that would steer a terminal in a file name, harmlessly', async () => {
    await expectRefusal(
      run(['run', '\u001b[31mred\u202e.ts']),
      2,
      /^codemode: \\u001b\[31mred\\u202e\.ts does not exist/,
    );
  });
});

describe('codemode run refuses, with status 2 and the reason,', () => {
  test('a file that is not there', () =>
    expectRefusal(run(['run', 'gone.ts']), 2, 'codemode: gone.ts does not exist; check the path\n'));

  test('a program in place of a file, and says how to run it', () =>
    expectRefusal(
      run(['run', 'return 1 + 1']),
      2,
      "codemode: return 1 + 1 is not a file; to run a program without a file, pipe it in: echo 'PROGRAM' | codemode run -\n",
    ));

  test('a path through something that is not a folder', async () => {
    write('file.ts', '1');
    await expectRefusal(run(['run', 'file.ts/inner.ts']), 2, /file\.ts\/inner\.ts cannot be opened \(ENOTDIR\)/);
  });

  test('an empty file, one of blanks, and no input at all', async () => {
    await expectRefusal(run(['run', write('empty.ts', '')]), 2, 'empty.ts is empty; write a program into it');
    await expectRefusal(run(['run', write('blank.ts', ' \n\t\n')]), 2, 'blank.ts is empty; write a program into it');
    await expectRefusal(run(['run']), 2, 'stdin is empty; write a program into it');
  });

  test('a directory', async () => {
    mkdirSync(join(cwd, 'folder'));
    await expectRefusal(run(['run', 'folder']), 2, 'folder is a directory; name the file with the program');
  });

  test('a binary', () =>
    expectRefusal(run(['run', process.execPath]), 2, /is a binary file, not source text|has more than 262144 bytes/));

  test('a small binary, from a file and from stdin', async () => {
    const bytes = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]);
    await expectRefusal(run(['run', write('small.bin', bytes)]), 2, 'small.bin is a binary file, not source text');
    await expectRefusal(run(['run', '-'], { input: bytes }), 2, 'stdin is a binary file, not source text');
  });

  test('text that is not UTF-8', () =>
    expectRefusal(
      run(['run', write('latin.ts', Buffer.from([0x2f, 0x2f, 0xe9, 0xfc]))]),
      2,
      'latin.ts is not valid UTF-8; save it as UTF-8 and try again',
    ));

  test('50 MB of source, from a file and from stdin', async () => {
    const descriptor = openSync(join(cwd, 'large.ts'), 'w');
    writeSync(descriptor, '1;', 50 * 1024 * 1024);
    closeSync(descriptor);
    const message = 'has more than 262144 bytes, the most a program may have; keep data out of the source';
    await expectRefusal(run(['run', 'large.ts']), 2, `large.ts ${message}`);
    const input = Buffer.alloc(50 * 1024 * 1024, 'a;');
    await expectRefusal(run(['run', '-'], { input }), 2, `stdin ${message}`);
  });

  test('a FIFO that nobody writes to, without waiting for it', async () => {
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    await expectRefusal(
      run(['run', 'pipe']),
      2,
      'pipe is not a regular file; pipe it in instead: codemode run - < pipe',
    );
  });

  const asUser = process.getuid?.() === 0 ? skipped('root may read every file; run the tests as another user') : {};
  test('a file that may not be read', asUser, async () => {
    chmodSync(join(cwd, write('locked.ts', '1')), 0);
    await expectRefusal(run(['run', 'locked.ts']), 2, 'locked.ts cannot be read: permission denied');
  });

  test.each(['0', '-1', 'abc', '1.5', '0x10', '', '600001'])('--timeout=%s', (text) =>
    expectRefusal(
      run(['run', '-', `--timeout=${text}`], { input: '1' }),
      2,
      `codemode: --timeout: expected a whole number from 1 to 600000, found ${JSON.stringify(text)}\n`,
    ),
  );

  test('--memory 0, and more than may be asked for', async () => {
    const message = /--memory: expected a whole number from 1 to 1073741824, found "/;
    await expectRefusal(run(['run', '-', '--memory', '0'], { input: '1' }), 2, message);
    await expectRefusal(run(['run', '-', '--memory', '1073741825'], { input: '1' }), 2, message);
  });

  test.each([
    [['run', '--bogus'], "unknown option '--bogus'"],
    [['--bogus'], "unknown option '--bogus'"],
    [['run', 'a.ts', 'b.ts'], 'too many arguments'],
    [['run', '--timeout'], "option '--timeout <ms>' argument missing"],
  ])('%j', async (args, message) => {
    const ended = run(args);
    await expectRefusal(ended, 2, message);
    expect((await ended).stderr).toMatch(/See: codemode(?: run)? --help$/m);
  });

  test('a level of isolation that does not exist, naming those that do', () =>
    expectRefusal(
      run(['--isolation', 'bogus', 'run', '-'], { input: '1' }),
      2,
      'codemode: --isolation: sandbox.isolation: expected one of strict, namespaces, none, found "bogus"',
    ));

  test.each([
    ['codemode.config.yaml', 'sandbox:\n  isolation: bogus\n', ':2:14: sandbox.isolation: expected one of strict'],
    ['codemode.config.yaml', 'sandbox:\n  workerz: 1\n', ':2:3: sandbox.workerz: unknown key; did you mean workers?'],
    ['codemode.config.yaml', 'sandbox: [\n', ':2:1: '],
    ['codemode.config.json', '{\n  "sandbox": {,}\n}', ':2:'],
  ])('a %s with a mistake, at its exact place: %j', async (name, content, message) => {
    using other = openWorkFolder();
    writeFileSync(join(other.path, name), content);
    const { status, stdout, stderr } = await run(['run', '-'], { input: '1', cwd: other.path });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(`${name}${message}`);
  });

  test('a configuration file that is not there', () =>
    expectRefusal(
      run(['--config', 'gone.yaml', 'run', '-'], { input: '1' }),
      2,
      /^codemode: .*\/gone\.yaml: does not exist; check the path/,
    ));
});

describe('a run without a jail', () => {
  test('is refused with status 69 and what to do, unless both keys are given', () =>
    expectRefusal(
      run(['--isolation', 'none', 'run', '-'], { input: '1' }),
      69,
      'needs a second key: set sandbox.unsafelyAllowNoJail: true in the configuration file, or ask for "strict"',
    ));

  test('says in its response that it was one [A11]', async () => {
    const { status, stdout } = await run(['--isolation', 'none', 'run', '-'], {
      input: 'globalThis.__codemode_result__ = 1',
      environment: { CODEMODE_UNSAFELY_ALLOW_NO_JAIL: 'true' },
    });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      result: 1,
      diagnostics: [{ severity: 'warning', code: 'NOT_ISOLATED' }],
    });
  });
});

describe('an interrupt', () => {
  test.each([
    ['SIGINT', 'for (;;) {}'],
    ['SIGINT', 'await new Promise((resolve) => setTimeout(resolve, 1e9))'],
    ['SIGTERM', 'for (;;) {}'],
  ] as const)('by %s ends a run of %s with status 130, and leaves no process behind', async (signal, input) => {
    const child = startCommand(['run', '-'], { cwd });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = endOf(child);
    child.stdin?.end(input);
    // Once its worker is there, the program is in progress or about to be.
    await expect.poll(() => descendantsOf(child.pid as number).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(2);
    const below = descendantsOf(child.pid as number);
    child.kill(signal);
    const { status, stdout, stderr } = await ended;
    expect({ status, stderr: stderr.replace(/^codemode: the run was cancelled before it started\n$/, '') }).toEqual({
      status: 130,
      stderr: '',
    });
    if (stdout !== '') expect(JSON.parse(stdout)).toMatchObject({ result: null, diagnostics: [{ code: 'CANCELLED' }] });
    await expectGone(below);
  });
});

describe('the program itself', () => {
  test('documents its commands and every exit status in its help', async () => {
    const [all, ofRun] = await Promise.all([run(['--help']), run(['run', '--help'])]);
    expect([all.status, ofRun.status]).toEqual([0, 0]);
    for (const name of ['run', 'doctor', 'demo']) expect(all.stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    for (const status of [0, 1, 2, 69, 70, 75, 130]) expect(ofRun.stdout).toMatch(new RegExp(`\\b${status} [a-z]`));
  });

  test('without a command shows what to do next', async () => {
    const { status, stdout, stderr } = await run([]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('All commands: ');
  });

  test('minds neither a reader that goes away nor a disk that is full', async () => {
    const shell = (line: string) =>
      execFileSync('bash', ['-c', line, 'bash', process.execPath, join(import.meta.dirname, '../../../dist/bin.js')], {
        cwd,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: cwd },
      });
    write('long.ts', 'globalThis.__codemode_result__ = "x".repeat(3e6)');
    expect(shell('{ "$1" "$2" run long.ts | head -c 9 >/dev/null; } 2>&1; echo ${PIPESTATUS[0]}')).toBe('0\n');
    const full = shell('"$1" "$2" run long.ts 2>&1 >/dev/full; echo $?');
    expect(full).toBe('codemode: the output could not be written: ENOSPC: no space left on device, write\n70\n');
  });
});

describe('codemode doctor', () => {
  test('examines Node, kernel, each level of isolation, and runs a program', async () => {
    const { status, stdout, stderr } = await run(['doctor', '--json']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { ok, findings } = JSON.parse(stdout);
    expect(ok).toBe(true);
    expect(findings.map(({ name }: { name: string }) => name)).toEqual([
      'Node',
      'Kernel',
      'Isolation "strict"',
      'Isolation "namespaces"',
      'Configuration',
      'Limits',
      'State folder',
      'Key',
      'Node for programs',
      'Python for programs',
      'Go for programs',
      'Types',
      'A program in the sandbox',
    ]);
    for (const { state, fix } of findings) if (state !== 'ok') expect(fix ?? '').not.toBe('');
  });

  test('says the same to people, one line a finding', async () => {
    const { status, stdout } = await run(['doctor']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ok {4}Node: v\d+/m);
    expect(stdout).toMatch(/^ok {4}A program in the sandbox: ran in [\d.]+ ms, isolation/m);
    expect(stdout).not.toContain('\u001b');
  });

  test('says that programs cannot run where they cannot, with status 1', async () => {
    const { status, stdout } = await run(['--isolation', 'none', 'doctor', '--json']);
    expect(status).toBe(1);
    const { ok, findings } = JSON.parse(stdout);
    expect(ok).toBe(false);
    expect(findings.at(-1)).toMatchObject({ state: 'missing', message: expect.stringContaining('second key') });
  });
});
