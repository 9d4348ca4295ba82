import { createHash } from 'node:crypto';
import type { SourcePosition } from '../domain/execution.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { Tool } from '../domain/tool.js';
import type { ToolReply } from '../domain/upstream.js';
import { visibleLine } from '../lib/visible-text.js';
import { argumentFor, splitArguments } from './paging-arguments.js';
import { type PartialMark, partialMarkOf } from './partial-mark.js';

/** Answers of one tool that said there is more, where the program never asked for it. */
export interface PartialAnswer {
  /** `server/tool`. */
  readonly tool: string;
  /** What in the answer said so. */
  readonly field: string;
  /** Whether that field is what the next call has to be given. */
  readonly isNext: boolean;
  /** The argument of the tool that seems to take it. */
  readonly argument?: string;
  /** Where in the program the first of these calls was made. */
  readonly position?: SourcePosition;
  /** How many such answers there were, about different things. */
  readonly count: number;
}

/** Calls of a tool that differ only in the part that they ask for. */
interface Series {
  /** `server/tool`. */
  readonly name: string;
  /** Digests of the parts: more than one, and the program goes through pages. */
  readonly parts: Set<string>;
  mark: SeriesMark | undefined;
}

/** The first answer of a series that said there is more. */
interface SeriesMark extends Omit<PartialAnswer, 'tool' | 'count'> {
  /** Texts by which the next call would be known. */
  readonly cursors: readonly string[];
  position?: SourcePosition;
}

/** What is written down of a run that is suspended: the answers that it has not gone on from. */
export interface PartialSoFar {
  readonly series: readonly {
    readonly key: string;
    readonly name: string;
    readonly parts: readonly string[];
    readonly mark: SeriesMark;
  }[];
  /** Of the texts in these marks, those that a call was given. */
  readonly used: readonly string[];
}

/** Beyond these, calls are not watched. */
const MAX_SERIES = 1_000;
const MAX_CURSORS = 1_000;
const MAX_PARTS = 4;
/** Of a run that is suspended. */
const MAX_KEPT_SERIES = 100;
/** Larger arguments are not looked at. */
const MAX_INPUT_CHARACTERS = 20_000;

/** Notes which answers of a run were only a part, and forgets those that the program went on from. */
export class PartialAnswers {
  readonly #series: Map<string, Series>;
  /** Texts with which answers said how to go on, and whether a call was given them. */
  readonly #cursors = new Map<string, boolean>();
  /** Tools whose first such call was asked for its place. */
  readonly #placed: Set<string>;

  /** `soFar`: of a run that was suspended. */
  constructor(soFar?: PartialSoFar) {
    const known = soFar?.series ?? [];
    this.#series = new Map(known.map(({ key, name, parts, mark }) => [key, { name, parts: new Set(parts), mark }]));
    this.#placed = new Set(known.map(({ name }) => name));
    for (const { mark } of known) for (const text of mark.cursors) this.#cursors.set(text, false);
    for (const text of soFar?.used ?? []) this.#cursors.set(text, true);
  }

  /** Looks at one answer. Gives back how to say where the call was made, where that is worth asking. */
  note(
    serverPath: string,
    tool: Tool,
    input: JsonValue | undefined,
    reply: ToolReply,
  ): ((position: SourcePosition | undefined) => void) | undefined {
    const args = isObject(input) ? input : {};
    if (JSON.stringify(args).length > MAX_INPUT_CHARACTERS) return undefined;
    const used = textsIn(args).filter((text) => this.#cursors.has(text));
    for (const text of used) this.#cursors.set(text, true);
    const { subject, part } = splitArguments(args);
    const key = digestOf([serverPath, tool.name, subject]);
    let series = this.#series.get(key);
    if (series === undefined) {
      if (this.#series.size >= MAX_SERIES) return undefined;
      series = { name: visibleLine(`${serverPath}/${tool.name}`), parts: new Set(), mark: undefined };
      this.#series.set(key, series);
    }
    if (series.parts.size < MAX_PARTS) series.parts.add(digestOf(part));
    const found = partialMarkOf(reply);
    const mark = found === undefined ? undefined : seriesMark(tool, found);
    if (this.#cursors.size < MAX_CURSORS)
      for (const text of mark?.cursors ?? []) if (!this.#cursors.has(text)) this.#cursors.set(text, false);
    // Who follows a cursor knows that there are pages, and may stop where it likes.
    if (mark === undefined || used.length > 0 || series.mark !== undefined) return undefined;
    series.mark = mark;
    // Only the first place of a tool is told, and asking takes the program's worker a moment.
    if (this.#placed.has(series.name)) return undefined;
    this.#placed.add(series.name);
    return (position) => {
      if (position !== undefined) mark.position = position;
    };
  }

  /** One for each tool, in the order of their first calls. */
  list(): PartialAnswer[] {
    const found = new Map<string, PartialAnswer>();
    for (const { name, parts, mark } of this.#series.values()) {
      if (mark === undefined || parts.size > 1 || this.#wasUsed(mark)) continue;
      const { cursors: _, ...told } = mark;
      const known = found.get(name) ?? { tool: name, ...told, count: 0 };
      found.set(name, { ...known, count: known.count + 1 });
    }
    return [...found.values()];
  }

  get soFar(): PartialSoFar {
    const series = [...this.#series].flatMap(([key, { name, parts, mark }]) =>
      mark === undefined ? [] : [{ key, name, parts: [...parts], mark }],
    );
    const kept = series.slice(0, MAX_KEPT_SERIES);
    const used = kept.flatMap(({ mark }) => mark.cursors.filter((text) => this.#cursors.get(text) === true));
    return { series: kept, used };
  }

  #wasUsed({ cursors }: SeriesMark): boolean {
    return cursors.some((text) => this.#cursors.get(text) === true);
  }
}

function seriesMark(tool: Tool, { field, next }: PartialMark): SeriesMark {
  const isNext = next !== undefined;
  const argument = argumentFor(tool, field, isNext);
  return {
    field,
    isNext,
    ...(argument === undefined ? {} : { argument }),
    cursors: next === undefined ? [] : textsIn(next),
  };
}

const MAX_TEXTS = 100;
const MAX_VISITS = 2_000;
/** Shorter ones (`2`) are in arguments of every kind. */
const MIN_CURSOR_CHARACTERS = 4;
/** Of longer ones the beginning is compared. */
const MAX_CURSOR_CHARACTERS = 500;

/** Texts at any depth that may be cursors. */
function textsIn(value: JsonValue): string[] {
  const found: string[] = [];
  const open: JsonValue[] = [value];
  for (let visits = 0; open.length > 0 && visits < MAX_VISITS && found.length < MAX_TEXTS; visits++) {
    const each = open.pop() as JsonValue;
    if (typeof each === 'string') {
      if (each.length >= MIN_CURSOR_CHARACTERS) found.push(each.slice(0, MAX_CURSOR_CHARACTERS));
    } else if (each !== null && typeof each === 'object') open.push(...Object.values(each).slice(0, MAX_TEXTS));
  }
  return found;
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
