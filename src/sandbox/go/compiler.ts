import { createHash } from 'node:crypto';
import { HostError } from '../../domain/errors.js';
import type { PackageProgress } from '../../domain/process-program.js';
import type { Failure } from '../../domain/run.js';
import { makeFolderSync } from '../../lib/files/make-folder.js';
import type { Jail, JailedFolder, JailedProgram } from '../jail/jail.js';
import { type BuildResult, runBuild } from './build-process.js';
import { commonPackages } from './common-packages.js';
import { GoPackages, packagesAsked } from './packages.js';
import { prunePackages } from './packages-pruning.js';
import { GO_ENVIRONMENT, type GoToolchain } from './toolchain.js';

export interface GoCompilerOptions {
  readonly jail: Jail;
  readonly toolchain: GoToolchain;
  /** The build of the worker, and the folder of its Go sources. */
  readonly build: string;
  readonly sources: string;
  readonly sourcesDigest: string;
  /** The folder of compiled packages: readable by the users that jails run as, writable by the host alone. */
  readonly folder: string;
  /** Aborts everything in progress. */
  readonly closing: AbortSignal;
}

const MEGABYTE = 1024 * 1024;
const WARM_TIMEOUT_MS = 15 * 60_000;
const COMPILE_TIMEOUT_MS = 60_000;
/** The whole standard library is 120 MB in Go 1.26. */
const MAX_WARM_BYTES = 1024 * MEGABYTE;
const MAX_PROGRAM_BYTES = 32 * MEGABYTE;
const WARM_DISK_BYTES = 4096 * MEGABYTE;
const COMPILE_DISK_BYTES = 256 * MEGABYTE;
/** Per process. `compile` takes 60 MB for an ordinary program, and only one runs at a time. */
const COMPILE_MEMORY_BYTES = 1536 * MEGABYTE;
const CPU_SECONDS = 1_800;
const GO_INSIDE = '/codemode/go-command';
const SOURCES_INSIDE = '/codemode/go';
const PACKAGES_INSIDE = '/codemode/packages';

/** Packages of the rest of the standard library that are compiled at once: few enough to report progress. */
const PACKAGES_AT_ONCE = 16;

/**
 * Compiles agents' code. Each compilation runs in its own jail, with the packages mounted read-only, and returns the program
 * through its channel. Whatever one caller's code does to the compiler, another caller's compilation never sees it.
 */
export class GoCompiler {
  readonly #options: GoCompilerOptions;
  readonly #packages: GoPackages;
  #warming: Promise<void> | undefined;
  /** Programs that need the same packages wait for the same compilation. */
  readonly #adding = new Map<string, Promise<void>>();

  constructor(options: GoCompilerOptions) {
    this.#options = options;
    const { toolchain, build, sourcesDigest } = options;
    this.#packages = new GoPackages(options.folder, toolchain, sourcesDigest);
    this.identity = createHash('sha256').update(`${this.#packages.identity}\0${build}`).digest('hex');
  }

  /** The digest of toolchain and worker. Programs of one identity are useless to another. */
  readonly identity: string;

  /** The binary that becomes the program, in its jail. It exists once the compiler is warm. */
  get starterPath(): string {
    return this.#packages.starter;
  }

  progress(): PackageProgress {
    return this.#packages.progress();
  }

