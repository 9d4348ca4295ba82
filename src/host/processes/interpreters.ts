import type { GoStatus, ProcessRuntimeStatus } from '../../domain/process-program.js';
import type { Finding } from '../admin/inspection.js';
import { describePackages } from './warm-go.js';

export interface InterpreterSettings {
  readonly nodePath?: string | undefined;
  readonly pythonPath?: string | undefined;
  /** Where to look for Python, in the format of PATH. */
  readonly searchPath: string;
}

/** The real interpreters of this machine. Starts each of them once, without a jail. */
export async function findInterpreters(settings: InterpreterSettings): Promise<readonly ProcessRuntimeStatus[]> {
  // Loaded on demand: every other command starts without it.
  const { findNode, findPython } = await import('../../sandbox/processes/interpreter.js');
  const { nodePath, pythonPath, searchPath } = settings;
  const found = await Promise.all([
    findNode({ configuredPath: nodePath }),
    findPython({ configuredPath: pythonPath, searchPath }),
  ]);
  return found.map((each) =>
    'reason' in each
      ? { language: each.language, isAvailable: false, reason: each.reason, fix: each.fix }
      : { language: each.language, isAvailable: true, version: each.version, path: each.path },
  );
}

export interface GoPlaces {
  readonly path?: string | undefined;
  readonly searchPath: string;
  /** The folder of compiled packages, and the built worker that they belong to. */
  readonly cacheFolder: string;
  readonly workerFolder: string;
}

/** The Go toolchain of this machine. Runs the command once to get its version, without a jail. */
export async function findGoToolchain({ path, searchPath, cacheFolder, workerFolder }: GoPlaces): Promise<GoStatus> {
  const { findGo } = await import('../../sandbox/go/toolchain.js');
  const found = await findGo({ configuredPath: path, searchPath });
  if ('reason' in found) return { isAvailable: false, reason: found.reason, fix: found.fix };
  const [{ GoPackages }, { loadRuntimeFiles }] = await Promise.all([
    import('../../sandbox/go/packages.js'),
    import('../../sandbox/runtime-files.js'),
  ]);
  const packages = () => new GoPackages(cacheFolder, found, loadRuntimeFiles(workerFolder).goDigest).progress();
  return { isAvailable: true, version: found.version, path: found.path, packages };
}

/** The same for Go. `isServed`: the served contract is `go`, which has no tool without the toolchain. */
export function goFinding(status: GoStatus, isServed: boolean): Finding {
  const name = 'Go for programs';
  if (status.isAvailable)
    return {
      name,
      state: 'ok',
      message: `${status.version} (${status.path}); ${describePackages(status.packages?.())}`,
    };
  const message = `${status.reason}; profile go has no tool without it`;
  return { name, state: isServed ? 'missing' : 'warning', message, fix: status.fix };
}

const NAMES = { node: 'Node for programs', python: 'Python for programs' } as const;

/** The finding about an interpreter. A missing one only affects programs in its language. */
export function interpreterFinding(status: ProcessRuntimeStatus): Finding {
  const name = NAMES[status.language];
  if (status.isAvailable) return { name, state: 'ok', message: `${status.version} (${status.path})` };
  const message = `${status.reason}; codemode runner ${status.language} cannot run`;
  return { name, state: 'warning', message, fix: status.fix };
}
