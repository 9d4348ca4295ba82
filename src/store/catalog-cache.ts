import * as z from 'zod';
import type { Tool } from '../domain/tool.js';

/** What a server last reported about itself. */
export interface CachedListing {
  readonly tools: readonly Tool[];
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  readonly savedAtMs: number;
}

/**
 * The tools of every server, so that a client gets an answer before slow servers have started. An entry belongs to one definition
 * of a server: it is ignored if the command or address changes. An unreadable entry counts as absent.
 */
export interface CatalogCache {
  read(serverId: string, fingerprint: string): Promise<CachedListing | undefined>;
  /** Atomic: two hosts may write at once, and a reader sees one of the two entries. */
  write(serverId: string, fingerprint: string, listing: CachedListing): Promise<void>;
  remove(serverId: string): Promise<void>;
}

const entrySchema = z.object({
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

export function listingText(fingerprint: string, listing: CachedListing): string {
  return JSON.stringify({ format: 1, fingerprint, listing });
}

/** Undefined if it is not the listing of this server. Throws if it is not JSON. */
export function readListing(text: string, serverId: string, fingerprint: string): CachedListing | undefined {
  const parsed = entrySchema.safeParse(JSON.parse(text));
  if (!parsed.success || parsed.data.fingerprint !== fingerprint) return undefined;
  // The cache is not sealed. A tool under another server's name would be called on that server, and approved as that server's tool.
  if (parsed.data.listing.tools.some((tool) => tool.serverId !== serverId)) return undefined;
  return parsed.data.listing as unknown as CachedListing;
}