  /** Compiles the common packages, unless an earlier host has done so. */
  warm(): Promise<void> {
    // The cache may have been cleared since.
    if (!this.#packages.isBegun) this.#warming = undefined;
    this.#warming ??= this.#warm().catch((error) => {
      this.#warming = undefined;
      throw error;
    });
    return this.#warming;
  }

  /** Compiles the whole standard library, a few packages at a time, so that a program that needs one of them waits only briefly. */
  async warmEverything(onProgress: (progress: PackageProgress) => void = () => {}): Promise<void> {
    await this.warm();
    const tried = new Set<string>();
    for (;;) {
      const missing = this.#packages.standard().filter((path) => !this.#packages.has(path) && !tried.has(path));
      if (missing.length === 0) return;
      const next = missing.slice(0, PACKAGES_AT_ONCE);
      for (const path of next) tried.add(path);
      await this.#add(next);
      onProgress(this.progress());
    }
  }

  /** The program, or the compiler's errors about the code. `tools` is the file that declares the tools. */
  async compile(source: string, tools: string): Promise<Buffer | Failure> {
    await this.warm();
    this.#packages.markUsed();
    let result = await this.#build(source, tools);
    if (result.failure?.name === 'PackageNotCompiled') {
      await this.#add(packagesAsked(result.failure.message, this.#packages.standard()));
      result = await this.#build(source, tools);
    }
    if (result.failure !== undefined) return result.failure;
    const program = result.files.get('program');
    if (program === undefined) throw new HostError('worker_lost', 'the Go compiler produced no program');
    return program;
  }

  async #warm(): Promise<void> {
    const { folder } = this.#options;
    makeFolderSync(folder, 0o755);
    prunePackages(folder, { own: this.#packages.folder });
    const common = commonPackages(this.#options.toolchain.version);
    if (!this.#packages.isBegun) await this.#compilePackages(common);
    else await this.#add(common);
    this.#packages.markUsed();
  }

  /** Compiles packages that are missing, with their imports; others are left unchanged. */
  async #add(paths: readonly string[]): Promise<void> {
    const missing = paths.filter((path) => !this.#packages.has(path)).sort();
    if (missing.length === 0) return;
    const key = missing.join(' ');
    const adding = this.#adding.get(key) ?? this.#compilePackages(missing).finally(() => this.#adding.delete(key));
    this.#adding.set(key, adding);
    await adding;
  }

  async #compilePackages(paths: readonly string[]): Promise<void> {
    const { jail, build, toolchain, sources, closing } = this.#options;
    const packages = this.#packages;
    const isFirst = !packages.isBegun;
    const isPlain = jail.level === 'none';
    const sourcesInside = isPlain ? sources : SOURCES_INSIDE;
    const known = isFirst ? '' : isPlain ? packages.folder : PACKAGES_INSIDE;
    const { files, failure } = await runBuild({
      jail,
      build,
      order: { source: '', files: [] },
      timeoutMs: WARM_TIMEOUT_MS,
      maxBytes: MAX_WARM_BYTES,
      signal: closing,
      describe: (workspace) => ({
        ...this.#jailed(workspace, WARM_DISK_BYTES),
        interpreterPath: isFirst ? toolchain.path : packages.builder,
        interpreterArguments: [
          ...(isFirst ? ['run', 'codemode/builder'] : []),
          ...['warm', build, workspace, GO_INSIDE, known, ...paths],
        ],
        // Under its own name, so that its shared libraries are mounted too: the builder has none.
        files: [{ from: toolchain.path, to: GO_INSIDE }],
        folders: [
          ...toolchain.folders,
          readOnly(sources, sourcesInside),
          ...(isFirst ? [] : [readOnly(packages.folder, PACKAGES_INSIDE)]),
        ],
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
    packages.store(files);
  }

  #build(source: string, tools: string): Promise<BuildResult> {
    const { jail, build, toolchain, closing } = this.#options;
    const packages = jail.level === 'none' ? this.#packages.folder : PACKAGES_INSIDE;
    return runBuild({
      jail,
      build,
      order: { source, files: [['tools.go', tools]] },
      timeoutMs: COMPILE_TIMEOUT_MS,
      maxBytes: MAX_PROGRAM_BYTES,
      signal: closing,
      describe: (workspace) => ({
        ...this.#jailed(workspace, COMPILE_DISK_BYTES),
        interpreterPath: this.#packages.builder,
        interpreterArguments: ['compile', build, workspace, toolchain.tools, packages],
        folders: [readOnly(toolchain.tools, toolchain.tools), readOnly(this.#packages.folder, packages)],
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
