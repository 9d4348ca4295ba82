import { isJsonObject, type JsonValue } from '../../domain/json.js';
import { quoteVisibly } from '../../lib/text/visible-text.js';
import { commentLine, firstSentence } from '../declarations/doc-comment.js';
import { compareCodePoints } from '../names.js';
import type { CatalogServer, CatalogTool } from '../snapshot.js';
import { readingFirst } from './reading-first.js';
import { topicsOf } from './topics.js';

/** How length is measured: in tokens for a model's context, in characters for a client that cuts. */
export type Measure = (text: string) => number;

/** The names under which servers and tools are listed, and how an agent finds the others. */
export interface IndexNaming {
  serverName(server: CatalogServer): string;
  toolName(tool: CatalogTool): string;
  /** How a program uses a server whose tools are not known yet. */
  readonly use: string;
  /** The end of the line that counts what was left out. */
  readonly rest: string;
}

/** Under the names that programs import. */
const AS_IMPORTED: IndexNaming = {
  serverName: ({ path }) => path,
  toolName: visibleName,
  use: 'import it',
  rest: ': await listServers() of @codemode/discovery names them',
};

/** Under the names of the user and the servers. A name that is not plain is shown as programs import it: both are understood. */
export const AS_CONFIGURED: IndexNaming = {
  serverName: ({ id, path }) => (PLAIN_NAME.test(id) ? id : path),
  toolName: (tool) => (PLAIN_NAME.test(tool.tool.name) ? tool.tool.name : visibleName(tool)),
  use: 'call it',
  rest: '',
};

const PLAIN_NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;

/** In how many earlier runs each server (by path) was used. */
export type UsedBefore = ReadonlyMap<string, number>;

/**
 * Servers used before come first, then small ones: the user chose those for a purpose, and their lines can name all their tools.
 * Counts within a factor of two are equal, so that a few runs do not change a text that clients cache.
 */
export function byUsefulness<Server extends Pick<CatalogServer, 'path' | 'tools'>>(
  servers: readonly Server[],
  used: UsedBefore = new Map(),
): Server[] {
  const rank = ({ path }: Server) => Math.floor(Math.log2(1 + (used.get(path) ?? 0)));
  // A server that is down or still starting has no tools to offer yet.
  const isEmpty = ({ tools }: Server) => Number(tools.length === 0);
  return [...servers].sort(
    (one, other) =>
      isEmpty(one) - isEmpty(other) ||
      rank(other) - rank(one) ||
      one.tools.length - other.tools.length ||
      compareCodePoints(one.path, other.path),
  );
}

/**
 * One line per server: path, number of tools, its own description in quotes or the topics of its tools, and names of tools. Never
 * larger than `most`. First every server gets its bare line. Then all get their descriptions, if half of the rest is enough. Then
 * tool names and finally parameters are added in turn, small servers first: a few of many names say less than their topics.
 * Omissions are counted. Lines and names are whole or absent.
 */
export function serverIndex(
  servers: readonly CatalogServer[],
  most: number,
  measure: Measure,
  naming: IndexNaming = AS_IMPORTED,
  used?: UsedBefore,
): string {
  const unknown = servers.filter(isUnknown);
  const sorted = byUsefulness(
    servers.filter((server) => !isUnknown(server)),
    used,
  );
  // The first start of all has nothing else to tell: names before anything about other servers.
  const starting = startingLine(unknown, naming, most, measure);
  let left = most - measure(remainder(sorted, naming)) - measure(starting);
  if (left < 0) return '';
  const lines: IndexLine[] = [];
  const missing: CatalogServer[] = [];
  for (const server of sorted) {
    const line = new IndexLine(server, naming);
    const cost = line.name.length > MAX_PATH_CHARACTERS ? Number.POSITIVE_INFINITY : measure(line.text());
    if (cost > left) missing.push(server);
    else {
      left -= cost;
      lines.push(line);
    }
  }
  left -= addWords(lines, left / 2, measure);
  const [small, large] = [lines.filter((line) => !line.isLarge), lines.filter((line) => line.isLarge)];
  left -= addToolNames(small, left, measure);
  left -= addParameters(small, left, measure);
  left -= addToolNames(large, left, measure);
  addParameters(large, left, measure);
  const texts = lines.map((line) => line.text());
  if (missing.length > 0) texts.push(remainder(missing, naming));
  return `${texts.join('')}${starting}`;
}

