import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageProgress } from '../../domain/process-program.js';
import { makeFolderSync } from '../../lib/files/make-folder.js';
import { markPackagesUsed } from './packages-pruning.js';
import type { GoToolchain } from './toolchain.js';

/** Programs that run in jails. Every other file is only read there. */
const COMMANDS = ['builder', 'starter'];

/**
 * The output of one toolchain and one worker, in its own folder: archives by package name, the commands of jails, and the list of
 * packages that programs may import. Several hosts may add to it at once: each file appears atomically, and files of the same name
 * have the same content.
 */
export class GoPackages {
  readonly folder: string;
  /** Compiled packages outlive most of our builds: only the worker's Go sources are part of the digest. */
  readonly identity: string;

  constructor(cacheFolder: string, { version, root }: GoToolchain, sourcesDigest: string) {
    this.identity = createHash('sha256').update([version, root, sourcesDigest].join('\0')).digest('hex');
    this.folder = join(cacheFolder, `packages-${this.identity.slice(0, 24)}`);
  }

  get builder(): string {
    return join(this.folder, 'builder');
  }

  get starter(): string {
    return join(this.folder, 'starter');
  }

  /** Whether the first compilation is done: it returns the commands before any archive. */
  get isBegun(): boolean {
    return [...COMMANDS, 'standard', 'codemode.a'].every((name) => existsSync(join(this.folder, name)));
  }

  has(path: string): boolean {
    return path === 'unsafe' || existsSync(join(this.folder, `${path.replaceAll('/', '~')}.a`));
  }

  /** Everything that a program may import; empty before the first compilation. */
  standard(): readonly string[] {
    try {
      return readFileSync(join(this.folder, 'standard'), 'utf8').split('\n').filter(Boolean);
    } catch {
      return [];
    }
  }

  progress(): PackageProgress {
    const all = this.standard();
    return { compiled: all.filter((path) => this.has(path)).length, total: all.length };
  }

  /** Marks the folder as used, so that no host prunes it. */
  markUsed(): void {
    markPackagesUsed(this.folder);
  }

  /** Adds files next to the existing ones, each atomically: another host may be compiling with them. */
  store(files: ReadonlyMap<string, Buffer>): void {
    makeFolderSync(this.folder, 0o755);
    for (const [name, content] of files) {
      const temporary = join(this.folder, `.${randomUUID()}`);
      try {
        writeFileSync(temporary, content, { flag: 'wx' });
        chmodSync(temporary, COMMANDS.includes(name) ? 0o555 : 0o444);
        renameSync(temporary, join(this.folder, name));
      } finally {
        rmSync(temporary, { force: true });
      }
    }
  }
}

/** The limit of packages that one program may be the first to import. */
const MAX_PACKAGES_ASKED = 64;

/** The packages that a compiler reports as missing. Its output is untrusted, so only packages of the standard library count. */
export function packagesAsked(message: string, standard: readonly string[]): string[] {
  const known = new Set(standard);
  return [...new Set(message.split(' '))].filter((path) => known.has(path)).slice(0, MAX_PACKAGES_ASKED);
}
