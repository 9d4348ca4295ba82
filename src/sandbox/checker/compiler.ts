import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonValue } from '../../domain/json.js';

/** A native TypeScript compiler on this machine. */
export interface TypeScriptCompiler {
  readonly version: string;
  /** One statically linked file. */
  readonly binary: string;
  /** The folder of its language declarations: `lib.es2023.d.ts` and so on. */
  readonly libraries: string;
}

/** Why no compiler was found, and the one command to type. */
export interface MissingCompiler {
  readonly reason: string;
  readonly fix: string;
}

export interface CompilerSearch {
  /** The package that the configuration names. If set, nothing else is tried. */
  readonly configured?: string | undefined;
  /** The folder that `codemode check --install` installs into. */
  readonly installFolder: string;
  /** Our own location: a TypeScript installed beside us is found from here. */
  readonly from: string;
}

/** The release whose interface this build was tested with. `codemode check --install` fetches it. */
export const TESTED_VERSION = '7.0.2';
const OLDEST_MAJOR = 7;
const FIX = 'Install it with: codemode check --install';

/** The configured package, else the one that we installed, else one beside us. The current folder is never searched. */
export function findCompiler(search: CompilerSearch): TypeScriptCompiler | MissingCompiler {
  const { configured, installFolder, from } = search;
  if (configured !== undefined) {
    const found = inspect(configured);
    if (typeof found !== 'string') return found;
    return { reason: found, fix: 'Correct check.compiler: the folder of an npm package typescript 7 or newer.' };
  }
  const installed = join(installFolder, 'node_modules', 'typescript');
  const own = existsSync(installed) ? inspect(installed) : 'the type checker is not installed';
  if (typeof own !== 'string') return own;
  // An older TypeScript beside us belongs to another project.
  const beside = packageBeside(from);
  const found = beside === undefined ? undefined : inspect(beside);
  return found === undefined || typeof found === 'string' ? { reason: own, fix: FIX } : found;
}

export function isCompiler(found: TypeScriptCompiler | MissingCompiler): found is TypeScriptCompiler {
  return 'binary' in found;
}

function inspect(folder: string): TypeScriptCompiler | string {
  const manifest = readManifest(join(folder, 'package.json'));
  if (manifest === undefined) return `${folder} is not an npm package`;
  const { version } = manifest;
  const major = typeof version === 'string' ? Number(/^(\d+)\./.exec(version)?.[1] ?? Number.NaN) : Number.NaN;
  if (typeof version !== 'string' || !(major >= OLDEST_MAJOR))
    return `${folder} is TypeScript ${String(version)}, and only ${OLDEST_MAJOR} and newer are fast enough`;
  const platform = `@typescript/typescript-${process.platform}-${process.arch}`;
  try {
    const place = createRequire(join(realpathSync(folder), 'package.json')).resolve(`${platform}/package.json`);
    const libraries = join(dirname(place), 'lib');
    const binary = join(libraries, 'tsc');
    return existsSync(binary) ? { version, binary, libraries } : `${binary} does not exist`;
  } catch {
    return `${platform}, which belongs to ${folder}, is not installed`;
  }
}

function packageBeside(from: string): string | undefined {
  try {
    return dirname(createRequire(from).resolve('typescript/package.json'));
  } catch {
    return undefined;
  }
}

function readManifest(path: string): { readonly [name: string]: JsonValue } | undefined {
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as JsonValue;
    return isJsonObject(manifest) ? manifest : undefined;
  } catch {
    return undefined;
  }
}
