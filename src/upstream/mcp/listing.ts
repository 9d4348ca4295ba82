import type { Client } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { type Tool, type ToolAnnotations, UNUSABLE_INPUT } from '../../domain/tool.js';
import { Slices } from '../../lib/async/slices.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { BoundedLines, quotedLine } from '../../lib/text/bounded-text.js';
import { anyResult } from './calls/any-result.js';
import type { McpListing } from './connection.js';
import { ListingBudgetError } from './failures.js';
import { parameterHeaderFault } from './http/parameter-headers.js';
import { RAW } from './sanitizing-transport.js';

/**
 * Limits for a whole listing: tools, pages, text and time. The largest real catalogs have some thousand tools. A server that lists
 * more is quarantined: nobody knows what is missing from a truncated list, and reading it costs the same each time.
 */
export const MAX_TOOLS = 10_000;
const MAX_PAGES = 1_000;
const MAX_LISTING_CHARACTERS = 64 * 1024 * 1024;
const MAX_LISTING_MS = 120_000;
const MAX_NAME_CHARACTERS = 512;
const MAX_DESCRIPTION_CHARACTERS = 100_000;
const MAX_SCHEMA_CHARACTERS = 1_000_000;
const MAX_WARNINGS = 100;
/** An icon may be inlined in its URL. Larger ones are left out silently: nobody here needs them. */
const MAX_ICONS = 8;
const MAX_ICON_CHARACTERS = 2_048;
const METHOD_NOT_FOUND = -32_601;

