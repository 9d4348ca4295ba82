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
    `${HEAD}import { input } from '@codemode/input';
import { listScripts, month_report, runScript } from '@codemode/scripts';
const { orders } = await list_orders({ status: 'paid' });
const { total } = await month_report({ month: input.month });
console.log(orders.length, total, (await listScripts())[0]?.name, await runScript('month-report', {}));\n`,
  );
  const compile = () => spawnSync(BINARY, ['-p', home.path('programs')], { encoding: 'utf8' });
  expect(compile()).toMatchObject({ status: 0, stdout: '' });
  home.write('programs/mine.ts', `${HEAD}await list_orders({ status: 'payed' });\n`);
  expect(compile()).toMatchObject({ stdout: expect.stringMatching(/^.*mine\.ts\(2,21\): error TS2322/) });
  home.write(
    'programs/mine.ts',
    `import { month_report } from '@codemode/scripts';\nawait month_report({ month: 7 });\n`,
  );
  expect(compile()).toMatchObject({ stdout: expect.stringMatching(/^.*mine\.ts\(2,22\): error TS2322/) });
  home.write('programs/tsconfig.json', '{}');
  expect((await home.run(['types', '--out', 'programs'])).stdout).toMatch(/^2 files/);
  expect(readFileSync(home.path('programs/tsconfig.json'), 'utf8')).toBe('{}');
  home.write('programs/codemode-types/own.d.ts', 'declare const mine: 1;');
  const refused = await home.run(['types', '--out', 'programs']);
  expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('was not written by codemode') });
});

test('programs of profile runner are checked as before they start, and nothing is run', options, async () => {
  const check = (name: string, source: string) => {
    home.write(name, source);
    return home.run(['--config', runnerConfig(), 'check', name]);
  };
  const python = "print('it ran')\nfrom servers.orders import get_order\nresult = await get_order(idd='o1')\n";
  expect(await check('wrong.py', python)).toEqual({
    status: 1,
    stderr: '',
    stdout: expect.stringMatching(/^wrong\.py:3:\d+: error: .*Write id/s),
  });
  expect(await check('right.py', python.replace('idd', 'id'))).toEqual({ status: 0, stderr: '', stdout: '' });
  expect(await check('open.py', 'from __future__ import annotations\nresult = (\n')).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^open\.py:2:\d+: error: /),
  });
  const unknown = await check('unknown.py', 'from servers.orders import list_order\n');
  expect(unknown).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('Did you mean list_orders or get_order?'),
  });
  const node = `import { listOrders } from './servers/orders/index.js';\nawait listOrders({ status: 'payed' });\n`;
  expect(await check('wrong.mjs', node)).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^wrong\.mjs:2:\d+: error TS\d+: .*"paid"/),
  });
  expect(await check('right.mjs', node.replace('payed', 'paid'))).toMatchObject({ status: 0, stdout: '' });
  const other = await check('unknown.mjs', "import { listOrder } from './servers/orders/index.js';\nlistOrder();\n");
  expect(other).toMatchObject({ status: 1, stdout: expect.stringContaining('listOrders') });
});

test('a Node program that the checker refuses is recorded like any other failed run', options, async () => {
  const source = `import { listOrders } from './servers/orders/index.js';\nawait listOrders({ status: 'payed' });\n`;
  const words = ['--config', runnerConfig()];
  const ran = await home.run([...words, 'runner', 'node'], { input: source });
  expect(JSON.parse(ran.stdout)).toMatchObject({
    result: { ok: false, error: { message: expect.stringContaining('paid') } },
  });
  // Nothing ran, so the replay has nothing that could differ.
  const replayed = await home.json<object>([...words, 'replay', 'last', '--json']);
  expect(replayed).toMatchObject({ same: true });
});

/** The same servers, for programs on real interpreters. */
function runnerConfig(): string {
  const configured = JSON.parse(readFileSync(home.path('codemode.config.json'), 'utf8')) as object;
  return home.write('runner.config.json', { ...configured, profile: 'runner' });
}
