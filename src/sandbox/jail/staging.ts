import { createHash, randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmodSync, constants, copyFileSync, linkSync, lstatSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { makeFolderSync } from '../../lib/files/make-folder.js';
import { markUsed, pruneStaged, SAY_AGAIN_MS } from './staged-use.js';

/** Root-owned on every distribution, and mounted without noexec, unlike /run. */
const DEFAULT_FOLDER = '/var/cache/codemode/jail';

/**
 * Makes files readable for a worker's uid. A host that runs as root and is installed under /root (0700) has files that no other
 * user can open. They are linked or copied, once per version, into a folder that everyone may read and only root may write. Used
 * only if the host is root.
 */
export class Staging {
  readonly #folder: string;
  readonly #known = new Map<string, { readonly readable: string; readonly sinceMs: number }>();
  #isPruned = false;

  constructor(folder = DEFAULT_FOLDER) {
    this.#folder = folder;
  }

  /** A path with the same content that any uid can read and execute. */
  readable(path: string): string {
    const real = realpathSync(path);
    const known = this.#known.get(real);
    // A copy is checked again from time to time: another host may have deleted it after weeks of disuse.
    if (known !== undefined && (known.readable === real || Date.now() - known.sinceMs < SAY_AGAIN_MS))
      return known.readable;
    const readable = isReadableByEveryone(real) ? real : this.#stage(real);
    this.#known.set(real, { readable, sinceMs: Date.now() });
    return readable;
  }

  #stage(path: string): string {
    try {
      openSharedFolder(this.#folder);
      const source = lstatSync(path);
      const target = join(this.#folder, `${identity(path, source)}-${basename(path)}`);
      if (!isStaged(target, source)) place(path, source, target);
      markUsed(target);
      if (!this.#isPruned) pruneStaged(this.#folder);
      this.#isPruned = true;
      return target;
    } catch (error) {
      if (error instanceof HostError) throw error;
      throw new HostError(
        'jail_unavailable',
        `${path} cannot be read by an unprivileged user and could not be copied to ${this.#folder}; ` +
          'install codemode and Node in a world-readable place such as /usr/local, or start codemode as another user than root',
        { cause: error },
      );
    }
  }
}

/** Checks the permission bits alone: an access list that differs costs one needless copy or one clear failure. */
export function isReadableByEveryone(path: string): boolean {
  if ((lstatSync(path).mode & 0o004) === 0) return false;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if ((lstatSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/**
 * Creates the folder, and verifies that only root can write to it or replace one of its parents by a link. Otherwise a local user
 * could choose the program that runs as our worker.
 */
export function openSharedFolder(folder: string): void {
  makeFolderSync(folder, 0o755);
  for (let current = folder; ; current = dirname(current)) {
    const stats = lstatSync(current);
    const othersMayWrite = (stats.mode & 0o022) !== 0;
    const isSticky = (stats.mode & 0o1000) !== 0;
    const isSafe = stats.isDirectory() && stats.uid === 0 && (!othersMayWrite || (isSticky && current !== folder));
    if (!isSafe || (stats.mode & 0o001) === 0) {
      throw new HostError(
        'jail_unavailable',
        `${current} must be a folder that belongs to root, that all may enter and only root may write; ` +
          `run: chown root ${current} && chmod 755 ${current}`,
      );
    }
    if (current === dirname(current)) return;
  }
}

/** Changes when the file is replaced or rewritten. It excludes the ctime, which a hard link changes too. */
function identity(path: string, stats: Stats): string {
  const facts = [path, stats.dev, stats.ino, stats.size, stats.mtimeMs].join('\0');
  return createHash('sha256').update(facts).digest('hex').slice(0, 32);
}

function isStaged(target: string, source: Stats): boolean {
  try {
    const stats = lstatSync(target);
    return stats.isFile() && stats.uid === 0 && (stats.mode & 0o022) === 0 && stats.size === source.size;
  } catch {
    return false;
  }
}

function place(path: string, source: Stats, target: string): void {
  const temporary = join(dirname(target), `.${randomUUID()}`);
  try {
    // A link costs nothing, but shares owner and mode: only for files that root alone can change and everyone may run.
    const isLinkable = source.uid === 0 && (source.mode & 0o022) === 0 && (source.mode & 0o005) === 0o005;
    if (!isLinkable || !tryLink(path, temporary)) {
      copyFileSync(path, temporary, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      chmodSync(temporary, 0o555);
    }
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** False across file systems, or if links are not supported. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}
