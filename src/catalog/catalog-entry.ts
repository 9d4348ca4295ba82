import type { Tool } from '../domain/tool.js';
import type { UpstreamIdentity } from '../domain/upstream.js';
import { Allowance } from '../lib/allowance.js';
import { Slices } from '../lib/async/slices.js';
import { ifDefined, omitUndefined } from '../lib/omit-undefined.js';
import { visibleSentence, visibleText } from '../lib/text/visible-text.js';
import type { CachedListing } from '../store/catalog-cache.js';
import { withoutDuplicates } from './names.js';
import { visibleTool } from './visible-tool.js';

const MAX_DESCRIPTION_CHARACTERS = 400;
/**
 * How often a server with known tools is asked for them again. A server that announces changes all the time is asked every five
 * seconds.
 */
const RELISTINGS = { burst: 10, perSecond: 0.2 };
/** Tools that are redacted in one batch. */
const CLEANED_AT_ONCE = 50;

/** The catalog's state for one server. */
export interface Entry {
  listing: CachedListing | undefined;
  problem: string | undefined;
  /** How many changes of its tools were announced, and how many of them the listing includes. */
  changes: number;
  listedChanges: number;
  refreshing: Promise<void> | undefined;
  /** The time of the request that it has not answered yet. */
  askedAtMs: number | undefined;
  readonly relistings: Allowance;
  /** Whether the server was asked in this process. Until then its tools come from the listing of an earlier process. */
  isConfirmed: boolean;
  /** Tools of that earlier listing that the server has since changed or removed, by name. */
  outdated: ReadonlyMap<string, string>;
}

export function newEntry(problem: string | undefined): Entry {
  return {
    listing: undefined,
    problem,
    changes: 0,
    listedChanges: 0,
    refreshing: undefined,
    askedAtMs: undefined,
    relistings: new Allowance(RELISTINGS, performance.now()),
    isConfirmed: false,
    outdated: new Map(),
  };
}

/** The changes that an ordinary server may announce while a listing is in progress. */
const USUAL_CHANGES = 10;

/** Whether it announces changes faster than it can be asked about them. Nobody waits for its tools. */
export function isStormy(entry: Entry): boolean {
  const isKnown = entry.listing !== undefined;
  return isKnown && (entry.changes - entry.listedChanges > USUAL_CHANGES || relistingWaitMs(entry) > 0);
}

/** Milliseconds until it may be asked again because it announced changed tools. */
export function relistingWaitMs({ listing, relistings }: Entry): number {
  return listing === undefined ? 0 : relistings.waitMs(performance.now());
}

/** Whether its tools may differ from the listing. */
export function isStale({ changes, listedChanges }: Entry): boolean {
  return changes > listedChanges;
}

export function listingOf(tools: readonly Tool[], identity: UpstreamIdentity | undefined): CachedListing {
  const instructions = visibleText(identity?.instructions?.trim() ?? '').slice(0, MAX_DESCRIPTION_CHARACTERS);
  return {
    tools: withoutDuplicates(tools).tools.map(visibleTool),
    ...omitUndefined({
      name: ifDefined(identity?.name, visibleSentence),
      version: ifDefined(identity?.version, visibleSentence),
    }),
    ...(instructions === '' ? {} : { description: instructions }),
    savedAtMs: Date.now(),
  };
}

/** Redacts a listing in slices: thousands of tools take too long for one turn of the event loop. */
export async function cleanListing(
  { tools, ...rest }: CachedListing,
  clean: <Value>(value: Value) => Value,
): Promise<CachedListing> {
  const slices = new Slices();
  const cleaned: Tool[] = [];
  for (let start = 0; start < tools.length; start += CLEANED_AT_ONCE) {
    cleaned.push(...clean(tools.slice(start, start + CLEANED_AT_ONCE)));
    await slices.rest();
  }
  return { ...clean(rest), tools: cleaned };
}

export async function isSameListing(left: CachedListing, right: CachedListing): Promise<boolean> {
  const { tools: leftTools, savedAtMs: _, ...leftRest } = left;
  const { tools: rightTools, savedAtMs: __, ...rightRest } = right;
  if (leftTools.length !== rightTools.length || !isSame(leftRest, rightRest)) return false;
  const slices = new Slices();
  for (const [index, tool] of leftTools.entries()) {
    if (!isSame(tool, rightTools[index])) return false;
    await slices.rest();
  }
  return true;
}

/** The definition of a tool as text that can be compared. */
export function textOfTool({ name, title, description, inputSchema, outputSchema, annotations }: Tool): string {
  return JSON.stringify([name, title, description, inputSchema, outputSchema, annotations]);
}

/** The tools of an earlier listing that have changed or are gone. */
export function outdatedTools(before: readonly Tool[], now: readonly Tool[]): ReadonlyMap<string, string> {
  const current = new Map(now.map((tool) => [tool.name, tool]));
  const outdated = before.flatMap((tool) => {
    const text = textOfTool(tool);
    const same = current.get(tool.name);
    return same !== undefined && textOfTool(same) === text ? [] : [[tool.name, text] as const];
  });
  return new Map(outdated);
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
