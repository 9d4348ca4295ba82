import { approximateTokens } from '../../catalog/briefing/tokens.js';
import { HostError } from '../../domain/errors.js';
import { isJsonObject, type JsonValue } from '../../domain/json.js';
import { briefDeclarationsOf, briefingLevel, type CatalogTool, type ToolView } from '../tools/tool-view.js';

/** What a model reads, in tokens. */
export interface TokenReport {
  readonly tools: number;
  /** (a) All tool definitions up front. */
  readonly definitions: number;
  /** (b) What an agent reads before its first program. */
  readonly catalog: number;
  /** The level of detail of (b). If everything is declared, nothing is added later. */
  readonly level: string;
  /** (c) What is added on demand, on average: the declarations of a server at its first use, and one tool's definition. */
  readonly perServer: number;
  readonly perTool: number;
}

/** Whether code mode pays off here, by the contract's thresholds and the counted tokens. */
export interface WorthVerdict {
  readonly isWorthIt: boolean;
  readonly reason: string;
  /** The setting to configure, if it is better than the current one. */
  readonly setting?: { readonly 'prompt.tokenBudget': number };
}

export interface SearchTask {
  readonly query: string;
  /** `tool` or `server/tool`; all of them are needed. */
  readonly expected: readonly string[];
}

/** The share of tasks whose tools are all among the first 1, 5 and 10 hits. */
export interface SearchReport {
  readonly tasks: number;
  readonly top1: number;
  readonly top5: number;
  readonly top10: number;
  /** Tasks whose tools are not all among the first 10. */
  readonly missed: readonly { readonly query: string; readonly missing: readonly string[] }[];
}

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** `told` is every text that an agent's client passes to the model at the start. */
export function measureTokens(
  view: ToolView,
  told: readonly string[],
  countTokens: (text: string) => number = approximateTokens,
): TokenReport {
  const { servers } = view.forCode;
  const inCode = servers.flatMap(({ tools }) => tools);
  const direct = view.direct.map(({ tool }) => tool);
  const count = (text: string) => countTokens(text);
  const definitions = [...inCode, ...direct].map((tool) => count(definitionJson(tool)));
  return {
    tools: definitions.length,
    definitions: sum(definitions),
    catalog: sum(told.map(count)) + sum(direct.map((tool) => count(definitionJson(tool)))),
    level: briefingLevel(view),
    perServer: perServerTokens(view, countTokens),
    perTool: Math.round(mean(inCode.map((tool) => count(definitionJson(tool))))),
  };
}

/** About the number of tools a program uses of one server. */
const USED_TOOLS = 2;
/** The token limit for their types in one answer. */
export const MOST_PER_SERVER = 800;
/** At these levels an agent gets all types up front, so none come later. */
export const TYPED_LEVELS: ReadonlySet<string> = new Set(['full', 'compact']);

/** The tokens that a server's declarations add at its first use, on average. */
export function perServerTokens(view: ToolView, countTokens: (text: string) => number = approximateTokens): number {
  const declared = view.forCode.servers.map((server) =>
    countTokens(briefDeclarationsOf(server, server.tools.slice(0, USED_TOOLS), view, MOST_PER_SERVER).text),
  );
  return Math.round(mean(declared));
}

/** Hits of a query, best first, each under both names that a task may use. */
export type Search = (query: string, limit: number) => readonly { readonly server: string; readonly tool: string }[];

export function measureSearch(tasks: readonly SearchTask[], search: Search): SearchReport {
  const rows = tasks.map(({ query, expected }) => {
    const hits = search(query, 10);
    const ranks = expected.map((name) =>
      hits.findIndex(({ server, tool }) => name === tool || name === `${server}/${tool}`),
    );
    return {
      query,
      worst: Math.max(...ranks.map((rank) => (rank < 0 ? Number.POSITIVE_INFINITY : rank))),
      expected,
      ranks,
    };
  });
  // Several tools cannot all be first: then "first" means as many hits as there are tools.
  const share = (cut: number) =>
    mean(rows.map(({ worst, expected }) => (worst < Math.max(cut, expected.length) ? 1 : 0)));
  return {
    tasks: tasks.length,
    top1: share(1),
    top5: share(5),
    top10: share(10),
    missed: rows
      .filter(({ worst }) => worst === Number.POSITIVE_INFINITY)
      .map(({ query, expected, ranks }) => ({
        query,
        missing: expected.filter((_, index) => (ranks[index] ?? -1) < 0),
      })),
  };
}

const MAX_TASKS = 100_000;

/** Reads a task file with one JSON object per line: `{"query": "...", "expected": "tool"}` or a list of tools. Throws `bad_input`. */
export function readTasks(text: string): SearchTask[] {
  const lines = text.split(/\r?\n/).slice(0, MAX_TASKS);
  const tasks = lines.flatMap((line, index) => (line.trim() === '' ? [] : [readTask(line, index + 1)]));
  if (tasks.length === 0) throw new HostError('bad_input', `the task file holds no task; ${EXAMPLE_TASK}`);
  return tasks;
}

const EXAMPLE_TASK = 'give a line for each: {"query": "find open issues", "expected": "github/list_issues"}';

function readTask(line: string, number: number): SearchTask {
  const { query, expected } = parsed(line);
  const names = typeof expected === 'string' ? [expected] : expected;
  const isList = Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string');
  if (typeof query === 'string' && query.trim() !== '' && isList) return { query, expected: names as string[] };
  throw new HostError('bad_input', `line ${number} of the task file is not a task; ${EXAMPLE_TASK}`);
}

function parsed(line: string): Record<string, JsonValue> {
  try {
    const value = JSON.parse(line) as JsonValue;
    return isJsonObject(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

export function percentiles(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((left, right) => left - right);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95) };
}

/** A tool definition as clients show it to a model. */
export function definitionJson({ tool }: CatalogTool): string {
  const { name, description, inputSchema } = tool;
  return JSON.stringify({ name, description, inputSchema });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}
