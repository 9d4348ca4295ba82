import type { Tool } from '../domain/tool.js';
import { fieldsOf } from './search/fields.js';
import { NameMatch } from './search/name-match.js';
import { Postings } from './search/postings.js';
import { isBlank, type KnownWords, type QueryStep, readQuery } from './search/query.js';
import { RANKING } from './search/ranking.js';
import { selectTools, type ToolScores } from './search/selection.js';
import { Spelling } from './search/spelling.js';

/** A tool with its server's own description. */
export interface SearchDocument {
  readonly tool: Tool;
  readonly serverName?: string;
  readonly serverDescription?: string;
}

export interface SearchOptions {
  /** Only tools of this server. */
  readonly serverId?: string;
  /** Maximum number of hits; 10 by default. */
  readonly limit?: number;
  /** Only tools for which this returns true. Others take no place among the hits. */
  readonly isSeen?: (tool: Tool) => boolean;
}

export interface SearchHit {
  readonly tool: Tool;
  /** Decreases from hit to hit; comparable within one answer only. */
  readonly score: number;
}

export interface SearchIndex {
  /**
   * The tools that match the query, best first. The steps of a multi-step query take turns. An empty query returns all tools by
   * server and name; a query without a known word returns none. The same query always gives the same answer.
   */
  search(query: string, options?: SearchOptions): SearchHit[];
}

/** Builds an index over these tools. It does not follow later changes: build another. Never throws on untrusted text. */
export function createSearchIndex(documents: readonly SearchDocument[]): SearchIndex {
  return new ToolIndex(documents);
}

const DEFAULT_LIMIT = 10;
/** Shared by all tools, so that neither a long text nor a long list slows down the build. 2,000 tools can all use their maximum. */
const MAX_INDEX_CHARS = 10_000_000;
/** Recall is the same with 2,000 and with 8,000: tools differ at the beginning of their texts. */
const MAX_TOOL_CHARS = 3_000;
const MIN_TOOL_CHARS = 100;
const MAX_SERVER_CHARS = 2_000;
const MAX_NAMED_TOOLS = 200;
const MAX_NAME_CHARS = 200;

class ToolIndex implements SearchIndex {
  /** By server, then by name: a tool's number breaks every tie, and a server's tools are adjacent. */
  readonly #tools: readonly Tool[];
  readonly #postings: Postings;
  readonly #names: NameMatch;
  /** Normalised: `listIssues` and `list-issues` are twins. */
  readonly #plainNames: readonly string[];
  readonly #servers: readonly ServerEntry[];
  readonly #serverPostings: Postings;
  readonly #known: KnownWords;

