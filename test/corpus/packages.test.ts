import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serverModules, snakeCaseNames } from '../../src/catalog/package-names.js';
import { packagesFor } from '../../src/catalog/packages/packages.js';
import type { CatalogSnapshot } from '../../src/catalog/snapshot.js';
import type { JsonObject } from '../../src/domain/json.js';
import { corpusSnapshot } from '../support/catalog.js';
import { ofCorpus } from '../support/corpus.js';
import { type Call, isTaken, validCalls } from '../support/corpus-calls.js';
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

  test('the check before a Python program starts stops wrong calls and no right one', needs('python3'), () => {
    const modules = serverModules(snapshot.servers.map((server) => server.id));
    const programs = snapshot.servers.flatMap(({ id, tools }) => {
      const module = modules.get(id) as string;
      return validCalls(
        module,
        tools.map(({ tool }) => tool),
        snakeCaseNames,
      ).flatMap((call, index, all) => (all[index - 1]?.tool === call.tool ? [] : pythonPrograms(call)));
    });
    const files = join(folder, 'programs.json');
    writeFileSync(files, JSON.stringify(programs.map(({ text }) => text)));
    const worker = join(import.meta.dirname, '../../src/worker/python');
    const answer = execFileSync('/usr/bin/python3', ['-c', CHECK_ALL, worker, files], {
      cwd: folder,
      maxBuffer: 2 ** 26,
    }).toString();
    const said = JSON.parse(answer) as (string | null)[];
    const stopped = programs.map((program, index) => ({ ...program, said: said[index] }));
    const alarms = stopped.filter((each) => each.mistake === undefined && each.said !== null);
    expect(alarms.slice(0, 5)).toEqual([]);
    expect(stopped.filter(({ mistake }) => mistake === undefined).length).toBeGreaterThan(1_000);
    const mistakes = stopped.filter(({ mistake }) => mistake !== undefined);
    const missed = mistakes.filter((each) => each.said === null);
    const share = 1 - missed.length / mistakes.length;
    expect(share, JSON.stringify(missed.slice(0, 5), null, 1)).toBeGreaterThanOrEqual(0.95);
  });
});

interface PythonProgram {
  readonly text: string;
  /** Absent where it is right. */
  readonly mistake?: string;
}

/** One call in the ways in which agents write it, and with a mistake that the broker or Python would refuse. */
function pythonPrograms({ server, name, tool, input }: Call): PythonProgram[] {
  const head = `from servers.${server} import ${name}\nimport servers.${server} as module\n`;
  const value = (each: unknown) => `loads(${JSON.stringify(JSON.stringify(each))})`;
  const entries = Object.entries(input);
  const dict = (given: readonly (readonly [string, unknown])[]) =>
    `{${given.map(([key, each]) => `${JSON.stringify(key)}: ${value(each)}`).join(', ')}}`;
  const right = [
    `await ${name}(${dict(entries)})`,
    `await module.${name}(${value(input)})`,
    `await ${name}(**${dict(entries)})`,
    `rows = [${name}(${dict(entries)}) for n in range(2)]`,
  ];
  const isNamed = entries.every(([key]) => /^[a-z]\w*$/.test(key) && !KEYWORDS.has(key));
  if (isNamed) right.push(`await ${name}(${entries.map(([key, each]) => `${key}=${value(each)}`).join(', ')})`);
  const wrong: PythonProgram[] = [
    { mistake: 'wrong tool', text: `await module.${name}_x(${dict(entries)})` },
    { mistake: 'wrong import', text: `from servers.${server} import ${name}_y\nawait ${name}_y()` },
  ];
  for (const [key, each] of entries.slice(0, 3)) {
    const without = entries.filter(([other]) => other !== key);
    const add = (mistake: string, given: readonly (readonly [string, unknown])[]) => {
      if (!isTaken({ tool, name }, Object.fromEntries(given) as JsonObject))
        wrong.push({ mistake, text: `await ${name}(${dict(given)})` });
    };
    add('missing', without);
    add('misspelt', [...without, [`${key}x`, each]]);
  }
  return [...right.map((text) => ({ text })), ...wrong].map((each) => ({ ...each, text: `${head}${each.text}\n` }));
}

const KEYWORDS = new Set([
  'from',
  'import',
  'class',
  'in',
  'is',
  'not',
  'and',
  'or',
  'with',
  'as',
  'global',
  'arguments',
]);

const CHECK_ALL = `
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import check_calls
files = [[str(path), path.read_text("utf-8")] for path in pathlib.Path("servers").rglob("__init__.py")]
problems = [check_calls.problem_in(text, files) for text in json.load(open(sys.argv[2], encoding="utf-8"))]
print(json.dumps([each and each["message"] for each in problems]))
`;

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
