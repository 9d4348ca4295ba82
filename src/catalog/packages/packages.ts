import type { ProcessLanguage } from '../../domain/process-program.js';
import { compareCodePoints } from '../names.js';
import { serverModules } from '../package-names.js';
import { allServerIds, type CatalogSnapshot } from '../snapshot.js';
import { NODE_CLIENT_FILES, nodePackage } from './node.js';
import { PYTHON_CLIENT_FILES, pythonPackage } from './python.js';

/**
 * The files in /workspace beside a program: for each server a module with a function per tool, and their types. The same snapshot
 * gives the same map, so nobody may change it.
 */
export function packagesFor(snapshot: CatalogSnapshot, language: ProcessLanguage): ReadonlyMap<string, string> {
  const known = packages.get(snapshot) ?? new Map<ProcessLanguage, ReadonlyMap<string, string>>();
  packages.set(snapshot, known);
  const made = known.get(language) ?? makePackages(snapshot, language);
  known.set(language, made);
  return made;
}

/**
 * The files that a program can use: none of a server that its source does not name. A program that builds names at run time, or
 * lists the files in `servers`, gets everything.
 */
export function packagesNamedIn(source: string, all: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  if (LOOKS_AROUND.test(source)) return all;
  return new Map(
    [...all].filter(([path]) => {
      const module = /^servers\/([^/]+)\//.exec(path)?.[1];
      return module === undefined || source.includes(module);
    }),
  );
}

/** Imports by a computed name, and anything that reads folders. */
const LOOKS_AROUND =
  /\b(?:import|require)\s*\(\s*(?!['"])|import_module|__import__|importlib|pkgutil|readdir|opendir|listdir|scandir|iterdir|glob|walk|(?<!\.)\b(?:exec|eval)\s*\(/;

/** The maximum size for every program. 30 real servers with 1,312 tools take 2.8 (Node) and 3.3 (Python) million characters. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

const packages = new WeakMap<CatalogSnapshot, Map<ProcessLanguage, ReadonlyMap<string, string>>>();

function makePackages(snapshot: CatalogSnapshot, language: ProcessLanguage): ReadonlyMap<string, string> {
  const modules = serverModules(allServerIds(snapshot));
  const [write, files] =
    language === 'node' ? ([nodePackage, NODE_CLIENT_FILES] as const) : ([pythonPackage, PYTHON_CLIENT_FILES] as const);
  const all = new Map(files);
  let left = MAX_CHARACTERS;
  for (const server of [...snapshot.servers].sort((one, other) => compareCodePoints(one.id, other.id))) {
    const module = modules.get(server.id) as string;
    for (const [name, text] of write({ server, isBrief: left <= 0 })) {
      all.set(`servers/${module}/${name}`, text);
      left -= text.length;
    }
  }
  return all;
}
