import type { Tool } from '../../domain/tool.js';
import type { Postings } from './postings.js';
import type { QueryStep } from './query.js';
import { RANKING } from './ranking.js';
import { termOf, wordsOf } from './tokenize.js';

/** How much of each tool's name a query asks for, its rare words counting more. */
export class NameMatch {
  readonly #postings: Postings;
  readonly #toolCount: number;
  /** By term: the tools whose name has it, and its share of that name. */
  readonly #named = new Map<number, { tool: number; share: number }[]>();

  constructor(tools: readonly Tool[], postings: Postings) {
    this.#postings = postings;
    this.#toolCount = tools.length;
    tools.forEach(({ name }, tool) => {
      const terms = new Set(wordsOf(name.slice(0, MAX_NAME_CHARS)).map((word) => postings.termId(termOf(word))));
      terms.delete(undefined);
      const rarities = [...terms].map((term) => ({ term: term as number, rarity: postings.rarity(term as number) }));
      const total = rarities.reduce((sum, { rarity }) => sum + rarity, 0) || 1;
      for (const { term, rarity } of rarities) this.#add(term, { tool, share: rarity / total });
    });
  }

  /** The factor for each tool: 1 where the query has nothing of its name, `1 + RANKING.fullName` where it has all. */
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
    const factors = new Float32Array(this.#toolCount).fill(1);
    for (const [term, weight] of asked) {
      for (const { tool, share } of this.#named.get(term) ?? []) factors[tool]! += RANKING.fullName * share * weight;
    }
    return factors;
  }

  #add(term: number, entry: { tool: number; share: number }): void {
    const entries = this.#named.get(term);
    if (entries === undefined) this.#named.set(term, [entry]);
    else entries.push(entry);
  }
}

/** The protocol allows a name 128 characters; foreign servers need not keep to it. */
const MAX_NAME_CHARS = 200;
