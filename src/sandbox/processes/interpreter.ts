import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ProcessLanguage } from '../../domain/process-program.js';
import type { JailedFolder } from '../jail/jail.js';
import { isReadableByEveryone } from '../jail/staging.js';
import { askInterpreter } from './ask-interpreter.js';

/** A real interpreter on this machine, and the files that a jail needs to run it. */
export interface Interpreter {
  readonly language: ProcessLanguage;
  readonly path: string;
  readonly version: string;
  readonly folders: readonly JailedFolder[];
}

/** Why a language is unavailable, and the command that installs it. */
export interface MissingInterpreter {
  readonly language: ProcessLanguage;
  readonly reason: string;
  readonly fix: string;
}

export interface InterpreterSearch {
  /** An interpreter that the configuration names. If set, nothing else is tried. */
  readonly configuredPath?: string | undefined;
  /** Folders to search, in the format of PATH. */
  readonly searchPath: string;
}

const OLDEST_NODE = [20, 19] as const;
const OLDEST_PYTHON = [3, 11] as const;

/** The host's own Node, or the configured one. */
export async function findNode({
  configuredPath,
}: Pick<InterpreterSearch, 'configuredPath'>): Promise<Interpreter | MissingInterpreter> {
  const path = configuredPath ?? process.execPath;
  const missing = (reason: string): MissingInterpreter => ({
    language: 'node',
    reason,
    fix: `Name a Node of at least ${OLDEST_NODE.join('.')} in the configuration, or leave the setting out.`,
  });
  const version = path === process.execPath ? process.versions.node : await askInterpreter(path, NODE_QUESTION);
  if (version === undefined) return missing(`${path} is not a working Node`);
  if (!isAtLeast(version, OLDEST_NODE)) return missing(`${path} is Node ${version}: too old`);
  return { language: 'node', path: realpathSync(path), version, folders: [] };
}

const NODE_QUESTION = ['-p', 'process.versions.node'];

/**
 * The first Python on the PATH that is new enough and whose files can be mounted into a jail. The command may be the script
 * of a version manager, so the interpreter itself reports its path.
 */
export async function findPython(search: InterpreterSearch): Promise<Interpreter | MissingInterpreter> {
  const candidates = search.configuredPath === undefined ? pythonsOf(search.searchPath) : [search.configuredPath];
  const reasons: string[] = [];
  for (const candidate of candidates) {
    const found = await inspectPython(candidate);
    if (typeof found !== 'string') return found;
    if (!reasons.includes(found)) reasons.push(found);
  }
  const reason = reasons.length === 0 ? 'python3 is not on the PATH' : reasons.join('; ');
  return { language: 'python', reason, fix: PYTHON_FIX };
}

const PYTHON_FIX = `Install Python ${OLDEST_PYTHON.join('.')} or newer for all users (Debian, Ubuntu: apt-get install -y python3).`;

/** The limit of candidates: each is started once. */
const MAX_CANDIDATES = 12;
const PYTHON_NAMES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python'];

function pythonsOf(searchPath: string): string[] {
  const folders = searchPath.split(':').filter((folder) => folder.startsWith('/'));
  const paths = PYTHON_NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.filter((path) => existsSync(path)).slice(0, MAX_CANDIDATES);
}

/** Isolated and without `site`: the query runs none of the user's code. */
const PYTHON_QUESTION = [
  '-I',
  '-S',
  '-c',
  `import json, os, sys, sysconfig
paths = sysconfig.get_paths()
print(json.dumps([".".join(map(str, sys.version_info[:3])), sys.implementation.name, os.path.realpath(sys.executable),
  sys.base_prefix, paths["stdlib"], paths["platstdlib"]]))`,
];

async function inspectPython(candidate: string): Promise<Interpreter | string> {
  const answer = parseAnswer(await askInterpreter(candidate, PYTHON_QUESTION));
  if (answer === undefined) return `${candidate} is not a working Python`;
  const [version, implementation, path, prefix, library, platformLibrary] = answer;
  if (!isAtLeast(version, OLDEST_PYTHON)) return `${candidate} is Python ${version}: too old`;
  if (implementation !== 'cpython') return `${candidate} is ${implementation}, not CPython`;
  const libraries = [...new Set([library, platformLibrary])];
  if (libraries.some((folder) => relative(prefix, folder).startsWith('..')))
    return `${candidate} has its standard library outside ${prefix}`;
  // A folder cannot be copied like a file: a library of two thousand files in /root stays out of reach.
  if (process.getuid?.() === 0 && !libraries.every(isReadableByEveryone))
    return `${candidate} is in a folder that only root can read (${prefix}), and programs do not run as root`;
  const folders = libraries.map((folder) => pythonFolder(folder, `/usr/${relative(prefix, folder)}`));
  if (existsSync(TIME_ZONES)) folders.push({ from: TIME_ZONES, to: TIME_ZONES, hidden: [], addons: [] });
  return { language: 'python', path, version, folders };
}

/** Python has no time zone data of its own. */
const TIME_ZONES = '/usr/share/zoneinfo';

/** Packages that a user installed are not ours to expose, and programs need no library tests. */
const HIDDEN_FOLDERS = ['site-packages', 'dist-packages', 'test'];

function pythonFolder(from: string, to: string): JailedFolder {
  const addons = join(from, 'lib-dynload');
  return {
    from,
    to,
    hidden: HIDDEN_FOLDERS.filter((name) => lstatSync(join(from, name), { throwIfNoEntry: false })?.isDirectory()),
    addons: existsSync(addons)
      ? readdirSync(addons)
          .filter((name) => name.endsWith('.so'))
          .map((name) => join(addons, name))
      : [],
  };
}

type PythonAnswer = [
  version: string,
  implementation: string,
  path: string,
  prefix: string,
  library: string,
  platform: string,
];

function parseAnswer(text: string | undefined): PythonAnswer | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    const isAnswer = Array.isArray(value) && value.length === 6 && value.every((each) => typeof each === 'string');
    return isAnswer ? (value as PythonAnswer) : undefined;
  } catch {
    return undefined;
  }
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [hasMajor = 0, hasMinor = 0] = version.split('.').map(Number);
  return hasMajor > major || (hasMajor === major && hasMinor >= minor);
}
