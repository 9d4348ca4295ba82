import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonValue } from '../../domain/json.js';

/** The files that a program is checked with, besides its own and the language's. Paths are relative: `servers/github.d.ts`. */
export interface CheckedFiles {
  /** Declarations of global names. Read before any other file. */
  readonly globals: string;
  /** The declarations of a module under `@codemode/`, or undefined if there is no such module. The same text until it changes. */
  module(name: string): string | undefined;
}

const FOLDER = '/p';
export const CONFIG_PATH = `${FOLDER}/tsconfig.json`;
export const PROGRAM_PATH = `${FOLDER}/program.ts`;
const GLOBALS_PATH = `${FOLDER}/globals.d.ts`;
const MODULES_FOLDER = `${FOLDER}/modules/`;
const MODULE_FILE = /^\/p\/modules\/(.+)\.d\.ts$/;
/** What a Node program imports as `./servers/shop/index.js` is the module `node/shop`. */
const NODE_FOLDER = `${FOLDER}/servers/`;
const NODE_FILE = /^\/p\/servers\/([\w-]+)\/index\.d\.ts$/;
const LIBRARY_FILE = /\/(lib(?:\.[a-z0-9]+)*\.d\.ts)$/;

const CONFIG = JSON.stringify({
  compilerOptions: {
    // As strict as possible: doubtful findings are sorted out afterwards.
    ...{ strict: true, useUnknownInCatchVariables: false, noEmit: true, skipLibCheck: true, noErrorTruncation: true },
    ...{ target: 'esnext', lib: ['esnext'], types: [], module: 'esnext', moduleResolution: 'bundler' },
    ...{ moduleDetection: 'force', allowUnreachableCode: true, allowUnusedLabels: true },
    paths: { '@codemode/*': ['./modules/*.d.ts'] },
  },
  files: ['program.ts', 'globals.d.ts'],
});

/**
 * The file system that the compiler sees, made of texts. The compiler asks for the files it needs, so only modules that the
 * program imports are ever generated. Of this machine it contains only the declarations of the language.
 */
export class ProjectFiles {
  readonly #libraries: string;
  readonly #known = new Map<string, string | null>();
  /** The module texts that the compiler was given, used to report changes. Null: the module does not exist. */
  readonly #told = new Map<string, string | null>();
  #files: CheckedFiles = { globals: '', module: () => undefined };
  #globalsTold = '';
  #source = '';

  constructor(libraries: string) {
    this.#libraries = libraries;
  }

  /** Returns the paths whose text differs from what the compiler knows. */
  replace(files: CheckedFiles, source: string): string[] {
    this.#files = files;
    this.#source = source;
    const changed = [PROGRAM_PATH];
    if (files.globals !== this.#globalsTold) changed.push(GLOBALS_PATH);
    this.#globalsTold = files.globals;
    for (const [name, text] of this.#told) {
      const now = files.module(name) ?? null;
      if (now === text) continue;
      this.#told.set(name, now);
      changed.push(pathOf(name));
    }
    return changed;
  }

  /** Answers the compiler's file system requests. */
  answer(method: string, params: JsonValue | undefined): JsonValue {
    const path = typeof params === 'string' ? params : '';
    switch (method) {
      case 'readFile':
        return { content: this.#read(path) };
      case 'fileExists':
        return this.#read(path) !== null;
      case 'directoryExists':
        return path === FOLDER || `${path}/`.startsWith(MODULES_FOLDER) || `${path}/`.startsWith(NODE_FOLDER);
      case 'realpath':
        return path;
      default:
        return { files: [], directories: [] };
    }
  }

  #read(path: string): string | null {
    if (path === PROGRAM_PATH) return this.#source;
    if (path === CONFIG_PATH) return CONFIG;
    if (path === GLOBALS_PATH) return this.#globalsTold;
    const name = moduleAt(path);
    if (name !== undefined) {
      const text = this.#files.module(name) ?? null;
      if (this.#told.size < MAX_TOLD) this.#told.set(name, text);
      return text;
    }
    const library = LIBRARY_FILE.exec(path)?.[1];
    return library === undefined ? null : this.#library(library);
  }

  #library(name: string): string | null {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    let text: string | null;
    try {
      text = readFileSync(join(this.#libraries, name), 'utf8');
    } catch {
      text = null;
    }
    this.#known.set(name, text);
    return text;
  }
}

function moduleAt(path: string): string | undefined {
  const ofNode = NODE_FILE.exec(path)?.[1];
  return ofNode === undefined ? MODULE_FILE.exec(path)?.[1] : `node/${ofNode}`;
}

function pathOf(module: string): string {
  return module.startsWith('node/')
    ? `${NODE_FOLDER}${module.slice('node/'.length)}/index.d.ts`
    : `${MODULES_FOLDER}${module}.d.ts`;
}

/** Modules that one process knows. A compiler that asks for more is soon replaced. */
const MAX_TOLD = 10_000;