export interface ListingOptions {
  readonly serverId: string;
  /** Whether arguments are also sent as headers, so that a tool's header annotations must be valid. */
  readonly hasParameterHeaders: boolean;
  /** For each page. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * All tools of a server. A malformed tool is repaired or left out, with a warning. It never affects the others. Throws
 * `ListingBudgetError` if the listing exceeds the limits.
 */
export async function listAllTools(client: Client, options: ListingOptions): Promise<McpListing> {
  const { timeoutMs, signal } = options;
  const collected = new Collection(options);
  const cursors = new Set<string>();
  const endsAtMs = performance.now() + Math.max(MAX_LISTING_MS, timeoutMs);
  let cursor: string | undefined;
  for (let page = 0; ; page += 1) {
    if (page === MAX_PAGES) throw new ListingBudgetError(`it lists its tools on more than ${MAX_PAGES} pages`);
    const leftMs = endsAtMs - performance.now();
    if (leftMs <= 0) throw new ListingBudgetError(`listing its tools took longer than ${MAX_LISTING_MS / 1_000} s`);
    const result = await requestPage(client, cursor, Math.min(timeoutMs, leftMs), signal);
    await collected.addPage(result.tools);
    const next = result.nextCursor;
    if (next === undefined || next === null || next === '') break;
    if (typeof next !== 'string' || cursors.has(next)) {
      collected.warn(
        `the list of tools leads back to a page that was read already; reading stopped after ${page + 1} pages`,
      );
      break;
    }
    cursors.add(next);
    cursor = next;
  }
  return collected.finish();
}

async function requestPage(
  client: Client,
  cursor: string | undefined,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<{ [key: string]: unknown }> {
  const request = { method: 'tools/list', params: omitUndefined({ cursor }) };
  const options = { timeout: timeoutMs, ...omitUndefined({ signal }) };
  try {
    const result = (await client.request(request, anyResult, options)) as { [key: string]: unknown };
    const raw = result[RAW];
    return raw !== null && typeof raw === 'object' ? (raw as { [key: string]: unknown }) : {};
  } catch (error) {
    // The server has only prompts and resources.
    if ((error as { code?: unknown }).code === METHOD_NOT_FOUND) return { tools: [] };
    throw error;
  }
}

class Collection {
  readonly #options: ListingOptions;
  readonly #tools = new Map<string, Tool>();
  readonly #taskTools = new Set<string>();
  readonly #warnings = new BoundedLines(MAX_WARNINGS);
  /** Includes the tools that were left out. */
  #listed = 0;
  #characters = 0;

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  warn(warning: string): void {
    this.#warnings.add(warning);
  }

  /** In slices: thousands of tools would block the event loop for too long. */
  async addPage(tools: unknown): Promise<void> {
    if (!Array.isArray(tools)) {
      this.warn('a page of tools has no list in it');
      return;
    }
    this.#listed += tools.length;
    if (this.#listed > MAX_TOOLS) throw new ListingBudgetError(`it lists more than ${MAX_TOOLS} tools`);
    const slices = new Slices();
    for (const raw of tools) {
      this.#add(raw);
      if (this.#characters > MAX_LISTING_CHARACTERS)
        throw new ListingBudgetError(`its tools take more than ${MAX_LISTING_CHARACTERS / 1024 / 1024} MiB of text`);
      await slices.rest();
    }
  }

  finish(): McpListing {
    return { tools: [...this.#tools.values()], warnings: this.#warnings.list(), taskTools: this.#taskTools };
  }

  #add(raw: unknown): void {
    const { tool, warnings, size } = normaliseTool(raw, this.#options.serverId);
    for (const warning of warnings) this.warn(warning);
    if (tool === undefined) return;
    const fault = this.#options.hasParameterHeaders ? parameterHeaderFault(tool.inputSchema ?? {}) : undefined;
    if (fault !== undefined) {
      this.warn(`tool ${quote(tool.name)} was left out: ${fault}`);
      return;
    }
    if (this.#tools.has(tool.name)) {
      this.warn(`tool ${quote(tool.name)} is listed twice; the first one counts`);
      return;
    }
    this.#tools.set(tool.name, tool);
    this.#characters += size;
    const execution = (raw as { execution?: unknown }).execution;
    if (isJsonObject(execution) && execution.taskSupport === 'required') this.#taskTools.add(tool.name);
  }
}

/** Normalizes one tool as its server described it. */
export function normaliseTool(
  raw: unknown,
  serverId: string,
): { readonly tool?: Tool; readonly warnings: readonly string[]; readonly size: number } {
  const warnings: string[] = [];
  if (!isJsonObject(raw)) return { warnings: [`a tool is not an object and was left out`], size: 0 };
  const { name } = raw;
  if (typeof name !== 'string' || name === '') return { warnings: ['a tool has no name and was left out'], size: 0 };
  if (name.length > MAX_NAME_CHARACTERS)
    return { warnings: [`tool ${quote(name)} has a name of ${name.length} characters and was left out`], size: 0 };
  const label = `tool ${quote(name)}`;
  let size = name.length;

  const text = (key: 'title' | 'description'): string | undefined => {
    const value = raw[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') {
      warnings.push(`${label}: its ${key} is not text and was left out`);
      return undefined;
    }
    if (value.length > MAX_DESCRIPTION_CHARACTERS)
      warnings.push(`${label}: its ${key} was cut at ${MAX_DESCRIPTION_CHARACTERS} characters`);
    size += Math.min(value.length, MAX_DESCRIPTION_CHARACTERS);
    return value.slice(0, MAX_DESCRIPTION_CHARACTERS);
  };
  const schema = (key: 'inputSchema' | 'outputSchema', instead?: JsonObject): JsonObject | undefined => {
    const value = raw[key];
    if (value === undefined || value === null) return undefined;
    if (!isJsonObject(value)) {
      warnings.push(`${label}: its ${key} is not an object and was left out`);
      return instead;
    }
    const characters = lengthOf(value);
    if (characters > MAX_SCHEMA_CHARACTERS) {
      warnings.push(`${label}: its ${key} is too large or too deep and was left out`);
      return instead;
    }
    size += characters;
    return value;
  };

  const title = text('title');
  const description = text('description');
  const inputSchema = schema('inputSchema', UNUSABLE_INPUT);
  const outputSchema = schema('outputSchema');
  const isOutputLost = outputSchema === undefined && (raw.outputSchema ?? undefined) !== undefined;
  const annotations = normaliseAnnotations(raw.annotations, label, warnings);
  const icons = normaliseIcons(raw.icons);
  size += icons.length * MAX_ICON_CHARACTERS;
  const tool: Tool = {
    serverId,
    name,
    ...omitUndefined({ title, description, inputSchema, outputSchema, annotations }),
    ...(isOutputLost ? { hasUnusableOutput: true } : {}),
    ...(icons.length === 0 ? {} : { icons }),
    ...(raw.deprecated === true ? { deprecated: true } : {}),
  };
  return { tool, warnings, size };
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

function normaliseAnnotations(
  raw: JsonValue | undefined,
  label: string,
  warnings: string[],
): ToolAnnotations | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!isJsonObject(raw)) {
    warnings.push(`${label}: its annotations are not an object and were left out`);
    return undefined;
  }
  const annotations: { -readonly [key in keyof ToolAnnotations]: ToolAnnotations[key] } = {};
  if (typeof raw.title === 'string') annotations.title = raw.title.slice(0, MAX_NAME_CHARACTERS);
  for (const hint of HINTS) {
    const value = raw[hint];
    if (typeof value === 'boolean') annotations[hint] = value;
    // A hint that is not a boolean is ignored: guessing could turn a dangerous tool into a harmless one.
    else if (value !== undefined && value !== null)
      warnings.push(`${label}: ${hint} is neither true nor false and was left out`);
  }
  return annotations;
}

function normaliseIcons(raw: JsonValue | undefined): JsonObject[] {
  if (!Array.isArray(raw)) return [];
  const fits = (icon: JsonValue): icon is JsonObject =>
    isJsonObject(icon) && typeof icon.src === 'string' && lengthOf(icon) <= MAX_ICON_CHARACTERS;
  return raw.slice(0, MAX_ICONS).filter(fits);
}

function lengthOf(value: JsonObject): number {
  try {
    return JSON.stringify(value).length;
  } catch {
    return Number.POSITIVE_INFINITY; // nested too deep for the stack
  }
}

function quote(name: string): string {
  return quotedLine(name);
}
