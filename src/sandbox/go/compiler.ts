import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HostError } from '../../domain/errors.js';
import type { Failure } from '../../domain/execution.js';
import { makeFolderSync } from '../../lib/make-folder.js';
import type { Jail, JailedFolder, JailedProgram } from '../jail/jail.js';
import { type BuildResult, runBuild } from './build-process.js';
import { GO_ENVIRONMENT, type GoToolchain } from './toolchain.js';

export interface GoCompilerOptions {
  readonly jail: Jail;
  readonly toolchain: GoToolchain;
  /** The build of the worker, and its Go sources. */
  readonly build: string;
  readonly sources: string;
  /** Where compiled packages are kept: readable by the users that jails run as, writable by the host alone. */
  readonly folder: string;
  /** Ends whatever is under way. */
  readonly closing: AbortSignal;
}

const MEGABYTE = 1024 * 1024;
const WARM_TIMEOUT_MS = 15 * 60_000;
const COMPILE_TIMEOUT_MS = 60_000;
/** All of the standard library is 120 MB in Go 1.26. */
const MAX_WARM_BYTES = 1024 * MEGABYTE;
const MAX_PROGRAM_BYTES = 32 * MEGABYTE;
const WARM_DISK_BYTES = 4096 * MEGABYTE;
const COMPILE_DISK_BYTES = 256 * MEGABYTE;
/** Of each process: `compile` takes 60 MB for an ordinary program, and is the only one at a time. */
const COMPILE_MEMORY_BYTES = 1536 * MEGABYTE;
const CPU_SECONDS = 1_800;
const SOURCES_INSIDE = '/codemode/go';
const PACKAGES_INSIDE = '/codemode/packages';

/** Packages that programs use most: compiled before the first one. Any other makes its first user wait. */
// biome-ignore format: a line per subject
const COMMON_PACKAGES = [
  'fmt', 'errors', 'context', 'strings', 'strconv', 'bytes', 'unicode', 'unicode/utf8', 'sort', 'math', 'math/rand',
  'time', 'sync', 'sync/atomic', 'io', 'bufio', 'os', 'log', 'regexp', 'reflect', 'path', 'path/filepath',
  'encoding/json', 'encoding/csv', 'encoding/base64', 'encoding/hex', 'encoding/xml', 'net/url', 'html', 'math/big',
  'crypto/sha256', 'crypto/sha1', 'crypto/md5', 'hash/fnv', 'container/heap', 'container/list', 'text/tabwriter',
  'text/template', 'runtime', 'runtime/debug',
];
const COMMON_IF_THERE = ['slices', 'maps', 'cmp', 'iter'];
/** Since 1.23 all of them are there. */
const ITER_SINCE = 23;

/**
 * Compiles agents' code. Each compilation runs in a jail of its own, with the packages mounted read-only, and hands the
 * program over through its channel: what one caller's code does to the compiler is never seen by another's.
 */
export class GoCompiler {
  readonly #options: GoCompilerOptions;
  readonly #folder: string;
  #warming: Promise<void> | undefined;
  #all: Promise<void> | undefined;

  constructor(options: GoCompilerOptions) {
    this.#options = options;
    const { toolchain, build } = options;
    this.identity = createHash('sha256').update(`${toolchain.version}\0${toolchain.root}\0${build}`).digest('hex');
    this.#folder = join(options.folder, `packages-${this.identity.slice(0, 24)}`);
  }

  /** Of toolchain and worker: programs of one identity are of no use to another. */
  readonly identity: string;

