import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderSync } from '../../lib/files/make-folder.js';

export interface ProgramCacheOptions {
  /** Readable by the users that jails run as, writable by the host alone. */
  readonly folder: string;
  /** Beyond this size, the least recently used programs are discarded. */
  readonly maxBytes: number;
}

/** Names are `<key>-<digest of the content>`, so a truncated or changed file is detected. */
const FILE_NAME = /^([0-9a-f]{64})-([0-9a-f]{64})$/;
/** Use is recorded at most this often. The only cost: another host may discard a program sooner than it should. */
const SAY_AGAIN_MS = 10 * 60_000;
const MAX_REMEMBERED = 1_000;

/**
 * Compiled programs by the digest of all their inputs. Only the host writes here, and only what a compiler returned for this very
 * key.
 */
export class ProgramCache {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** Programs that this host has read and verified, least recently used first. Reading and hashing takes longer than a short run. */
  readonly #verified = new Map<string, { readonly path: string; readonly identity: string }>();

  constructor({ folder, maxBytes }: ProgramCacheOptions) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    makeFolderSync(folder, 0o755);
  }

  static keyOf(...parts: readonly string[]): string {
    const digest = createHash('sha256');
    // Each part is prefixed with its length, so that no two lists of parts give the same text.
    for (const part of parts) digest.update(`${Buffer.byteLength(part)}\0`).update(part);
    return digest.digest('hex');
  }

  /** The path of a stored program whose content is intact. */
  find(key: string): string | undefined {
    const known = this.#verified.get(key);
    this.#verified.delete(key);
    if (known !== undefined && identityOf(known.path) === known.identity) return this.#use(key, known.path);
    for (const name of this.#names()) {
      const [, ownKey, digest] = FILE_NAME.exec(name) ?? [];
      if (ownKey !== key) continue;
      const path = join(this.#folder, name);
      try {
        if (digestOf(readFileSync(path)) === digest) return this.#use(key, path);
      } catch {
        // Another host discarded it in the meantime.
      }
      rmSync(path, { force: true });
    }
    return undefined;
  }

  /** Stores a program and returns its path. */
  store(key: string, program: Uint8Array): string {
    this.#makeRoom(program.length);
    const path = join(this.#folder, `${key}-${digestOf(program)}`);
    const temporary = join(this.#folder, `.${randomUUID()}`);
    try {
      writeFileSync(temporary, program, { flag: 'wx' });
      chmodSync(temporary, 0o555);
      renameSync(temporary, path);
    } finally {
      rmSync(temporary, { force: true });
    }
    this.#remember(key, path);
    return path;
  }

  #use(key: string, path: string): string {
    const now = new Date();
    try {
      if (now.getTime() - statSync(path).mtimeMs > SAY_AGAIN_MS) utimesSync(path, now, now);
    } catch {
      // Another host has just deleted it. Starting it reports that.
    }
    this.#remember(key, path);
    return path;
  }

  #remember(key: string, path: string): void {
    const identity = identityOf(path);
    if (identity !== undefined) this.#verified.set(key, { path, identity });
    for (const [oldest] of this.#verified) {
      if (this.#verified.size <= MAX_REMEMBERED) break;
      this.#verified.delete(oldest);
    }
  }

  #makeRoom(bytes: number): void {
    const kept = this.#names().flatMap((name) => {
      const path = join(this.#folder, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats === undefined ? [] : [{ path, bytes: stats.size, usedAtMs: stats.mtimeMs }];
    });
    kept.sort((left, right) => right.usedAtMs - left.usedAtMs);
    let total = bytes;
    for (const each of kept) {
      total += each.bytes;
      // A running program keeps its file; only its name is removed.
      if (total > this.#maxBytes) rmSync(each.path, { force: true });
    }
  }

  #names(): string[] {
    return readdirSync(this.#folder).filter((name) => FILE_NAME.test(name));
  }
}

/** Changes when the file is replaced, truncated or written to. It excludes the ctime, which a hard link changes too. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && [stats.dev, stats.ino, stats.size, stats.mtimeNs].join();
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
