import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadRuntimeFiles } from '../../src/sandbox/runtime-files.js';

/**
 * What gets into a jail. Import rules are kept by the linter; this looks at what was really bundled. A red line here
 * means: a worker holds more than before; may it?
 */
const FOLDER = new URL('../../dist/worker/', import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('manifest.json', FOLDER), 'utf8')) as {
  readonly files: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Record<string, readonly string[]>>;
};

const OURS = /^src\/(worker|wire|domain|lib)\//;
/** The host's side of the wire, with its validator, stays out. */
const HOST_ONLY = ['src/wire/parse.ts'];
const PACKAGES = /^node_modules\/(@jridgewell\/[a-z-]+)\//;

describe('worker.js', () => {
  const inputs = manifest.inputs['worker.js'] ?? [];

  test('is made of our code for workers, and of nothing of the host', () => {
    const foreign = inputs.filter((input) => !OURS.test(input) && !PACKAGES.test(input));
    expect(foreign).toEqual([]);
    expect(inputs.filter((input) => HOST_ONLY.includes(input) || /\.test(-support)?\.ts$/.test(input))).toEqual([]);
    expect(inputs).toContain('src/worker/main.ts');
  });

  test('imports a handful of modules of Node, and asks for nothing else at run time', () => {
    const text = readFileSync(new URL('worker.js', FOLDER), 'utf8');
    const imported = [...text.matchAll(/^import .*? from "([^"]+)";$/gm)].map(([, specifier]) => specifier);
    // `node:module` loads the parser's native part, from the one path that the host mounts it at.
    expect([...new Set(imported)].sort()).toEqual(['node:fs', 'node:module', 'node:path', 'node:url', 'node:zlib']);
    expect(text).not.toMatch(/\bimport\(|child_process|node:net|node:http/);
  });
});

test('the worker holds three packages of others', () => {
  const packages = new Set((manifest.inputs['worker.js'] ?? []).flatMap((input) => PACKAGES.exec(input)?.[1] ?? []));
  expect([...packages].sort()).toEqual([
    '@jridgewell/resolve-uri',
    '@jridgewell/sourcemap-codec',
    '@jridgewell/trace-mapping',
  ]);
});

test('returns.cjs is four files of ours and its parser, and loads nothing at run time', () => {
  expect(manifest.inputs['returns.cjs']).toEqual([
    'node_modules/acorn/dist/acorn.mjs',
    'src/worker/transpiler/catch-clauses.ts',
    'src/worker/transpiler/comparisons.ts',
    'src/worker/transpiler/second-parser.ts',
    'src/worker/transpiler/top-level-returns.ts',
  ]);
  expect(readFileSync(new URL('returns.cjs', FOLDER), 'utf8').includes('require(')).toBe(false);
});

test('the image is made of the guest’s own code', () => {
  const inputs = manifest.inputs['guest'] ?? [];
  expect(inputs.filter((input) => !/^src\/(worker\/quickjs\/guest|domain|lib)\//.test(input))).toEqual([]);
});

test('jails are given these files and no others: ours, and the native part of the parser', () => {
  expect(Object.keys(manifest.files).sort()).toEqual([
    // Sources: compiled in a jail by the Go of the user's machine.
    ...['build', 'cache', 'imports', 'main', 'prepare', 'warm'].map((name) => `go/builder/${name}.go`),
    ...[
      'client.go',
      'deadline.go',
      'encode.go',
      'frames/frames.go',
      'go.mod',
      'go.work',
      'main.go',
      'open.go',
      'starter/main.go',
      'text.go',
      'values.go',
    ].map((name) => `go/${name}`),
    'image.bin',
    'intrinsics.json',
    'node-program.js',
    'package.json',
    'python/check_calls.py',
    'python/codemode_client.py',
    'python/failures.py',
    'python/frames.py',
    'python/main.py',
    'python/text_data.py',
    'quickjs.wasm',
    'returns.cjs',
    'v8-boot.js',
    'v8-main.cjs',
    'v8-worker.js',
    'worker.js',
  ]);
  const { mounts } = loadRuntimeFiles(fileURLToPath(FOLDER));
  expect(mounts.quickjs.map(({ to }) => to)).toEqual([
    '/codemode/worker.js',
    '/codemode/returns.cjs',
    '/codemode/quickjs.wasm',
    '/codemode/image.bin',
    '/codemode/package.json',
    '/codemode/transform.node',
  ]);
  expect(mounts.quickjs.at(-1)?.from).toMatch(
    /node_modules\/@oxc-transform\/binding-linux-[a-z0-9-]+\/transform\.[a-z0-9-]+\.node$/,
  );
});

test('a jail for a program on a real interpreter is given our few files for it, and no others', () => {
  const { mounts } = loadRuntimeFiles(fileURLToPath(FOLDER));
  expect(mounts.node.map(({ to }) => to)).toEqual([
    '/codemode/node-program.js',
    '/codemode/package.json',
    '/codemode/transform.node',
  ]);
  expect(mounts.python.map(({ to }) => to)).toEqual([
    '/codemode/python/main.py',
    '/codemode/python/check_calls.py',
    '/codemode/python/codemode_client.py',
    '/codemode/python/failures.py',
    '/codemode/python/frames.py',
    '/codemode/python/text_data.py',
  ]);
  const inputs = manifest.inputs['node-program.js'] ?? [];
  expect(inputs.filter((input) => !OURS.test(input) || HOST_ONLY.includes(input))).toEqual([]);
  expect(inputs).toContain('src/worker/node/main.ts');
});

test('no path of the machine that built it is in what is published', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  for (const name of [...Object.keys(manifest.files), 'manifest.json'])
    expect(readFileSync(new URL(name, FOLDER)).includes(root), name).toBe(false);
});
