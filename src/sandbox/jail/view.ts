import { posix } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { type JailedFile, type JailedFolder, type JailedProgram, type JailedWorkspace, WORKSPACE } from './jail.js';
import type { Linkage } from './libraries.js';
import type { JailRuntime } from './seccomp-lists.js';

/** Everything that exists inside a jail, and the command that is run there. */
export interface JailView {
  readonly mounts: readonly JailedFile[];
  readonly folders: readonly JailedFolder[];
  readonly workspace: JailedWorkspace | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

export interface FileReader {
  /** A path of the file that the uid of the jail can mount. */
  readable(path: string): string;
  linkage(path: string, loaderForLibraries?: string, addons?: readonly string[]): Linkage;
  isElf(path: string): boolean;
}

const NODE_INSIDE = '/bin/node';
/** CPython searches its standard library relative to this path: `../lib/python3.x`. */
const PYTHON_INSIDE = '/usr/bin/python3';
const GO_PROGRAM_INSIDE = '/bin/program';
const GO_BUILDER_INSIDE = '/bin/builder';
const INTERPRETERS_INSIDE: Record<JailRuntime, string> = {
  quickjs: NODE_INSIDE,
  v8: NODE_INSIDE,
  escape: NODE_INSIDE,
  node: NODE_INSIDE,
  python: PYTHON_INSIDE,
  go: GO_PROGRAM_INSIDE,
  'go-build': GO_BUILDER_INSIDE,
};
const LIBRARY_FOLDER = '/lib';
const SETUP_FOLDER = '/setup';

/**
 * The whole environment inside. All libraries are in one folder, so that no cache and no /etc is needed to find them. io_uring
 * would be a second way into the kernel, past the filter.
 */
const ENVIRONMENT_INSIDE = { LD_LIBRARY_PATH: LIBRARY_FOLDER, UV_USE_IO_URING: '0' } as const;

/** The interpreter, the shared libraries it needs, and the given files: nothing else of the machine. */
export function viewOf(program: JailedProgram, reader: FileReader): JailView {
  const mounts = new Map<string, string>();
  const add = (from: string, to: string): void => {
    mounts.set(to, reader.readable(from));
  };
  const inside = INTERPRETERS_INSIDE[program.runtime];
  const { folders = [], workspace, environment = {} } = program;
  const addons = folders.flatMap((folder) => folder.addons);
  const interpreter = reader.linkage(program.interpreterPath, undefined, addons);
  const addLibraries = (linkage: Linkage): void => {
    for (const { name, path } of linkage.libraries) add(path, `${LIBRARY_FOLDER}/${name}`);
  };
  add(program.interpreterPath, inside);
  addLibraries(interpreter);
  for (const file of program.files) {
    checkTarget(file.to);
    add(file.from, file.to);
    if (!reader.isElf(file.from)) continue;
    const linkage = reader.linkage(file.from, interpreter.loader);
    addLibraries(linkage);
    // A dynamic program that a static one starts.
    if (linkage.loader !== undefined) add(linkage.loader, linkage.loader);
  }
  for (const { to } of folders) checkTarget(to);
  if (interpreter.loader !== undefined) add(interpreter.loader, interpreter.loader);
  return {
    mounts: toFiles(mounts),
    folders,
    workspace,
    environment: { ...ENVIRONMENT_INSIDE, ...environment },
    command: [inside, ...program.interpreterArguments],
  };
}

/**
 * A view in which a tool of the machine runs first, then `program`. The tool stays in the jail but is useless to an attacker: any
 * code in the worker could make the same system calls.
 */
export function viewThrough(
  tool: string,
  toolArguments: readonly string[],
  program: JailView,
  reader: FileReader,
): JailView {
  const inside = `${SETUP_FOLDER}/${posix.basename(tool)}`;
  const { loader, libraries } = reader.linkage(tool);
  const mounts = new Map([[inside, reader.readable(tool)]]);
  for (const { name, path } of libraries) mounts.set(`${SETUP_FOLDER}/${name}`, reader.readable(path));
  // Its loader is called explicitly: the tool may use another C library than Node.
  const start = loader === undefined ? [inside] : [`${SETUP_FOLDER}/loader`, '--library-path', SETUP_FOLDER, inside];
  if (loader !== undefined) mounts.set(`${SETUP_FOLDER}/loader`, reader.readable(loader));
  return {
    ...program,
    mounts: [...program.mounts, ...toFiles(mounts)],
    command: [...start, ...toolArguments, '--', ...program.command],
  };
}

function toFiles(mounts: ReadonlyMap<string, string>): JailedFile[] {
  return [...mounts].map(([to, from]) => ({ from, to }));
}

function checkTarget(path: string): void {
  const isPlain = path.startsWith('/') && posix.normalize(path) === path && !path.endsWith('/');
  const isTaken = [LIBRARY_FOLDER, SETUP_FOLDER, ...Object.values(INTERPRETERS_INSIDE), WORKSPACE].some(
    (ours) => path === ours || path.startsWith(`${ours}/`),
  );
  if (!isPlain || isTaken) throw new HostError('internal', `${path} cannot be the path of a file in the jail`);
}
