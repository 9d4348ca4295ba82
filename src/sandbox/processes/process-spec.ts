import type { ProcessLanguage, ProcessLimits, ProcessRole } from '../../domain/process-program.js';
import type { JailedProgram } from '../jail/jail.js';
import type { RuntimeFiles } from '../runtime-files.js';
import type { Interpreter } from './interpreter.js';

/** The properties of a program that must be known before its process is started. */
export interface SharedSpec extends Pick<ProcessLimits, 'maxMemoryBytes' | 'maxProcesses' | 'maxDiskBytes'> {
  readonly language: ProcessRole;
}

/** Processes with equal specs are interchangeable. */
export interface ProcessSpec extends SharedSpec {
  readonly language: ProcessLanguage;
}

export function processSpecOf(language: ProcessLanguage, limits: ProcessLimits): ProcessSpec {
  const { maxMemoryBytes, maxProcesses, maxDiskBytes } = limits;
  return { language, maxMemoryBytes, maxProcesses, maxDiskBytes };
}

export function keyOf({ language, maxMemoryBytes, maxProcesses, maxDiskBytes }: SharedSpec): string {
  return [language, maxMemoryBytes, maxProcesses, maxDiskBytes].join(' ');
}

const MEGABYTE = 1024 * 1024;

/** Memory that each interpreter uses before it runs anything: 10 and 14 MB, with room for future versions. */
export const OWN_MEMORY_BYTES: Record<ProcessRole, number> = {
  node: 48 * MEGABYTE,
  python: 24 * MEGABYTE,
  go: 24 * MEGABYTE,
  'go-build': 24 * MEGABYTE,
};

/**
 * Unused memory that RLIMIT_DATA counts in addition: Node's ten threads reserve a stack each. With less, the kernel refuses V8
 * pages before V8 reaches its own heap limit, and V8 dies without a message.
 */
const RESERVED_BYTES: Record<ProcessLanguage, number> = { node: 144 * MEGABYTE, python: 0 };

/** Of the main thread, and of each thread that a program starts. */
const STACK_BYTES = 8 * MEGABYTE;
const DESCRIPTORS = 256;
/** Far beyond the timeout of any run: the host ends runs by the clock, and this limit ends processes that the host has lost. */
const CPU_SECONDS = 3_600;
/** Each file takes a kilobyte of kernel memory that the size of the workspace does not include. */
const BYTES_PER_FILE = 4_096;
const FEWEST_FILES = 1_024;

/** Files and folders that a workspace may have. */
export function filesOf({ maxDiskBytes }: Pick<ProcessSpec, 'maxDiskBytes'>): number {
  return Math.max(FEWEST_FILES, Math.floor(maxDiskBytes / BYTES_PER_FILE));
}

export function jailedProgram(
  shape: ProcessSpec,
  interpreter: Interpreter,
  files: RuntimeFiles,
  workspace: string,
): JailedProgram {
  const { language, maxMemoryBytes, maxProcesses, maxDiskBytes } = shape;
  return {
    runtime: language,
    interpreterPath: interpreter.path,
    interpreterArguments: [...FLAGS[language](maxMemoryBytes), ...files.arguments[language], workspace],
    files: files.mounts[language],
    folders: interpreter.folders,
    workspace: { bytes: maxDiskBytes, files: filesOf(shape) },
    environment: { HOME: workspace, TMPDIR: `${workspace}/.tmp`, LANG: 'C.UTF-8', ...ENVIRONMENT[language] },
    limits: {
      dataBytes: maxMemoryBytes + OWN_MEMORY_BYTES[language] + RESERVED_BYTES[language],
      stackBytes: STACK_BYTES,
      cpuSeconds: CPU_SECONDS,
      processes: maxProcesses,
      // One page more than the workspace holds, so that a full workspace gives an error before the limit sends a signal.
      fileBytes: maxDiskBytes + 4_096,
      descriptors: DESCRIPTORS,
    },
  };
}

const FLAGS: Record<ProcessLanguage, (maxMemoryBytes: number) => readonly string[]> = {
  // V8 sizes its heap by the machine unless told otherwise. It must give up, with a message, before the kernel refuses it pages.
  node: (bytes) => [`--max-old-space-size=${Math.max(16, Math.floor((0.9 * bytes) / MEGABYTE))}`],
  // No module path of the folder or the user, no `site`, no compiled files written, UTF-8 whatever the locale. Not `-I`, which
  // would ignore the hash seed. The environment contains nothing else.
  python: () => ['-P', '-s', '-S', '-B', '-X', 'utf8'],
};

/** A fixed hash seed, so that sets have the same order in every run and in a replay. Only the program itself fills its tables. */
const ENVIRONMENT: Record<ProcessLanguage, Readonly<Record<string, string>>> = {
  node: {},
  python: { PYTHONHASHSEED: '0' },
};
