import { createHash, randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Tool } from '../domain/tool.js';
import { makeFolder } from '../lib/make-folder.js';
import { readRegularFile } from '../lib/read-regular-file.js';

/** What was known of a server when it was last asked. */
export interface CachedListing {
  readonly tools: readonly Tool[];
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly savedAtMs: number;
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

const fileSchema = z.object({
  format: z.literal(1),
  fingerprint: z.string(),
  listing: z.object({
    tools: z.array(z.looseObject({ serverId: z.string(), name: z.string() })),
    name: z.string().optional(),
    version: z.string().optional(),
    description: z.string().optional(),
    savedAtMs: z.number(),
  }),
});

/**
 * The tools of every server on disk, so that a client is answered before slow servers have started. A file belongs to one
 * definition of a server: with another command or address it is not believed. What cannot be read is as good as absent.
 */
export class CatalogCache {
  readonly #folder: string;
  /** Made once: a thousand servers write at the same time. */
  #made: Promise<void> | undefined;

  constructor(stateFolder: string) {
    this.#folder = join(stateFolder, 'catalog');
  }

  async read(serverId: string, fingerprint: string): Promise<CachedListing | undefined> {
    const file = this.#file(serverId);
    try {
      const text = (await readRegularFile(file, MAX_FILE_BYTES)).toString('utf8');
      const parsed = fileSchema.safeParse(JSON.parse(text));
      if (!parsed.success || parsed.data.fingerprint !== fingerprint) return undefined;
      // The file is not sealed. A tool under the name of another server would be called there, and asked about as its own.
      if (parsed.data.listing.tools.some((tool) => tool.serverId !== serverId)) return undefined;
      return parsed.data.listing as unknown as CachedListing;
    } catch {
      return undefined;
    }
  }

  /** Whole or not at all: two hosts may write at once, and a reader sees one of the two. */
  async write(serverId: string, fingerprint: string, listing: CachedListing): Promise<void> {
    const file = this.#file(serverId);
    const temporary = `${file}.${randomUUID()}`;
    try {
      this.#made ??= makeFolder(this.#folder, 0o700);
      await this.#made;
      await writeFile(temporary, JSON.stringify({ format: 1, fingerprint, listing }), { mode: 0o600 });
      await rename(temporary, file);
    } catch {
      this.#made = undefined;
      // A full or read-only disk costs the next start some time, and nothing else.
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  async remove(serverId: string): Promise<void> {
    await rm(this.#file(serverId), { force: true }).catch(() => {});
  }

  /** Server names are foreign text: only their digest becomes a file name. */
  #file(serverId: string): string {
    return join(this.#folder, `${createHash('sha256').update(serverId).digest('hex').slice(0, 32)}.json`);
  }
}
