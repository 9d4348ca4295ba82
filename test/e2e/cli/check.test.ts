import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { findCompiler } from '../../../src/sandbox/checker/compiler.js';
import { Home } from '../../support/cli.js';
import { jailForTests } from '../../support/jailed.js';

const { options } = await jailForTests('strict');
const COMPILER = fileURLToPath(new URL('../../../node_modules/typescript-native', import.meta.url));
const FOUND = findCompiler({ configured: COMPILER, installFolder: '/nonexistent', from: import.meta.url });
const BINARY = 'binary' in FOUND ? FOUND.binary : '';
const ORDERS = fileURLToPath(new URL('../../../examples/servers/orders.mjs', import.meta.url));
const home = new Home();
afterAll(() => home[Symbol.dispose]());
home.write('codemode.config.json', {
  mcpServers: { orders: { command: process.execPath, args: [ORDERS] } },
  check: { compiler: COMPILER },
});
const HEAD = "import { list_orders } from '@codemode/servers/orders';\n";

test('codemode check names file, line and column, and exits with 1', options, async () => {
  home.write('wrong.ts', `${HEAD}const r = await list_orders({ status: 'payed' });\n`);
  const { status, stdout, stderr } = await home.run(['check', 'wrong.ts']);
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  expect(stdout).toMatch(/^wrong\.ts:2:31: error TS\d+: .*"paid"/);
});

test('a program without mistakes gives nothing and exits with 0; --json has the list', options, async () => {
  const { status, stdout } = await home.run(['check', '--json'], { input: `${HEAD}await list_orders();\n` });
  expect({ status, printed: JSON.parse(stdout) }).toEqual({ status: 0, printed: { problems: [] } });
});

test('the program of the guide gives the line of the guide', options, async () => {
  const guide = readFileSync(new URL('../../../docs/guides/types.md', import.meta.url), 'utf8');
  const [, program = ''] = /```ts\n(.*?)```/s.exec(guide) ?? [];
  const [, line = ''] = /```text\n(.*?)```/s.exec(guide) ?? [];
  home.write('report.ts', program);
  expect(await home.run(['check', 'report.ts'])).toEqual({ status: 1, stderr: '', stdout: line });
});

test('functions of stored scripts are checked like those of servers', options, async () => {
  home.write('report.ts', "import { input } from '@codemode/input'; globalThis.__codemode_result__ = input.month;\n");
  home.write('report.json', { type: 'object', properties: { month: { type: 'string' } }, required: ['month'] });
  const add = ['scripts', 'add', 'month-report', 'report.ts', '--input-schema', 'report.json', '--no-check'];
  expect(await home.run(add)).toMatchObject({ status: 0 });
  const check = (body: string) =>
    home.run(['check', '--json'], { input: `import { month_report, runScript } from '@codemode/scripts';\n${body}` });
  const { status, stdout } = await check("await month_report({ month: 5 });\nawait month_report({ mnth: 'x' });");
  const { problems } = JSON.parse(stdout) as { problems: { severity: string; line: number; hint?: string }[] };
  expect([status, problems.map(({ severity, line, hint = '' }) => [severity, line, hint])]).toEqual([
    1,
    [
      ['error', 2, ''],
      ['error', 3, "Write month: `await month_report({ month: 'x' });`."],
    ],
  ]);
  // What a script returns is not promised.
  expect(
    await check("const r = await month_report({ month: 'x' }); r.anything.at(0); await runScript('a');"),
  ).toMatchObject({
    status: 0,
  });
});

test('codemode types --out writes a project that compiles, and replaces only its own files', async () => {
  const first = await home.run(['types', '--out', 'programs']);
  expect({ ...first, stdout: first.stdout.split('.')[0] }).toEqual({
    status: 0,
    stderr: '',
    stdout: '4 files in programs',
  });
  home.write(
    'programs/mine.ts',
    `${HEAD}const { orders } = await list_orders({ status: 'paid' });\nconsole.log(orders.length);\n`,
  );
  const compile = () => spawnSync(BINARY, ['-p', home.path('programs')], { encoding: 'utf8' });
  expect(compile()).toMatchObject({ status: 0, stdout: '' });
  home.write('programs/mine.ts', `${HEAD}await list_orders({ status: 'payed' });\n`);
  expect(compile()).toMatchObject({ stdout: expect.stringMatching(/^.*mine\.ts\(2,21\): error TS2322/) });
  home.write('programs/tsconfig.json', '{}');
  expect((await home.run(['types', '--out', 'programs'])).stdout).toMatch(/^2 files/);
  expect(readFileSync(home.path('programs/tsconfig.json'), 'utf8')).toBe('{}');
  home.write('programs/codemode-types/own.d.ts', 'declare const mine: 1;');
  const refused = await home.run(['types', '--out', 'programs']);
  expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('was not written by codemode') });
});