  constructor(documents: readonly SearchDocument[]) {
    const sorted = [...documents].sort(
      (a, b) => compareText(a.tool.serverId, b.tool.serverId) || compareText(a.tool.name, b.tool.name),
    );
    this.#tools = sorted.map(({ tool }) => tool);
    const share = Math.floor(MAX_INDEX_CHARS / Math.max(1, sorted.length));
    const budgetChars = Math.max(MIN_TOOL_CHARS, Math.min(MAX_TOOL_CHARS, share));
    this.#postings = new Postings(
      this.#tools.map((tool) => inOrderOf(RANKING.fields, fieldsOf(tool, budgetChars))),
      Object.values(RANKING.fields),
    );
    this.#names = new NameMatch(this.#tools, this.#postings);
    this.#plainNames = this.#tools.map(({ name }) => plainName(name.slice(0, MAX_NAME_CHARS)));
    this.#servers = serversOf(sorted);
    this.#serverPostings = new Postings(
      this.#servers.map((server) => inOrderOf(RANKING.serverFields, server)),
      Object.values(RANKING.serverFields),
    );
    const spelling = new Spelling(this.#postings.words());
    this.#known = {
      hasTerm: (term) => this.#postings.termId(term) !== undefined || this.#serverPostings.termId(term) !== undefined,
      nearest: (word) => spelling.nearest(word),
    };
  }

  search(query: string, options: SearchOptions = {}): SearchHit[] {
    const limit = Math.max(0, Math.floor(options.limit ?? DEFAULT_LIMIT)) || 0;
    const { start, end } = this.#rangeOf(options.serverId);
    if (limit === 0 || start === end) return [];
    const { isSeen } = options;
    if (isBlank(query)) {
      const all = this.#tools.slice(start, isSeen === undefined ? Math.min(end, start + limit) : end);
      return (isSeen === undefined ? all : all.filter(isSeen).slice(0, limit)).map((tool) => ({ tool, score: 0 }));
    }
    const scores = this.#score(readQuery(query, this.#known), start, end);
    if (isSeen !== undefined) this.#dropUnseen(scores, isSeen);
    return selectTools(scores, limit).map(({ tool, score }) => ({
      tool: this.#tools[tool]!,
      score,
    }));
  }

  #score(steps: readonly QueryStep[], start: number, end: number): ToolScores {
    const whole = new Float32Array(this.#tools.length);
    /** The score of each tool's own text, without its server's. */
    const own = new Float32Array(this.#tools.length);
    const nameFactors = this.#names.factorsFor(steps);
    const scored = steps.map((step) => {
      const words = step.words.map((word) => this.#postings.match(word));
      const scores = this.#serverShares(step);
      for (const { documents, values } of words) {
        for (let at = 0; at < documents.length; at += 1) {
          scores[documents[at]!]! += values[at]!;
          own[documents[at]!]! += values[at]!;
        }
      }
      for (let tool = start; tool < end; tool += 1) {
        scores[tool]! *= nameFactors[tool]!;
        whole[tool]! += scores[tool]!;
      }
      return { scores, pull: step.pull, words };
    });
    this.#dropNeighbours(own, [whole, ...scored.map(({ scores }) => scores)]);
    const words = scored.flatMap((step) => step.words);
    return { whole, steps: scored, words, names: this.#plainNames, start, end };
  }

  #dropUnseen({ whole, steps, start, end }: ToolScores, isSeen: (tool: Tool) => boolean): void {
    for (let tool = start; tool < end; tool += 1) {
      if (isSeen(this.#tools[tool]!)) continue;
      whole[tool] = 0;
      for (const { scores } of steps) scores[tool] = 0;
    }
  }

  /**
   * A tool that matches no word itself is not a hit just because another tool of its server is. If no tool of a server matches, the
   * query names the server, and all its tools are meant.
   */
  #dropNeighbours(own: Float32Array, scores: readonly Float32Array[]): void {
    for (const { start, end } of this.#servers) {
      if (!own.subarray(start, end).some((score) => score > 0)) continue;
      for (let tool = start; tool < end; tool += 1) if (own[tool] === 0) for (const each of scores) each[tool] = 0;
    }
  }

  /** The score that each tool gets from its server. */
  #serverShares(step: QueryStep): Float32Array {
    const scores = new Float32Array(this.#tools.length);
    for (const word of step.words) {
      const { documents, values } = this.#serverPostings.match(word);
      for (let at = 0; at < documents.length; at += 1) {
        const server = this.#servers[documents[at]!]!;
        for (let tool = server.start; tool < server.end; tool += 1) scores[tool]! += RANKING.server * values[at]!;
      }
    }
    return scores;
  }

  #rangeOf(serverId: string | undefined): { start: number; end: number } {
    if (serverId === undefined) return { start: 0, end: this.#tools.length };
    return this.#servers.find((server) => server.id === serverId) ?? { start: 0, end: 0 };
  }
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s._/:-]/g, '');
}

interface ServerEntry {
  readonly id: string;
  readonly start: number;
  readonly end: number;
  readonly identity: string;
  readonly description: string;
  readonly toolNames: string;
}

function serversOf(sorted: readonly SearchDocument[]): ServerEntry[] {
  const servers: ServerEntry[] = [];
  for (let start = 0, end = 0; start < sorted.length; start = end) {
    const { tool, serverName, serverDescription } = sorted[start]!;
    while (end < sorted.length && sorted[end]!.tool.serverId === tool.serverId) end += 1;
    servers.push({
      id: tool.serverId,
      start,
      end,
      identity: `${tool.serverId} ${serverName ?? ''}`.slice(0, MAX_SERVER_CHARS),
      description: (serverDescription ?? '').slice(0, MAX_SERVER_CHARS),
      toolNames: sorted
        .slice(start, Math.min(end, start + MAX_NAMED_TOOLS))
        .map((document) => document.tool.name.slice(0, MAX_NAME_CHARS))
        .join(' '),
    });
  }
  return servers;
}

/** The texts in the order of their fields. */
function inOrderOf<Key extends string>(keys: Record<Key, unknown>, texts: NoInfer<Record<Key, string>>): string[] {
  return (Object.keys(keys) as Key[]).map((key) => texts[key]);
}

/** By code unit: the same on every machine, independent of the locale. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
