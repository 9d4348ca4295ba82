import type { Tool } from '../domain/tool.js';
import type { UpstreamIdentity } from '../domain/upstream.js';
import { visibleSentence, visibleText } from '../lib/visible-text.js';
import type { CachedListing } from '../store/catalog-cache.js';
import { withoutDuplicates } from './names.js';
import { visibleTool } from './visible-tool.js';

const MAX_DESCRIPTION_CHARACTERS = 400;

/** What the catalog knows of one server. */
export interface Entry {
  listing: CachedListing | undefined;
  problem: string | undefined;
  /** How many changes of its tools are known of, and how many of them the listing has. */
  changes: number;
  listedChanges: number;
  refreshing: Promise<void> | undefined;
  /** When it was asked what it has not answered yet. */
  askedAtMs: number | undefined;
}

export function newEntry(problem: string | undefined): Entry {
  return {
    listing: undefined,
    problem,
    changes: 0,
    listedChanges: 0,
    refreshing: undefined,
    askedAtMs: undefined,
  };
}

/** Its tools may be others than the ones listed. */
export function isStale({ changes, listedChanges }: Entry): boolean {
  return changes > listedChanges;
}

export function listingOf(tools: readonly Tool[], identity: UpstreamIdentity | undefined): CachedListing {
  const instructions = visibleText(identity?.instructions?.trim() ?? '').slice(0, MAX_DESCRIPTION_CHARACTERS);
  return {
    tools: withoutDuplicates(tools).tools.map(visibleTool),
    ...(identity?.name === undefined ? {} : { name: visibleSentence(identity.name) }),
    ...(identity?.version === undefined ? {} : { version: visibleSentence(identity.version) }),
    ...(instructions === '' ? {} : { description: instructions }),
    savedAtMs: Date.now(),
  };
}

export function isSameListing(left: CachedListing, right: CachedListing): boolean {
  return JSON.stringify({ ...left, savedAtMs: 0 }) === JSON.stringify({ ...right, savedAtMs: 0 });
}