  /** Compiles the common packages, unless an earlier host has done it. */
  warm(): Promise<void> {
    this.#warming ??= this.#warm(this.#common()).catch((error) => {
      this.#warming = undefined;
      throw error;
    });
    return this.#warming;
  }

  /** All of the standard library. */
  warmEverything(): Promise<void> {
    this.#all ??= this.#warm(['std']).catch((error) => {
      this.#all = undefined;
      throw error;
    });
    return this.#all;
  }

  /** The program, or what the compiler says about the code. `tools` is the file that declares the tools. */
  async compile(source: string, tools: string): Promise<Buffer | Failure> {
    await this.warm();
    let result = await this.#build(source, tools);
    if (result.failure?.name === 'PackageNotCompiled') {
      await this.warmEverything();
      result = await this.#build(source, tools);
    }
    if (result.failure !== undefined) return result.failure;
    const program = result.files.get('program');
    if (program === undefined) throw new HostError('worker_lost', 'the Go compiler handed over no program');
    return program;
  }

  #common(): readonly string[] {
    const minor = Number(/^go1\.(\d+)/.exec(this.#options.toolchain.version)?.[1]);
    return minor >= ITER_SINCE ? [...COMMON_PACKAGES, ...COMMON_IF_THERE] : COMMON_PACKAGES;
  }

  async #warm(packages: readonly string[]): Promise<void> {
    // A list's name is in the folder once all of it is.
    const mark = join(this.#folder, packages.includes('std') ? 'all' : 'common');
    if (existsSync(mark)) return;
    const { jail, build, toolchain, sources, folder, closing } = this.#options;
    const sourcesInside = jail.level === 'none' ? sources : SOURCES_INSIDE;
    makeFolderSync(folder, 0o755);
    const { files, failure } = await runBuild({
      jail,
      build,
      order: { source: '', files: [] },
      timeoutMs: WARM_TIMEOUT_MS,
      maxBytes: MAX_WARM_BYTES,
      signal: closing,
      describe: (workspace) => ({
        ...this.#jailed(workspace, WARM_DISK_BYTES),
        interpreterPath: toolchain.path,
        interpreterArguments: ['run', 'codemode/builder', 'warm', build, workspace, toolchain.path, ...packages],
        folders: [...toolchain.folders, readOnly(sources, sourcesInside)],
        environment: {
          ...GO_ENVIRONMENT,
          GOROOT: toolchain.root,
          GOWORK: `${sourcesInside}/go.work`,
          GOCACHE: `${workspace}/cache`,
          GOPATH: `${workspace}/path`,
          GOTMPDIR: `${workspace}/.tmp`,
          HOME: workspace,
          PATH: '',
        },
      }),
    });
    if (failure !== undefined) throw new HostError('worker_lost', `Go could not be prepared: ${failure.message}`);
    this.#store(files, mark);
  }

  /** Beside what is there, each under its name at once: somebody may be compiling with them. */
  #store(files: BuildResult['files'], mark: string): void {
    makeFolderSync(this.#folder, 0o755);
    for (const [name, content] of files) {
      const temporary = join(this.#folder, `.${randomUUID()}`);
      try {
        writeFileSync(temporary, content, { flag: 'wx' });
        chmodSync(temporary, name === 'builder' ? 0o555 : 0o444);
        renameSync(temporary, join(this.#folder, name));
      } finally {
        rmSync(temporary, { force: true });
      }
    }
    writeFileSync(mark, `${readdirSync(this.#folder).length}\n`);
  }

  #build(source: string, tools: string): Promise<BuildResult> {
    const { jail, build, toolchain, closing } = this.#options;
    const packages = jail.level === 'none' ? this.#folder : PACKAGES_INSIDE;
    return runBuild({
      jail,
      build,
      order: { source, files: [['tools.go', tools]] },
      timeoutMs: COMPILE_TIMEOUT_MS,
      maxBytes: MAX_PROGRAM_BYTES,
      signal: closing,
      describe: (workspace) => ({
        ...this.#jailed(workspace, COMPILE_DISK_BYTES),
        interpreterPath: join(this.#folder, 'builder'),
        interpreterArguments: ['compile', build, workspace, toolchain.tools, packages],
        folders: [readOnly(toolchain.tools, toolchain.tools), readOnly(this.#folder, packages)],
      }),
    });
  }

  #jailed(workspace: string, diskBytes: number): Omit<JailedProgram, 'interpreterPath' | 'interpreterArguments'> {
    return {
      runtime: 'go-build',
      files: [],
      workspace: { bytes: diskBytes, files: 20_000 },
      environment: { HOME: workspace },
      limits: {
        dataBytes: COMPILE_MEMORY_BYTES,
        cpuSeconds: CPU_SECONDS,
        processes: 512,
        fileBytes: diskBytes,
        descriptors: 1_024,
      },
    };
  }
}

function readOnly(from: string, to: string): JailedFolder {
  return { from, to, hidden: [], addons: [] };
}
