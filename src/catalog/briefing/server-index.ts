import { isJsonObject, type JsonValue } from '../../domain/json.js';
import { quoteVisibly } from '../../lib/text/visible-text.js';
import { commentLine, firstSentence } from '../declarations/doc-comment.js';
import { compareCodePoints } from '../names.js';
import type { CatalogServer, CatalogTool } from '../snapshot.js';
import { topicsOf } from './topics.js';

/** How the room is measured: in tokens for a model's context, in characters for a client that cuts. */
export type Measure = (text: string) => number;

/** Under which names servers and tools are listed, and how an agent finds those that are not. */
export interface IndexNaming {
  serverName(server: CatalogServer): string;
  toolName(tool: CatalogTool): string;
  /** How a program uses a server whose tools are not known yet. */
  readonly use: string;
  /** Ends the line that counts what was left out. */
  readonly rest: string;
}

/** As a program imports them. */
const AS_IMPORTED: IndexNaming = {
  serverName: ({ path }) => path,
  toolName: visibleName,
  use: 'import it',
  rest: ': await listServers() of @codemode/discovery names them',
};

/** As the user and the servers call them. A name that is not plain stands as programs import it: both are understood. */
export const AS_CONFIGURED: IndexNaming = {
  serverName: ({ id, path }) => (PLAIN_NAME.test(id) ? id : path),
  toolName: (tool) => (PLAIN_NAME.test(tool.tool.name) ? tool.tool.name : visibleName(tool)),
  use: 'call it',
  rest: '',
};

const PLAIN_NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;

/** In how many runs servers (by path) were used before. */
export type UsedBefore = ReadonlyMap<string, number>;

/**
 * Those used before first, then small ones: they are the ones a user has chosen for a purpose, and their lines say all of
 * them. Counts within a factor of two are alike, so that a few runs do not change a text that clients cache.
 */
export function byUsefulness<Server extends Pick<CatalogServer, 'path' | 'tools'>>(
  servers: readonly Server[],
  used: UsedBefore = new Map(),
): Server[] {
  const rank = ({ path }: Server) => Math.floor(Math.log2(1 + (used.get(path) ?? 0)));
  // One that is down or still starting has nothing to offer yet.
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
 * One line per server: path, number of tools, its own words in quotes or what its tools are about, and names of tools.
 * Never larger than `most`: first every server gets its bare line, then, if half of the rest is enough, all get their words,
 * then tool names and at last their parameters are dealt out in turn, small servers first: a few names of many say less
 * than what they are about. What is left out is counted. Lines and names are whole or absent.
 */
export function serverIndex(
  servers: readonly CatalogServer[],
  most: number,
  measure: Measure,
  naming: IndexNaming = AS_IMPORTED,
  used?: UsedBefore,
): string {
  const sorted = byUsefulness(servers, used);
  let left = most - measure(remainder(sorted, naming));
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
  return texts.join('');
}

/** A tool's export name with invisible letters as escapes, which mean the same in a program. */
export function visibleName({ exportName }: CatalogTool): string {
  return quoteVisibly(exportName).slice(1, -1);
}

/** Longer ones are left out: a path is of no use when it is cut. */
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
    this.#tools = [...server.tools].sort((left, right) => compareCodePoints(left.tool.name, right.tool.name));
  }

  text(): string {
    const { tools, isAvailable, isStarting } = this.#server;
    const known = `${tools.length}${isAvailable ? '' : ', not available now'}`;
    const state = isStarting === true ? `starting: ${this.#naming.use}, the run waits for it` : known;
    const head = `- ${this.name} (${state})${this.#words}`;
    if (this.#names.length === 0) return `${head}\n`;
    const more = tools.length - this.#names.length;
    const names = this.#names.map((name, index) => `${name}${markOf(this.#shown[index])}`);
    return `${head}: ${names.join(', ')}${more === 0 ? '' : `, and ${more} more`}\n`;
  }

  /** What the server says of itself, in quotes, and what its tools are about where they are too many to be named. */
  describe(maximumCharacters: number): string {
    const { name, description = '', path } = this.#server;
    const isSaid = bareName(path).includes(bareName(name));
    const said = firstSentence(description.slice(0, MAX_SOURCE)).replace(/^#+\s*/, '');
    // A heading that is the name again says nothing.
    const isName = bareName(path).includes(bareName(said)) || bareName(name).includes(bareName(said));
    const text = [isSaid ? '' : name.slice(0, MAX_SOURCE), isName ? '' : said];
    const line = commentLine(text.filter((each) => each !== '').join(': '), maximumCharacters);
    // A tag at the beginning has a backslash, which only a comment needs.
    const words = line === '' ? '' : ` ${quoteVisibly(line.replace(/^\\@/, '@'))}`;
    if (!this.isLarge) return words;
    const topics = topicsOf(this.#server, Math.max(1, Math.floor(maximumCharacters / 20)));
    return topics.length < 2 ? words : `${words} about ${topics.join(', ')}`;
  }

  /** A line of names would show a few of its tools and hide what the others are for. */
  get isLarge(): boolean {
    return isLargeServer(this.#server);
  }

  setWords(words: string): void {
    this.#words = words;
  }

  toolAt(index: number): CatalogTool | undefined {
    return this.#tools[index];
  }

  /** What naming it takes, its mark included. */
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

/** Behind the name of a tool whose calls wait for a person, as in its doc comment. */
function markOf(tool: CatalogTool | undefined): string {
  return tool?.asks === true ? ' @asks' : '';
}

/** Servers with more tools than this are named by what they are about first. */
const MAX_NAMED_FIRST = 12;

export function isLargeServer({ tools }: CatalogServer): boolean {
  return tools.length > MAX_NAMED_FIRST;
}

/** `mcp-sqlite-server` as `sqlite`: what is left says whether a name says more than the path. */
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

/** Gives each line its first item, then each its second, until all have all or the next is too dear. Says what it cost. */
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

/** `(owner, repo, state?)`, `(…)` for an input that is more than its properties, or nothing where the names are not plain ones. */
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

/** Keywords that say what is given where `properties` does not. */
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
