import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { declareGo, GO_HELPERS, goFile, selectDeclarations } from '../../src/catalog/declarations/go/go.js';
import { DEFAULT_PROCESS_LIMITS, type ProcessHandlers, type ProcessLimits } from '../../src/domain/process-program.js';
import type { CallerId, GuestCall } from '../../src/domain/run.js';
import type { Tool } from '../../src/domain/tool.js';
import { commonPackages } from '../../src/sandbox/go/common-packages.js';
import { type GoReport, GoRuntime, type GoRuntimeOptions } from '../../src/sandbox/go/go-runtime.js';
import { GoPackages } from '../../src/sandbox/go/packages.js';
import { findGo, type GoToolchain } from '../../src/sandbox/go/toolchain.js';
import { loadRuntimeFiles } from '../../src/sandbox/runtime-files.js';
import { SHARED_CACHE } from './go.js';
import { answer, CALLER, type HostFunction, testJail, WORKER_FOLDER } from './sandbox.js';

export interface TestGo extends AsyncDisposable {
  readonly runtime: GoRuntime;
  readonly calls: GuestCall[];
  run(source: string, options?: GoRunOptions): Promise<GoReport>;
}

export interface GoRunOptions {
  readonly caller?: string;
  readonly tools?: readonly Tool[];
  /** By their names: tools of the server `test`. */
  readonly functions?: Readonly<Record<string, HostFunction>>;
  readonly limits?: Partial<ProcessLimits>;
  readonly handlers?: Partial<ProcessHandlers>;
}

/** A cache that no other test has. The jail's own users have to be able to read it. */
export function freshCacheFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-go-cache-'));
  chmodSync(folder, 0o755);
  return folder;
}

/** A cache that no other test has, with the common packages: copied, because compiling them takes up to a minute. */
export async function filledCacheFolder(root: string): Promise<string> {
  await using shared = await openGo(root);
  await shared.runtime.warm();
  const folder = freshCacheFolder();
  execFileSync('cp', ['--archive', (await packagesOf(root, SHARED_CACHE)).folder, folder]);
  return folder;
}

/** A cache that looks to a host as if the common packages were compiled. */
export async function hollowCacheFolder(root: string): Promise<string> {
  const cacheFolder = freshCacheFolder();
  const packages = await packagesOf(root, cacheFolder);
  const archives = ['codemode', ...commonPackages((await toolchainOf(root)).version)];
  const names = ['builder', 'starter', 'standard', ...archives.map((path) => `${path.replaceAll('/', '~')}.a`)];
  packages.store(new Map(names.map((name) => [name, Buffer.alloc(0)])));
  return cacheFolder;
}

/** Gives what was compiled to the other tests, unless they have it. */
export async function shareCache(root: string, cacheFolder: string): Promise<void> {
  const { folder } = await packagesOf(root, SHARED_CACHE);
  if (existsSync(folder)) return;
  mkdirSync(SHARED_CACHE, { recursive: true, mode: 0o755 });
  const draft = mkdtempSync(`${folder}-`);
  execFileSync('cp', ['--archive', `${(await packagesOf(root, cacheFolder)).folder}/.`, draft]);
  try {
    renameSync(draft, folder);
  } catch {
    rmSync(draft, { recursive: true }); // another test has compiled them meanwhile
  }
}

async function packagesOf(root: string, cacheFolder: string): Promise<GoPackages> {
  return new GoPackages(cacheFolder, await toolchainOf(root), loadRuntimeFiles(WORKER_FOLDER).goDigest);
}

async function toolchainOf(root: string): Promise<GoToolchain> {
  const toolchain = await findGo({ configuredPath: join(root, 'bin/go'), searchPath: '' });
  if ('reason' in toolchain) throw new Error(toolchain.reason);
  return toolchain;
}

/** Go in the best jail this machine gives, with tool calls answered by functions of the test. */
export async function openGo(root: string, options: Partial<GoRuntimeOptions> = {}): Promise<TestGo> {
  const runtime = await GoRuntime.open({
    jail: await testJail(),
    workerFolder: WORKER_FOLDER,
    cacheFolder: SHARED_CACHE,
    configuredPath: join(root, 'bin/go'),
    searchPath: '',
    ...options,
  });
  const calls: GuestCall[] = [];
  return {
    runtime,
    calls,
    run: (source, { tools = [], functions = {}, ...rest } = {}) => {
      const used = new Set(source.match(/[\p{L}_][\p{L}\p{Nd}_]*/gu));
      const declarations = [...GO_HELPERS, ...declareGo(tools).declarations];
      return runtime.run(
        {
          source,
          tools: goFile(selectDeclarations(declarations, (name) => used.has(name))),
          limits: { ...DEFAULT_PROCESS_LIMITS, ...rest.limits },
        },
        {
          caller: (rest.caller ?? CALLER) as CallerId,
          onCall: async (call, signal) => {
            calls.push(call);
            return answer(functions, call, signal);
          },
          ...rest.handlers,
        },
      );
    },
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}