/** Its tools are not known yet, so that it has only a name to show. */
function isUnknown({ isStarting, tools }: CatalogServer): boolean {
  return isStarting === true && tools.length === 0;
}

/** One line for all servers whose tools are not known yet: `- starting (import one, the run waits for it): a, b`. */
function startingLine(servers: readonly CatalogServer[], naming: IndexNaming, most: number, measure: Measure): string {
  const names = servers
    .map((server) => naming.serverName(server))
    .filter((name) => name.length <= MAX_PATH_CHARACTERS)
    .sort(compareCodePoints);
  const line = (shown: readonly string[]) => {
    const more = servers.length - shown.length;
    return `- starting (${naming.use}, the run waits for it): ${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}\n`;
  };
  let shown = names;
  while (shown.length > 0 && measure(line(shown)) > most) shown = shown.slice(0, Math.floor(shown.length * 0.9));
  return shown.length === 0 ? '' : line(shown);
}

/** A tool's export name with invisible letters as escapes, which mean the same in a program. */
export function visibleName({ exportName }: CatalogTool): string {
  return quoteVisibly(exportName).slice(1, -1);
}

/** Longer paths are left out: a cut path is useless. */
const MAX_PATH_CHARACTERS = 100;
const MAX_NAME_CHARACTERS = 100;
const WORDS_CHARACTERS = [160, 80, 40] as const;

class IndexLine {
  readonly name: string;
  readonly #server: CatalogServer;
  readonly #naming: IndexNaming;
  readonly #tools: readonly CatalogTool[];
  readonly #shown: CatalogTool[] = [];
  readonly #names: string[] = [];
  #words = '';

  constructor(server: CatalogServer, naming: IndexNaming) {
    this.#server = server;
    this.#naming = naming;
    this.name = naming.serverName(server);
    this.#tools = readingFirst(server.tools);
  }

