import { createHash, randomUUID } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolderSync } from '../../lib/make-folder.js';

export interface ProgramCacheOptions {
  /** Readable by the users that jails run as, writable by the host alone. */
  readonly folder: string;
  /** Beyond this, programs that have not been used for the longest time are thrown away. */
  readonly maxBytes: number;
}

/** Names are `<key>-<digest of the content>`: a file that was cut or changed does not pass for itself. */
const FILE_NAME = /^([0-9a-f]{64})-([0-9a-f]{64})$/;

/**
 * Compiled programs by the digest of everything that they were made of. Only the host writes here, and only what a
 * compiler handed to it for this very key.
 */
export class ProgramCache {
  readonly #folder: string;
  readonly #maxBytes: number;

  constructor({ folder, maxBytes }: ProgramCacheOptions) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    makeFolderSync(folder, 0o755);
  }

  static keyOf(...parts: readonly string[]): string {
    const digest = createHash('sha256');
    // With their lengths, so that no two lists of parts are the same text.
    for (const part of parts) digest.update(`${Buffer.byteLength(part)}\0`).update(part);
    return digest.digest('hex');
  }

  /** The path of a program that is there and is what was stored. */
  find(key: string): string | undefined {
    for (const name of this.#names()) {
      const [, ownKey, digest] = FILE_NAME.exec(name) ?? [];
      if (ownKey !== key) continue;
      const path = join(this.#folder, name);
      try {
        if (digestOf(readFileSync(path)) === digest) {
          const now = new Date();
          utimesSync(path, now, now);
          return path;
        }
      } catch {
        // Thrown away by another host while we looked.
      }
      rmSync(path, { force: true });
    }
    return undefined;
  }

  /** Stores a program, and gives its path. */
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
    return path;
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
      // A program that runs keeps its file; only its name goes.
      if (total > this.#maxBytes) rmSync(each.path, { force: true });
    }
  }

  #names(): string[] {
    return readdirSync(this.#folder).filter((name) => FILE_NAME.test(name));
  }
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
