import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

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

describe.each(['worker.js', 'transpiler.js'])('%s', (name) => {
  const inputs = manifest.inputs[name] ?? [];

  test('is made of our code for workers, and of nothing of the host', () => {
    const foreign = inputs.filter((input) => !OURS.test(input) && !PACKAGES.test(input));
    expect(foreign).toEqual([]);
    expect(inputs.filter((input) => HOST_ONLY.includes(input) || /\.test(-support)?\.ts$/.test(input))).toEqual([]);
    expect(inputs).toContain(name === 'worker.js' ? 'src/worker/main.ts' : 'src/worker/transpiler/main.ts');
  });

  test('imports a handful of modules of Node, and asks for nothing else at run time', () => {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    const imported = [...text.matchAll(/^import .*? from "([^"]+)";$/gm)].map(([, specifier]) => specifier);
    expect([...new Set(imported)].sort()).toEqual(
      name === 'worker.js' ? ['node:fs', 'node:path', 'node:url', 'node:zlib'] : ['node:fs', 'node:module'],
    );
    expect(text).not.toMatch(/\bimport\(|child_process|node:net|node:http/);
  });
});

test('the worker holds two packages of others, the transpiler none', () => {
  const packagesOf = (name: string) => [
    ...new Set((manifest.inputs[name] ?? []).flatMap((input) => PACKAGES.exec(input)?.[1] ?? [])),
  ];
  expect(packagesOf('worker.js').sort()).toEqual([
    '@jridgewell/resolve-uri',
    '@jridgewell/sourcemap-codec',
    '@jridgewell/trace-mapping',
  ]);
  expect(packagesOf('transpiler.js')).toEqual([]);
});

test('the image is made of the guest’s own code', () => {
  const inputs = manifest.inputs['guest'] ?? [];
  expect(inputs.filter((input) => !/^src\/(worker\/quickjs\/guest|domain|lib)\//.test(input))).toEqual([]);
});

test('a jail is given these files and no others', () => {
  expect(Object.keys(manifest.files).sort()).toEqual([
    'image.bin',
    'package.json',
    'quickjs.wasm',
    'transpiler.js',
    'worker.js',
  ]);
});

test('no path of the machine that built it is in what is published', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  for (const name of [...Object.keys(manifest.files), 'manifest.json'])
    expect(readFileSync(new URL(name, FOLDER)).includes(root), name).toBe(false);
});
