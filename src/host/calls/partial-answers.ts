import { hash } from 'node:crypto';
import { isJsonObject, type JsonValue } from '../../domain/json.js';
import type { CallNumber, SourcePosition } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import type { ToolReply } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import { fullPageOf, isWhatWasAskedFor } from './full-page.js';
import { argumentFor, subjectOf } from './paging-arguments.js';
import { type PartialMark, partialMarkOf } from './partial-mark.js';

/** Paginated answers of one tool whose next page the program never requested. */
export interface PartialAnswer {
  /** `server/tool`. */
  readonly tool: string;
  /** The field of the answer that shows there is more. */
  readonly field: string;
  /** Whether the next call has to pass that field's value. */
  readonly isNext: boolean;
  /** The answer does not say that there is more: it only has exactly one page of rows. */
  readonly isGuess?: true;
  /** The argument of the tool that seems to take the value. */
  readonly argument?: string;
  /** Where the program made the first of these calls. */
  readonly position?: SourcePosition;
  /** The number of that call in the program, counted from 1. */
  readonly call: CallNumber;
  /** The number of such answers, about different subjects. */
  readonly count: number;
}

/** Calls of a tool that differ only in the requested part. */
interface Series {
  /** `server/tool`. */
  readonly name: string;
  /** Digests of the arguments. More than one means that the program pages through the parts. */
  readonly parts: Set<string>;
  /** From the last answer that said there is more. */
  mark: SeriesMark | undefined;
  /** One of the pages was the last one. */
  sawEnd: boolean;
}

/** An answer of a series that said there is more. */
interface SeriesMark extends Omit<PartialAnswer, 'tool' | 'count'> {
  /** Texts that identify the next call. */
  readonly cursors: readonly string[];
}

/** Stored with a suspended run: paginated answers whose next page it has not requested. */
export interface PartialSoFar {
  readonly series: readonly {
    readonly key: string;
    readonly name: string;
    readonly parts: readonly string[];
    readonly mark: SeriesMark;
    readonly sawEnd?: boolean;
  }[];
  /** The texts of these marks that a call has used. */
  readonly used: readonly string[];
}

/** Further calls are not tracked. */
const MAX_SERIES = 1_000;
const MAX_CURSORS = 1_000;
const MAX_PARTS = 2;
/** Limit for a suspended run. */
const MAX_KEPT_SERIES = 100;
/** Larger arguments are skipped. */
const MAX_INPUT_CHARACTERS = 20_000;

/** Tracks paginated answers of a run whose next page the program has not requested. */
export class PartialAnswers {
  readonly #series: Map<string, Series>;
  /** Cursors found in answers, and whether a later call has used them. */
  readonly #cursors = new Map<string, boolean>();
  /** By tool, the position of its first such call, once it was looked up. */
  readonly #placed: Map<string, SourcePosition | undefined>;

  /** `soFar`: the state of a resumed run. */
  constructor(soFar?: PartialSoFar) {
    const known = soFar?.series ?? [];
    this.#series = new Map(
      known.map(({ key, name, parts, mark, sawEnd = false }) => [key, { name, parts: new Set(parts), mark, sawEnd }]),
    );
    this.#placed = new Map(known.map(({ name, mark }) => [name, mark.position]));
    for (const { mark } of known) for (const text of mark.cursors) this.#cursors.set(text, false);
    for (const text of soFar?.used ?? []) this.#cursors.set(text, true);
  }

  /** Inspects one answer. Returns a setter for the call's source position, if that position is worth looking up. */
  note(
    serverPath: string,
    tool: Tool,
    call: { readonly number: CallNumber; readonly input: JsonValue | undefined },
    reply: ToolReply,
  ): ((position: SourcePosition | undefined) => void) | undefined {
    const args = isJsonObject(call.input) ? call.input : {};
    if (JSON.stringify(args).length > MAX_INPUT_CHARACTERS) return undefined;
    for (const text of textsIn(args)) if (this.#cursors.has(text)) this.#cursors.set(text, true);
    const key = digestOf([serverPath, tool.name, subjectOf(args)]);
    let series = this.#series.get(key);
    if (series === undefined) {
      if (this.#series.size >= MAX_SERIES) return undefined;
      series = { name: visibleLine(`${serverPath}/${tool.name}`), parts: new Set(), mark: undefined, sawEnd: false };
      this.#series.set(key, series);
    }
    if (series.parts.size < MAX_PARTS) series.parts.add(digestOf(args));
    const found = partialMarkOf(reply) ?? fullPageOf(tool, args, reply);
    // Neither a page that was missed nor the last one.
    if (found !== undefined && isWhatWasAskedFor(tool, args, reply, found)) return undefined;
    const mark = found === undefined ? undefined : seriesMark(tool, found, call.number);
    if (this.#cursors.size < MAX_CURSORS)
      for (const text of mark?.cursors ?? []) if (!this.#cursors.has(text)) this.#cursors.set(text, false);
    if (mark === undefined) {
      // Pages may arrive in any order: one last page is enough.
      series.sawEnd = true;
      return undefined;
    }
    series.mark = mark;
    // Only the first position for each tool is reported, and looking it up interrupts the program's worker.
    const { name } = series;
    if (this.#placed.has(name)) return undefined;
    this.#placed.set(name, undefined);
    return (position) => void this.#placed.set(name, position);
  }

  /** One entry for each tool, in the order of their first calls. */
  list(): PartialAnswer[] {
    const found = new Map<string, PartialAnswer>();
    for (const { name, parts, mark, sawEnd } of this.#series.values()) {
      if (mark === undefined || sawEnd || this.#wasUsed(mark)) continue;
      // Without a cursor it is unknown whether the requested parts are complete.
      if (parts.size > 1 && mark.cursors.length === 0) continue;
      const { cursors: _, ...told } = this.#withPlace(name, mark);
      const known = found.get(name) ?? { tool: name, ...told, count: 0 };
      found.set(name, { ...known, count: known.count + 1 });
    }
    return [...found.values()];
  }

  get soFar(): PartialSoFar {
    const series = [...this.#series].flatMap(([key, { name, parts, mark, sawEnd }]) =>
      mark === undefined ? [] : [{ key, name, parts: [...parts], mark: this.#withPlace(name, mark), sawEnd }],
    );
    const kept = series.slice(0, MAX_KEPT_SERIES);
    const used = kept.flatMap(({ mark }) => mark.cursors.filter((text) => this.#cursors.get(text) === true));
    return { series: kept, used };
  }

  #withPlace(name: string, mark: SeriesMark): SeriesMark {
    const position = this.#placed.get(name);
    return position === undefined ? mark : { ...mark, position };
  }

  #wasUsed({ cursors }: SeriesMark): boolean {
    return cursors.some((text) => this.#cursors.get(text) === true);
  }
}

function seriesMark(tool: Tool, { field, next, isGuess }: PartialMark, call: CallNumber): SeriesMark {
  const isNext = next !== undefined;
  const argument = argumentFor(tool, field, isNext);
  return {
    field,
    isNext,
    ...omitUndefined({ isGuess }),
    call,
    ...omitUndefined({ argument }),
    cursors: next === undefined ? [] : textsIn(next),
  };
}

const MAX_TEXTS = 100;
const MAX_VISITS = 2_000;
/** Shorter texts (`2`) occur in all kinds of arguments. */
const MIN_CURSOR_CHARACTERS = 4;
/** Only the beginning of longer texts is compared. */
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
  return hash('sha256', JSON.stringify(value), 'base64');
}
