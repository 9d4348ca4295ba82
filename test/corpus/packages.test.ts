import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packagesFor } from '../../src/catalog/packages/packages.js';
import type { CatalogSnapshot } from '../../src/catalog/snapshot.js';
import { corpusSnapshot } from '../support/catalog.js';
import { ofCorpus } from '../support/corpus.js';
import { needs } from '../support/needs.js';
import { typeCheckPrograms } from '../support/type-check.js';

describe('packages of the tools of the corpus', () => {
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
    // The client declares five more.
    expect(functions.length).toBe(ofCorpus({ own: 436, reference: 1_312 }) + 5);
  });

  test('the Python compiles, modules and stubs alike [B10, B12]', needs('python3'), () => {
    const count = execFileSync('/usr/bin/python3', ['-W', 'error', '-c', COMPILE_ALL], { cwd: folder }).toString();
    expect(Number(count)).toBe(
      [...packagesFor(snapshot, 'python').keys()].filter((path) => /\.pyi?$/.test(path)).length,
    );
  });

  test('the Python type-checks under strict, and so do right calls but not wrong ones [B10]', needs('mypy'), () => {
    write([['calls.py', `import servers.${SERVER} as maps\n${[...RIGHT, ...WRONG].join('\n')}\n`]]);
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

/** A server with a call that has one required text, one with a list of points, and one with a choice. */
const SERVER = ofCorpus({ own: 'mapmaker', reference: 'google_maps' });
const FIND = ofCorpus({ own: 'locate_address', reference: 'maps_geocode' });
const HEIGHTS = ofCorpus({ own: 'heights(points', reference: 'maps_elevation(locations' });
const ROUTE = ofCorpus({
  own: 'route(start="x", end="y", mode=',
  reference: 'maps_directions(origin="x", destination="y", mode=',
});
const RIGHT = [
  `a = maps.${FIND}({"address": "x"})`,
  `b = maps.${FIND}(arguments={"address": "x"})`,
  `c = maps.${FIND}(address="x")`,
  `d = maps.${HEIGHTS}=[{"latitude": 1, "longitude": 2.5}])`,
  `e = maps.${ROUTE}"${ofCorpus({ own: 'bus', reference: 'transit' })}")`,
];
const WRONG = [
  `f = maps.${FIND}({"adress": "x"})`,
  `g = maps.${FIND}()`,
  `h = maps.${FIND}(address=1)`,
  `i = maps.${HEIGHTS}=[{"latitude": 1}])`,
  `j = maps.${ROUTE}"balloon")`,
];

const COMPILE_ALL = `
import pathlib
files = [path for path in pathlib.Path(".").rglob("*") if path.suffix in (".py", ".pyi") and path.name != "calls.py"]
for path in files:
    compile(path.read_text("utf-8"), str(path), "exec")
print(len(files))
`;
