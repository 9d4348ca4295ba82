import type { Match } from './postings.js';
import { RANKING } from './ranking.js';

/** The scores of every tool: for the whole query, for each of its steps, and for each of its words. */
export interface ToolScores {
  readonly whole: Float32Array;
  readonly steps: readonly { readonly scores: Float32Array; readonly pull: number }[];
  readonly words: readonly Match[];
  /** Of every tool. */
  readonly names: readonly string[];
  /** Only tools from `start` to before `end` are wanted. */
  readonly start: number;
  readonly end: number;
}

export interface Selected {
  readonly tool: number;
  readonly score: number;
}

/**
 * Chooses tools one by one. Each choice removes most of the weight of the steps and words it answers, so that the next choice is
 * the best for what is still open: the steps of a query take turns, and ten tools that all answer the same few words do not fill
 * the top. Scores never rise from one hit to the next; ties go to the lower tool number.
 */
export function selectTools(scores: ToolScores, limit: number): Selected[] {
  const candidates = candidatesOf(scores);
  const board = new Board(scores, candidates);
  const chosen: Selected[] = [];
  while (chosen.length < Math.min(limit, candidates.length, MAX_WEIGHED_HITS)) chosen.push(board.choose());
  if (chosen.length >= limit) return chosen;
  const taken = new Set(chosen.map(({ tool }) => tool));
  const rest = ranked(scores.whole, scores.start, scores.end).filter((tool) => !taken.has(tool));
  const floor = chosen.at(-1)?.score ?? 0;
  const top = scores.whole[rest[0] ?? 0] || 1;
  return [...chosen, ...rest.map((tool) => ({ tool, score: (floor * scores.whole[tool]!) / top }))].slice(0, limit);
}

/** Further hits are ranked by their score for the whole query: nobody reads that far, and weighing is expensive. */
const MAX_WEIGHED_HITS = 30;
const WHOLE_CANDIDATES = 60;
const STEP_CANDIDATES = 20;

function candidatesOf({ whole, steps, start, end }: ToolScores): number[] {
  const found = new Set(highest(whole, start, end, WHOLE_CANDIDATES));
  if (steps.length > 1) {
    for (const { scores } of steps) for (const tool of highest(scores, start, end, STEP_CANDIDATES)) found.add(tool);
  }
  return [...found].sort((a, b) => a - b);
}

/** The tools with the highest scores above zero, best first, ties by number. */
function highest(scores: Float32Array, start: number, end: number, count: number): number[] {
  const best: number[] = [];
  let bar = 0;
  for (let tool = start; tool < end; tool += 1) {
    const score = scores[tool]!;
    if (score <= bar) continue;
    let place = Math.min(best.length, count - 1);
    while (place > 0 && scores[best[place - 1]!]! < score) {
      best[place] = best[place - 1]!;
      place -= 1;
    }
    best[place] = tool;
    if (best.length === count) bar = scores[best[count - 1]!]!;
  }
  return best;
}

/** The same for a count too high to keep sorted during the scan. */
function ranked(scores: Float32Array, start: number, end: number): number[] {
  const matching: number[] = [];
  for (let tool = start; tool < end; tool += 1) if (scores[tool]! > 0) matching.push(tool);
  return matching.sort((a, b) => scores[b]! - scores[a]! || a - b);
}

/** The current score of every candidate while tools are being chosen. Slots are positions in `candidates`. */
class Board {
  readonly #candidates: readonly number[];
  readonly #whole: Float32Array;
  readonly #steps: { readonly shares: Float32Array; left: number }[];
  readonly #words: {
    readonly slots: readonly number[];
    readonly values: readonly number[];
    readonly top: number;
    left: number;
  }[];
  /** Per slot: the score of its words that are still open. */
  readonly #fresh: Float32Array;
  readonly #isTaken: Uint8Array;
  /** Slots by tool name, and per slot the score that remains beside chosen tools of the same name. */
  readonly #twins = new Map<string, number[]>();
  readonly #names: readonly string[];
  readonly #left: Float32Array;

  constructor(scores: ToolScores, candidates: readonly number[]) {
    this.#candidates = candidates;
    const whole = Float32Array.from(candidates, (tool) => scores.whole[tool]!);
    const top = maximum(whole);
    this.#whole = whole.map((score) => score / top);
    this.#steps = scores.steps.map(({ scores: all, pull }) => {
      const own = Float32Array.from(candidates, (tool) => all[tool]!);
      const best = maximum(own);
      return { shares: own.map((score) => score / best), left: pull };
    });
    this.#fresh = new Float32Array(candidates.length);
    this.#isTaken = new Uint8Array(candidates.length);
    this.#left = new Float32Array(candidates.length).fill(1);
    this.#names = candidates.map((tool) => scores.names[tool]!);
    this.#names.forEach((name, slot) => {
      this.#twins.set(name, [...(this.#twins.get(name) ?? []), slot]);
    });
    const slotOf = new Int32Array(scores.whole.length).fill(-1);
    candidates.forEach((tool, slot) => {
      slotOf[tool] = slot;
    });
    this.#words = scores.words.map(({ documents, values: all }) => {
      const slots: number[] = [];
      const values: number[] = [];
      for (let position = 0; position < documents.length; position += 1) {
        const slot = slotOf[documents[position]!]!;
        if (slot < 0) continue;
        const value = all[position]! / top;
        slots.push(slot);
        values.push(value);
        this.#fresh[slot]! += value;
      }
      return { slots, values, top: maximum(values), left: 1 };
    });
  }

  choose(): Selected {
    let best = -1;
    let bestScore = -1;
    for (let slot = 0; slot < this.#candidates.length; slot += 1) {
      if (this.#isTaken[slot] === 1) continue;
      let step = 0;
      for (const { shares, left } of this.#steps) step = Math.max(step, left * shares[slot]!);
      const fit = RANKING.whole * this.#whole[slot]! + RANKING.step * step + RANKING.fresh * this.#fresh[slot]!;
      const score = fit * this.#left[slot]!;
      if (score > bestScore) {
        best = slot;
        bestScore = score;
      }
    }
    this.#take(best);
    return { tool: this.#candidates[best]!, score: bestScore };
  }

  #take(chosen: number): void {
    this.#isTaken[chosen] = 1;
    for (const slot of this.#twins.get(this.#names[chosen]!) ?? []) this.#left[slot]! *= RANKING.twin;
    for (const step of this.#steps) step.left *= 1 - (1 - RANKING.answered) * step.shares[chosen]!;
    for (const word of this.#words) {
      const position = word.slots.indexOf(chosen);
      if (position < 0) continue;
      const lost = word.left * (1 - RANKING.answered) * (word.values[position]! / word.top);
      word.left -= lost;
      word.slots.forEach((slot, other) => {
        this.#fresh[slot]! -= lost * word.values[other]!;
      });
    }
  }
}

function maximum(values: Float32Array | readonly number[]): number {
  let top = 0;
  for (const value of values) if (value > top) top = value;
  return top || 1;
}
