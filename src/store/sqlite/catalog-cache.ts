import { createHash, randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../lib/files/make-folder.js';
import { readRegularFile } from '../../lib/files/read-regular-file.js';
import { type CachedListing, type CatalogCache, listingText, readListing } from '../catalog-cache.js';

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The tools of every server, each server in its own file in the state folder. */
export class CatalogCacheFiles implements CatalogCache {
  readonly #folder: string;
  /** The folder is created once: a thousand servers write at the same time. */
  #made: Promise<void> | undefined;

  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, 'catalog');
  }

  async read(serverId: string, fingerprint: string): Promise<CachedListing | undefined> {
    const file = this.#file(serverId);
    try {
      const text = (await readRegularFile(file, MAX_FILE_BYTES)).toString('utf8');
      return readListing(text, serverId, fingerprint);
    } catch {
      return undefined;
    }
  }

  async write(serverId: string, fingerprint: string, listing: CachedListing): Promise<void> {
    const file = this.#file(serverId);
    const temporary = `${file}.${randomUUID()}`;
    try {
      this.#made ??= makeFolder(this.#folder, 0o700);
      await this.#made;
      await writeFile(temporary, listingText(fingerprint, listing), { mode: 0o600 });
      await rename(temporary, file);
    } catch {
      this.#made = undefined;
      // A full or read-only disk only makes the next start slower.
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  async remove(serverId: string): Promise<void> {
    await rm(this.#file(serverId), { force: true }).catch(() => {});
  }

  /** Server names are untrusted text, so only their digest becomes a file name. */
  #file(serverId: string): string {
    return join(this.#folder, `${createHash('sha256').update(serverId).digest('hex').slice(0, 32)}.json`);
  }
}
