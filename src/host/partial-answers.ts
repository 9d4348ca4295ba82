import { createHash } from 'node:crypto';
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
  /** How many such answers there were, about different things. */
  readonly count: number;
}

/** Calls of a tool that differ only in the part that they ask for. */
interface Series {
  readonly serverPath: string;
  readonly tool: Tool;
  /** Digests of the parts: more than one, and the program goes through pages. */
  readonly parts: Set<string>;
  mark: PartialMark | undefined;
}

/** Beyond these, calls are not watched. */
const MAX_SERIES = 1_000;
const MAX_CURSORS = 1_000;
const MAX_PARTS = 4;
/** Larger arguments are not looked at. */
const MAX_INPUT_CHARACTERS = 20_000;

/**
 * Notes which answers of a run were only a part, and forgets those that the program went on from. A run that was suspended starts
 * with an empty list: a warning may be missed then, and no more.
 */
export class PartialAnswers {
  readonly #series = new Map<string, Series>();
  /** Texts with which answers said how to go on, and whether a call was given them. */
  readonly #cursors = new Map<string, boolean>();

  note(serverPath: string, tool: Tool, input: JsonValue | undefined, reply: ToolReply): void {
    const args = isObject(input) ? input : {};
    if (JSON.stringify(args).length > MAX_INPUT_CHARACTERS) return;
    const used = textsIn(args).filter((text) => this.#cursors.has(text));
    for (const text of used) this.#cursors.set(text, true);
    const { subject, part } = splitArguments(args);
    const key = digestOf([serverPath, tool.name, subject]);
    let series = this.#series.get(key);
    if (series === undefined) {
      if (this.#series.size >= MAX_SERIES) return;
      series = { serverPath, tool, parts: new Set(), mark: undefined };
      this.#series.set(key, series);
    }
    if (series.parts.size < MAX_PARTS) series.parts.add(digestOf(part));
    const mark = partialMarkOf(reply);
    if (mark?.next !== undefined && this.#cursors.size < MAX_CURSORS)
      for (const text of textsIn(mark.next)) if (!this.#cursors.has(text)) this.#cursors.set(text, false);
    // Who follows a cursor knows that there are pages, and may stop where it likes.
    if (used.length === 0) series.mark ??= mark;
  }

  /** One for each tool, in the order of their first calls. */
  list(): PartialAnswer[] {
    const found = new Map<string, PartialAnswer>();
    for (const { serverPath, tool, parts, mark } of this.#series.values()) {
      if (mark === undefined || parts.size > 1 || this.#wasUsed(mark)) continue;
      const name = visibleLine(`${serverPath}/${tool.name}`);
      const known = found.get(name) ?? partialAnswer(name, tool, mark);
      found.set(name, { ...known, count: known.count + 1 });
    }
    return [...found.values()];
  }

  #wasUsed({ next }: PartialMark): boolean {
    return next !== undefined && textsIn(next).some((text) => this.#cursors.get(text) === true);
  }
}

function partialAnswer(name: string, tool: Tool, { field, next }: PartialMark): PartialAnswer {
  const isNext = next !== undefined;
  const argument = argumentFor(tool, field, isNext);
  return { tool: name, field, isNext, ...(argument === undefined ? {} : { argument }), count: 0 };
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
