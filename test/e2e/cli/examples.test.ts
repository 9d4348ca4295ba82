import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { needs, skipped } from '../../support/needs.js';
import { openHome, startServe } from '../../support/program.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url));
const PROGRAMS = ['fan-out.ts', 'join.ts', 'summarise.ts'];
let home: Home;
beforeAll(() => {
  home = new Home();
});
afterAll(() => home[Symbol.dispose]());

interface Response {
  readonly logs: { message: string }[];
  readonly result: Record<string, unknown>[];
  readonly diagnostics: unknown[];
  readonly toolTrace: { serverId: string; toolName: string; ok: boolean }[];
}
const run = (file: string) => home.json<Response>(['run', file], { cwd: EXAMPLES });

test('one program joins data of two servers', async () => {
  const { result, diagnostics, toolTrace } = await run('join.ts');
  expect(diagnostics).toEqual([]);
  expect(result).toHaveLength(5);
  expect(result[0]).toEqual({ name: expect.any(String), city: expect.any(String), spent: expect.any(Number) });
  expect(toolTrace.map(({ serverId }) => serverId).sort()).toEqual(['customers', 'orders']);
});

test('ten megabytes of orders become twelve lines', async () => {
  const { result, diagnostics, logs } = await run('summarise.ts');
  expect(diagnostics).toEqual([]);
  expect(result.map(({ month }) => month)).toEqual(
    Array.from({ length: 12 }, (_, index) => `2025-${String(index + 1).padStart(2, '0')}`),
  );
  expect(logs[0]?.message).toContain('47000 orders');
});

test('twenty-five questions are asked at once, and the one that fails costs only itself', async () => {
  const { result, diagnostics, toolTrace, logs } = await run('fan-out.ts');
  expect(diagnostics).toMatchObject([{ severity: 'warning', code: 'CALLS_FAILED' }]);
  expect(result).toHaveLength(3);
  expect(toolTrace.filter(({ toolName }) => toolName === 'forecast')).toHaveLength(25);
  expect(toolTrace.filter(({ ok }) => !ok)).toHaveLength(1);
  expect(logs.at(-1)?.message).toBe('there is no forecast for Atlantis');
});

test('the examples compile under --strict against what codemode types prints', async () => {
  const { stdout } = await home.run(['types'], { cwd: EXAMPLES });
  const declarations = home.write('codemode.d.ts', `${stdout}\ndeclare var __codemode_result__: unknown;\n`);
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.ES2022,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
  };
  const files = [declarations, ...PROGRAMS.map((file) => join(EXAMPLES, file))];
  const found = ts.getPreEmitDiagnostics(ts.createProgram(files, options));
  expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});

test('the demo shows program, result, log, calls, savings, isolation and how to connect a client', async () => {
  const { status, stdout, stderr } = await home.run(['demo']);
  // Nothing but how long it takes, on a slow machine.
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: expect.stringMatching(/^(codemode: starting .* so far\n)*$/),
  });
  expect(stdout).toContain(readFileSync(join(EXAMPLES, 'join.ts'), 'utf8').split('\n')[0]);
  expect(stdout).toMatch(/isolation (strict|namespaces): /);
  for (const words of [
    'log: joined',
    'ok    orders/list_orders',
    'about 1,1',
    'times less',
    `${process.execPath} ${PROGRAM} install cursor`,
  ])
    expect(stdout).toContain(words);
  const json = await home.json<{ read: { toolResultBytes: number; responseBytes: number } }>(['demo', '--json']);
  expect(json).toMatchObject({ isolation: { level: expect.any(String) }, response: { diagnostics: [] } });
  expect(json.read.toolResultBytes).toBeGreaterThan(1000 * json.read.responseBytes);
});

/** Hides bubblewrap from one process by its own mount; only root may. */
const HIDING = [
  'unshare',
  '--mount',
  'sh',
  '-c',
  'for f in /usr/bin/bwrap /bin/bwrap /usr/local/bin/bwrap; do [ -e $f ] && mount --bind /dev/null $f; done; exec "$@"',
  'sh',
];

test('where bubblewrap is missing the demo runs at level namespaces and says so', canHide(), async () => {
  const json = await home.json<{ isolation: { level: string }; response: Response }>(['demo', '--json'], {
    through: HIDING,
  });
  expect(json.isolation.level).toBe('namespaces');
  expect(json.response.diagnostics).toEqual([]);
});

function canHide() {
  try {
    execFileSync(HIDING[0] as string, [...HIDING.slice(1), 'true'], { stdio: 'ignore' });
    return {};
  } catch {
    return skipped('hiding bubblewrap from one process needs root and the right to mount');
  }
}

test('the requests in the guide to REST are answered as it says', needs('curl'), async () => {
  const guide = readFileSync(join(EXAMPLES, '..', 'docs', 'guides', 'rest.md'), 'utf8');
  const blocks = [...guide.matchAll(/<!-- runs -->\n```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  using empty = openHome({});
  const served = { ...empty, configFile: join(EXAMPLES, 'codemode.config.yaml') };
  await using server = await startServe(served, '--profile', 'unified');
  const outputs = blocks.flatMap((block) => {
    const script = block.replaceAll('localhost:3000', server.url.replace('http://', ''));
    const options = { env: { PATH: process.env.PATH, TOKEN: server.token }, encoding: 'utf8' } as const;
    // One answer after the other, each on lines of its own.
    return execFileSync('sh', ['-ec', script.replace(/^curl -s/gm, "curl -fsSw '\\n'")], options)
      .trim()
      .split('\n');
  });
  const [executed, tools, runs, document, ready] = outputs.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(executed).toMatchObject({ success: true, result: 24, metrics: { apiCalls: 1 }, logs: [] });
  expect(Object.keys(tools ?? {})).toEqual(['namespaces']);
  expect(runs).toMatchObject({ runs: [{ state: 'succeeded', profile: 'unified' }] });
  expect(document).toMatchObject({ openapi: '3.1.0' });
  expect(ready).toBeDefined();
});