  text(): string {
    const { tools, isAvailable, isStarting } = this.#server;
    const state = isStarting === true ? ', starting' : isAvailable ? '' : ', not available now';
    const head = `- ${this.name} (${tools.length}${state})${this.#words}`;
    if (this.#names.length === 0) return `${head}\n`;
    const more = tools.length - this.#names.length;
    const names = this.#names.map((name, index) => `${name}${markOf(this.#shown[index])}`);
    return `${head}: ${names.join(', ')}${more === 0 ? '' : `, and ${more} more`}\n`;
  }

  /** The server's own description in quotes, and the topics of its tools if they are too many to be named. */
  describe(maximumCharacters: number): string {
    const { name, description = '', path } = this.#server;
    const isSaid = bareName(path).includes(bareName(name));
    const said = firstSentence(description.slice(0, MAX_SOURCE)).replace(/^#+\s*/, '');
    // A heading that repeats the name is useless.
    const isName = bareName(path).includes(bareName(said)) || bareName(name).includes(bareName(said));
    const text = [isSaid ? '' : name.slice(0, MAX_SOURCE), isName ? '' : said];
    const line = commentLine(text.filter((each) => each !== '').join(': '), maximumCharacters);
    // A tag at the beginning is escaped with a backslash, which only a comment needs.
    const words = line === '' ? '' : ` ${quoteVisibly(line.replace(/^\\@/, '@'))}`;
    if (!this.isLarge) return words;
    const topics = topicsOf(this.#server, Math.max(1, Math.floor(maximumCharacters / 20)));
    return topics.length < 2 ? words : `${words} about ${topics.join(', ')}`;
  }

  /** Whether a line of names would show a few of its tools and hide the purpose of the others. */
  get isLarge(): boolean {
    return isLargeServer(this.#server);
  }

  setWords(words: string): void {
    this.#words = words;
  }

  toolAt(index: number): CatalogTool | undefined {
    return this.#tools[index];
  }

  /** The cost of naming it, including its mark. */
  costOf(tool: CatalogTool, measure: Measure): number {
    return measure(`, ${this.#naming.toolName(tool)}${markOf(tool)}`);
  }

  nameOf(tool: CatalogTool): string {
    return this.#naming.toolName(tool);
  }

  add(tool: CatalogTool): void {
    this.#shown.push(tool);
    this.#names.push(this.nameOf(tool));
  }

  shownAt(index: number): CatalogTool | undefined {
    return this.#shown[index];
  }

  addParameters(index: number, parameters: string): void {
    this.#names[index] += parameters;
  }
}

/** The mark after the name of a tool whose calls need approval, as in its doc comment. */
function markOf(tool: CatalogTool | undefined): string {
  return tool?.asks === true ? ' @asks' : '';
}

/** Servers with more tools than this are described by topics first. */
const MAX_NAMED_FIRST = 12;

export function isLargeServer({ tools }: CatalogServer): boolean {
  return tools.length > MAX_NAMED_FIRST;
}

/** `mcp-sqlite-server` as `sqlite`. The rest shows whether a name adds anything to the path. */
function bareName(name: string): string {
  return name
    .slice(0, MAX_SOURCE)
    .toLowerCase()
    .replace(/mcp|servers?|[^a-z0-9]/g, '');
}

/** The part of an upstream's text that is read: enough for the longest line after escapes are removed. */
const MAX_SOURCE = 2_000;

function addWords(lines: readonly IndexLine[], most: number, measure: Measure): number {
  for (const characters of WORDS_CHARACTERS) {
    const words = lines.map((line) => line.describe(characters));
    const cost = measure(words.join(''));
    if (cost > most) continue;
    lines.forEach((line, index) => {
      line.setWords(words[index] as string);
    });
    return cost;
  }
  return 0;
}

function addToolNames(lines: readonly IndexLine[], most: number, measure: Measure): number {
  const started = new Set<IndexLine>();
  const start = measure(': , and 100000 more');
  return dealOut(lines, most, (line, index) => {
    const tool = line.toolAt(index);
    if (tool === undefined) return undefined;
    const name = line.nameOf(tool);
    if (name.length > MAX_NAME_CHARACTERS) return { cost: 0, take: () => undefined };
    const take = () => {
      started.add(line);
      line.add(tool);
    };
    return { cost: line.costOf(tool, measure) + (started.has(line) ? 0 : start), take };
  });
}

function addParameters(lines: readonly IndexLine[], most: number, measure: Measure): number {
  return dealOut(lines, most, (line, index) => {
    const tool = line.shownAt(index);
    if (tool === undefined) return undefined;
    const parameters = parametersOf(tool);
    return { cost: measure(parameters), take: () => line.addParameters(index, parameters) };
  });
}

/** Gives each line its first item, then each its second, until all items are placed or the next is too expensive. Returns the cost. */
function dealOut(
  lines: readonly IndexLine[],
  most: number,
  itemOf: (line: IndexLine, index: number) => { readonly cost: number; readonly take: () => void } | undefined,
): number {
  let spent = 0;
  let open = lines;
  for (let index = 0; open.length > 0; index += 1) {
    open = open.filter((line) => {
      const item = itemOf(line, index);
      if (item === undefined || spent + item.cost > most) return false;
      spent += item.cost;
      item.take();
      return true;
    });
  }
  return spent;
}

/** `(owner, repo, state?)`, `(…)` for an input that is more than its properties, or nothing if the names are not plain. */
export function parametersOf({ tool }: CatalogTool): string {
  const { properties, required, type = 'object', ...more } = tool.inputSchema ?? {};
  const names = isJsonObject(properties) ? Object.keys(properties).slice(0, MAX_PARAMETERS + 1) : [];
  if (names.length === 0 && (type !== 'object' || OTHER_FORMS.some((keyword) => isGiven(more[keyword])))) return '(…)';
  if (!names.every((name) => PLAIN_PARAMETER.test(name))) return '';
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const shown = [
    ...names.filter(isRequired),
    ...names.filter((name) => !isRequired(name)).map((name) => `${name}?`),
  ].slice(0, MAX_PARAMETERS);
  return `(${shown.join(', ')}${names.length > MAX_PARAMETERS ? ', …' : ''})`;
}

/** Keywords that describe the input without `properties`. */
const OTHER_FORMS = ['anyOf', 'oneOf', 'allOf', '$ref', 'patternProperties', 'additionalProperties'] as const;

function isGiven(value: JsonValue | undefined): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null && Object.keys(value).length > 0);
}

const MAX_PARAMETERS = 12;
const PLAIN_PARAMETER = /^[A-Za-z_$][\w$]{0,39}$/;

function toolsOf(servers: readonly CatalogServer[]): number {
  return servers.reduce((sum, { tools }) => sum + tools.length, 0);
}

function remainder(servers: readonly CatalogServer[], { rest }: IndexNaming): string {
  return `- and ${servers.length} more servers with ${toolsOf(servers)} tools${rest}\n`;
}
