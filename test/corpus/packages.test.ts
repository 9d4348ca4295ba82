import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packagesFor } from '../../src/catalog/packages/packages.js';
import type { CatalogSnapshot } from '../../src/catalog/snapshot.js';
import { corpusSnapshot } from '../support/catalog.js';
import { needs } from '../support/needs.js';
import { needsShared } from '../support/shared.js';
import { typeCheckPrograms } from '../support/type-check.js';

describe('packages of 1,312 real tools', needsShared('corpus', 'toolsets'), () => {
  let snapshot: CatalogSnapshot;
  let folder = '';
  beforeAll(() => {
    snapshot = corpusSnapshot();
    folder = mkdtempSync(join(tmpdir(), 'codemode-packages-'));
    write(packagesFor(snapshot, 'python'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const write = (files: Iterable<readonly [string, string]>) => {
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  };

  test('the JavaScript has a declaration for each tool, and all compile under strict [B10, B12]', () => {
    const files = packagesFor(snapshot, 'node');
    const declarations = [...files].filter(([path]) => path.endsWith('.d.ts'));
    expect(typeCheckPrograms(new Map(declarations.map(([path, text]) => [`/${path}`, text])))).toEqual([]);
    const functions = declarations.flatMap(([, text]) => text.match(/^export function /gm) ?? []);
    // The client declares four more.
    expect(functions.length).toBe(1_312 + 4);
  });

  test('the Python compiles, modules and stubs alike [B10, B12]', needs('python3'), () => {
    const count = execFileSync('/usr/bin/python3', ['-W', 'error', '-c', COMPILE_ALL], { cwd: folder }).toString();
    expect(Number(count)).toBe(
      [...packagesFor(snapshot, 'python').keys()].filter((path) => /\.pyi?$/.test(path)).length,
    );
  });

  test('the Python type-checks under strict, and so do right calls but not wrong ones [B10]', needs('mypy'), () => {
    write([['calls.py', `import servers.google_maps as maps\n${[...RIGHT, ...WRONG].join('\n')}\n`]]);
    // Older versions have `Unpack` behind this switch; newer ones say that it is not needed.
    const options = ['--strict', '--enable-incomplete-feature=Unpack', '--no-error-summary', '--cache-dir=/dev/null'];
    const { stdout, error } = spawnSync('mypy', [...options, '-p', 'servers', '-m', 'calls'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(error).toBeUndefined();
    const places = stdout.split('\n').flatMap((line) => /^(.+?):(\d+): error:/.exec(line)?.slice(1, 3).join(':') ?? []);
    const wrongLines = WRONG.map((_, index) => `calls.py:${index + 2 + RIGHT.length}`);
    expect([...new Set(places)]).toEqual(wrongLines);
  });
});

const RIGHT = [
  'a = maps.maps_geocode({"address": "x"})',
  'b = maps.maps_geocode(arguments={"address": "x"})',
  'c = maps.maps_geocode(address="x")',
  'd = maps.maps_elevation(locations=[{"latitude": 1, "longitude": 2.5}])',
  'e = maps.maps_directions(origin="x", destination="y", mode="transit")',
];
const WRONG = [
  'f = maps.maps_geocode({"adress": "x"})',
  'g = maps.maps_geocode()',
  'h = maps.maps_geocode(address=1)',
  'i = maps.maps_elevation(locations=[{"latitude": 1}])',
  'j = maps.maps_directions(origin="x", destination="y", mode="balloon")',
];

const COMPILE_ALL = `
import pathlib
files = [path for path in pathlib.Path(".").rglob("*") if path.suffix in (".py", ".pyi") and path.name != "calls.py"]
for path in files:
    compile(path.read_text("utf-8"), str(path), "exec")
print(len(files))
`;
