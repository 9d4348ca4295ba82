import type { Tool } from '../../domain/tool.js';
import type { Postings } from './postings.js';
import type { QueryStep } from './query.js';
import { RANKING } from './ranking.js';
import { forEachRun, isHumped, termOf, wordsOf, wordsOfRun } from './tokenize.js';

/** How much of each tool's name a query covers. Rare words count more. */
export class NameMatch {
  readonly #postings: Postings;
  readonly #toolCount: number;
  /** By term: the tools whose name has it, and its share of that name. */
  readonly #named = new Map<number, { tool: number; share: number }[]>();

  constructor(tools: readonly Tool[], postings: Postings) {
    this.#postings = postings;
    this.#toolCount = tools.length;
    const prefixes = prefixesOf(tools, postings);
    tools.forEach(({ name, serverId }, tool) => {
      const shares = sharesOf(name.slice(0, MAX_NAME_CHARS), postings, prefixes.get(serverId));
      for (const [term, share] of shares) this.#add(term, { tool, share });
    });
  }

  /** The factor for each tool: 1 if the query has no word of its name, `1 + RANKING.fullName` if it has all. */
  factorsFor(steps: readonly QueryStep[]): Float32Array {
    const asked = new Map<number, number>();
    for (const step of steps) {
      for (const { alternatives, weight } of step.words) {
        for (const { term, share } of alternatives) {
          const id = this.#postings.termId(term);
          if (id !== undefined) asked.set(id, Math.max(asked.get(id) ?? 0, share * weight));
        }
      }
    }
    const covered = new Float32Array(this.#toolCount);
    for (const [term, weight] of asked) {
      for (const { tool, share } of this.#named.get(term) ?? []) covered[tool]! += share * weight;
    }
    // A word that is asked for both whole and in parts counts once.
    return covered.map((share) => 1 + RANKING.fullName * Math.min(1, share));
  }

  #add(term: number, entry: { tool: number; share: number }): void {
    const entries = this.#named.get(term);
    if (entries === undefined) this.#named.set(term, [entry]);
    else entries.push(entry);
  }
}

/**
 * The share of each word in a name. `createIssue` is `create` and `issue`. As one word it stands for both, not for a third that
 * nobody asks for.
 */
function sharesOf(name: string, postings: Postings, prefix: number | undefined): ReadonlyMap<number, number> {
  const rarities = new Map<number, number>();
  const joined = new Map<number, readonly number[]>();
  forEachRun(name, (run) => {
    const terms = wordsOfRun(run).map((word) => postings.termId(termOf(word)));
    const isSplit = terms.length > 1 && isHumped(run);
    const whole = isSplit ? terms.pop() : undefined;
    const parts = terms.filter((term) => term !== undefined);
    for (const term of parts) rarities.set(term, postings.rarity(term));
    if (whole !== undefined) joined.set(whole, parts);
  });
  const own = [...rarities].filter(([term]) => term !== prefix);
  const total = (own.length === 0 ? [...rarities] : own).reduce((sum, [, rarity]) => sum + rarity, 0) || 1;
  const shares = new Map([...rarities].map(([term, rarity]) => [term, rarity / total]));
  for (const [whole, parts] of joined)
    shares.set(
      whole,
      parts.reduce((sum, term) => sum + (rarities.get(term) ?? 0) / total, 0),
    );
  return shares;
}

/** Fewer tools may share a prefix by chance. */
const LEAST_TOOLS = 3;
const SHARED_PART = 0.8;

/**
 * By server, the word that nearly all its tool names begin with: `linear_createIssue`, `linear_getTeams`. It names the server, so a
 * query for creating an issue need not mention it.
 */
function prefixesOf(tools: readonly Tool[], postings: Postings): ReadonlyMap<string, number> {
  const counts = new Map<string, Map<number, number>>();
  const sizes = new Map<string, number>();
  for (const { serverId, name } of tools) {
    const [first = ''] = wordsOf(name.slice(0, MAX_NAME_CHARS));
    const term = postings.termId(termOf(first));
    const known = counts.get(serverId) ?? new Map<number, number>();
    counts.set(serverId, known);
    sizes.set(serverId, (sizes.get(serverId) ?? 0) + 1);
    if (term !== undefined) known.set(term, (known.get(term) ?? 0) + 1);
  }
  const prefixes = new Map<string, number>();
  for (const [serverId, firsts] of counts) {
    const count = sizes.get(serverId) ?? 0;
    for (const [term, times] of firsts)
      if (count >= LEAST_TOOLS && times >= count * SHARED_PART) prefixes.set(serverId, term);
  }
  return prefixes;
}

/** The protocol limits a name to 128 characters, but untrusted servers may exceed that. */
const MAX_NAME_CHARS = 200;
