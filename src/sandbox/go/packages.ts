import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PackageProgress } from '../../domain/process-program.js';
import { makeFolderSync } from '../../lib/files/make-folder.js';
import { markPackagesUsed } from './packages-pruning.js';
import type { GoToolchain } from './toolchain.js';

/** Programs that run in jails; everything else is read there. */
const COMMANDS = ['builder', 'starter'];

/**
 * What one toolchain and one worker have compiled, in their own folder: archives by the names of their packages, the
 * commands of jails, and the list of what programs may import. Several hosts add to it at the same time: each file appears
 * at once and whole, and two of the same name are of the same content.
 */
export class GoPackages {
  readonly folder: string;
  /** What is compiled of the standard library outlives most builds of ours: only their Go sources count. */
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

  /** Whether the first of all has been done: the commands are passed on before any archive. */
  get isBegun(): boolean {
    return [...COMMANDS, 'standard', 'codemode.a'].every((name) => existsSync(join(this.folder, name)));
  }

  has(path: string): boolean {
    return path === 'unsafe' || existsSync(join(this.folder, `${path.replaceAll('/', '~')}.a`));
  }

  /** Everything that a program may import; empty before the first of all. */
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

  /** So that nobody prunes it. */
  markUsed(): void {
    markPackagesUsed(this.folder);
  }

  /** Beside what is there, each under its name at once: somebody may be compiling with them. */
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

/** What a program may be the first to import. */
const MAX_PACKAGES_ASKED = 64;

/** What a compiler says is missing: hostile as all that it says, so nothing but packages of the standard library. */
export function packagesAsked(message: string, standard: readonly string[]): string[] {
  const known = new Set(standard);
  return [...new Set(message.split(' '))].filter((path) => known.has(path)).slice(0, MAX_PACKAGES_ASKED);
}
