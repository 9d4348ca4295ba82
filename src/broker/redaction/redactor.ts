import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { ToolReply } from '../../domain/upstream.js';
import { Slices } from '../../lib/async/slices.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { MIN_SECRET_CHARACTERS } from '../../lib/secrets/secret-values.js';
import { markedNumber, withMarkedNumbers, withNumbers } from '../../lib/text/exact-numbers.js';
import { mayHoldCard } from './cards.js';
import { type Depth, Finder, type FinderOptions, PART_CHARACTERS } from './finder.js';
import { isSecretField } from './named-secrets.js';
import type { Span } from './span.js';

/** The number of redactions, by kind. */
export type RedactionCounts = Record<string, number>;

/** A value that is nested deeper is not passed on: nobody writes such data, and walking it would overflow the stack. */
const MAX_DEPTH = 1_000;

/**
 * Replaces credentials in everything on its way to a program, a model, a log or a record by `[redacted:KIND]`. This is the last
 * of several layers: programs are never given a secret in the first place. It is for upstreams that echo what they were given.
 */
export class Redactor {
  readonly #options: FinderOptions;
  readonly #spans: HiddenSpans;
  /** How often each secret was added. */
  readonly #secrets = new Map<string, number>();
  #finder: Finder | undefined;

  constructor(secrets: Iterable<string>, options: FinderOptions, spans: HiddenSpans = EVERYTHING) {
    this.#options = options;
    this.#spans = spans;
    for (const secret of secrets) this.add(secret);
  }

  /** The same secrets with a wider search: also secrets recognised by their name and, on request, personal data. */
  forOutput({ personalData }: { readonly personalData: boolean }): Redactor {
    const people = personalData ? { cards: true, cardNumbers: true, emails: true, phones: true, accounts: true } : {};
    return new Redactor(this.#secrets.keys(), { ...this.#options, patterns: true, named: true, ...people });
  }

  /** The same secrets, with another choice of what is hidden and how it is shown. */
  withSpans(spans: HiddenSpans): Redactor {
    return new Redactor(this.#secrets.keys(), this.#options, spans);
  }

  /** Redacts this secret from now on. Values that are too short to tell from ordinary text are ignored. */
  add(secret: string): void {
    if (secret.length < MIN_SECRET_CHARACTERS) return;
    const count = this.#secrets.get(secret) ?? 0;
    this.#secrets.set(secret, count + 1);
    if (count === 0) this.#finder = undefined;
  }

  /** Reverts one `add`. */
  remove(secret: string): void {
    const count = this.#secrets.get(secret) ?? 0;
    if (count > 1) this.#secrets.set(secret, count - 1);
    else if (this.#secrets.delete(secret)) this.#finder = undefined;
  }

  text(text: string, counts?: RedactionCounts, depth: Depth = 'all'): string {
    return this.#without(this.#current().find(text, depth, this.#spans.mayHide), text, counts);
  }

  /** Like `text`, in slices if the text is long. */
  async textInSlices(
    text: string,
    counts?: RedactionCounts,
    depth: Depth = 'all',
    slices = new Slices(),
  ): Promise<string> {
    if (text.length <= PART_CHARACTERS) return this.text(text, counts, depth);
    const spans = await this.#current().findInSlices(text, depth, slices, this.#spans.mayHide);
    return this.#without(spans, text, counts);
  }

  /** Returns the same value if there is nothing to redact. Names of fields are searched like other texts. */
  value<Value extends JsonValue>(value: Value, counts?: RedactionCounts): Value {
    return this.#walk(value, undefined, counts ?? {}, 0) as Value;
  }

  /** For large values that rarely contain a secret: the value is serialized and searched as text first. */
  bulk<Value>(value: Value): Value {
    const finder = this.#current();
    if (!finder.hasExtra && !finder.hasAny(JSON.stringify(value))) return value;
    return this.value(value as JsonValue) as Value;
  }

  /** JSON text. It is searched as text, and parsed only if something is found. */
  json(json: string, counts?: RedactionCounts): string {
    const finder = this.#current();
    if (!finder.hasExtra && !finder.hasAny(json)) return json;
    const value = JSON.parse(withMarkedNumbers(json)) as JsonValue;
    const clean = this.value(value, counts);
    return clean === value ? json : withNumbers(JSON.stringify(clean));
  }

  /**
   * A tool's answer. Structured content is serialized once, here, and searched as text, which is ten times as fast as searching
   * each of its values; later stages that need the text reuse it. `json`: that text, if it exists already.
   */
  reply(reply: ToolReply, counts: RedactionCounts, json?: string): ToolReply {
    const finder = this.#current();
    const { content, ...rest } = reply;
    const { structuredContent, meta, rest: others } = rest;
    const clean: ToolReply = {
      content: this.value(content as JsonObject[], counts),
      ...rest,
      ...omitUndefined({
        meta: ifDefined(meta, (meta) => this.value(meta, counts)),
        rest: ifDefined(others, (others) => this.value(others, counts)),
      }),
    };
    if (structuredContent === undefined) return clean;
    if (reply.structuredJson !== undefined) {
      // The text may hold more than the value: integers that JavaScript rounds.
      const cleanJson = this.json(reply.structuredJson, counts);
      if (cleanJson === reply.structuredJson) return clean;
      return { ...clean, structuredJson: cleanJson, structuredContent: JSON.parse(cleanJson) as JsonValue };
    }
    const structuredJson = json ?? JSON.stringify(structuredContent);
    if (!finder.hasExtra && !finder.hasAny(structuredJson)) return { structuredJson, ...clean };
    const cleanContent = this.value(structuredContent, counts);
    return { ...clean, structuredContent: cleanContent, structuredJson: JSON.stringify(cleanContent) };
  }

  /** Like `json`, in slices if it is long. */
  async jsonInSlices(json: string, counts?: RedactionCounts): Promise<string> {
    if (json.length <= PART_CHARACTERS) return this.json(json, counts);
    const finder = this.#current();
    const slices = new Slices();
    if (!finder.hasExtra && !(await finder.hasAnyInSlices(json, slices))) return json;
    const value = JSON.parse(withMarkedNumbers(json)) as JsonValue;
    const clean = await this.#walkInSlices(value, undefined, counts ?? {}, 0, slices);
    return clean === value ? json : withNumbers(JSON.stringify(clean));
  }

  /** Like `reply`, in slices if it is long: a result of 30 MB would block all other work for seconds. */
  async replyInSlices(reply: ToolReply, counts: RedactionCounts): Promise<ToolReply> {
    const { structuredContent, structuredJson: exact, ...rest } = reply;
    const structuredJson = structuredContent === undefined ? '' : (exact ?? JSON.stringify(structuredContent));
    const textLength = rest.content.reduce((sum, { text, data }) => sum + lengthOf(text) + lengthOf(data), 0);
    if (textLength + structuredJson.length <= PART_CHARACTERS)
      return this.reply(reply, counts, structuredContent === undefined ? undefined : structuredJson);
    const finder = this.#current();
    const slices = new Slices();
    const walk = (value: JsonValue) => this.#walkInSlices(value, undefined, counts, 0, slices);
    const { meta, rest: others } = rest;
    const clean: ToolReply = {
      ...rest,
      content: (await walk(rest.content as JsonObject[])) as JsonObject[],
      ...omitUndefined({ meta: ifDefined(meta, (meta) => this.value(meta, counts)) }),
      ...(others === undefined ? {} : { rest: (await walk(others)) as JsonObject }),
    };
    if (structuredContent === undefined) return clean;
    if (!finder.hasExtra && !(await finder.hasAnyInSlices(structuredJson, slices)))
      return { ...clean, structuredContent, structuredJson };
    if (exact !== undefined) {
      const cleanJson = await this.jsonInSlices(exact, counts);
      const isSame = cleanJson === exact;
      return {
        ...clean,
        structuredJson: cleanJson,
        structuredContent: isSame ? structuredContent : (JSON.parse(cleanJson) as JsonValue),
      };
    }
    const cleanContent = await walk(structuredContent);
    return { ...clean, structuredContent: cleanContent, structuredJson: JSON.stringify(cleanContent) };
  }

  /** The text with each span replaced. */
  #without(spans: readonly Span[], text: string, counts: RedactionCounts | undefined): string {
    if (spans.length === 0) return text;
    let result = '';
    let from = 0;
    for (const { start, end, kind } of spans) {
      result += `${text.slice(from, start)}${this.#spans.write(text.slice(start, end), kind)}`;
      from = end;
      if (counts !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return result + text.slice(from);
  }

  #current(): Finder {
    this.#finder ??= new Finder(this.#secrets.keys(), this.#options);
    return this.#finder;
  }

  #walk(value: JsonValue, name: string | undefined, counts: RedactionCounts, depth: number): JsonValue {
    const digits = typeof value === 'string' ? markedNumber(value) : undefined;
    if (digits !== undefined) {
      const clean = this.text(digits, counts, 'known');
      return clean === digits ? value : clean;
    }
    if (typeof value === 'string') {
      if (this.#options.named === true && value !== '' && name !== undefined && isSecretField(name, value)) {
        const span = { start: 0, end: value.length, kind: 'secret' };
        if (this.#spans.mayHide?.(value, span) !== false) {
          counts.secret = (counts.secret ?? 0) + 1;
          return this.#spans.write(value, span.kind);
        }
      }
      return this.text(value, counts, mayHoldCard(name) ? 'all' : 'no-cards');
    }
    if (typeof value === 'number') return this.#number(value, name, counts);
    if (value === null || typeof value !== 'object') return value;
    if (depth > MAX_DEPTH) return this.#spans.tooDeep();
    if (Array.isArray(value)) {
      let copy: JsonValue[] | undefined;
      for (const [index, item] of value.entries()) {
        const clean = this.#walk(item, name, counts, depth + 1);
        if (clean !== item && copy === undefined) copy = value.slice(0, index);
        copy?.push(clean);
      }
      return copy ?? value;
    }
    return this.#object(value as JsonObject, counts, depth);
  }

  /** Like `#walk`. Awaits only lists, objects and long texts. */
  async #walkInSlices(
    value: JsonValue,
    name: string | undefined,
    counts: RedactionCounts,
    depth: number,
    slices: Slices,
  ): Promise<JsonValue> {
    if (isShort(value) || depth > MAX_DEPTH) return this.#walk(value, name, counts, depth);
    if (typeof value === 'string') {
      const isNamed = this.#options.named === true && name !== undefined && isSecretField(name, value);
      if (isNamed || markedNumber(value) !== undefined) return this.#walk(value, name, counts, depth);
      return this.textInSlices(value, counts, mayHoldCard(name) ? 'all' : 'no-cards', slices);
    }
    const isList = Array.isArray(value);
    const isMedia = !isList && isMediaBlock(value as JsonObject);
    const taken = new Map<string, number>();
    const entries: [string, JsonValue][] = [];
    let isChanged = false;
    for (const [key, item] of isList ? value.entries() : Object.entries(value as JsonObject)) {
      const field = isList ? name : String(key);
      const cleanKey = isList ? '' : this.#name(String(key), counts, taken);
      const isData = isMedia && typeof item === 'string' && (key === 'data' || key === 'blob');
      const clean = isData
        ? await this.textInSlices(item, counts, 'known', slices)
        : isShort(item)
          ? this.#walk(item, field, counts, depth + 1)
          : await this.#walkInSlices(item, field, counts, depth + 1, slices);
      isChanged ||= clean !== item || (!isList && cleanKey !== key);
      entries.push([cleanKey, clean]);
      const rest = slices.rest();
      if (rest !== undefined) await rest;
    }
    if (!isChanged) return value;
    return isList ? entries.map(([, item]) => item) : Object.fromEntries(entries);
  }

  #object(value: JsonObject, counts: RedactionCounts, depth: number): JsonObject {
    const isMedia = isMediaBlock(value);
    let isChanged = false;
    const taken = new Map<string, number>();
    const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => {
      const cleanKey = this.#name(key, counts, taken);
      const clean =
        isMedia && typeof item === 'string' && (key === 'data' || key === 'blob')
          ? this.text(item, counts, 'known')
          : this.#walk(item, key, counts, depth + 1);
      isChanged ||= cleanKey !== key || clean !== item;
      return [cleanKey, clean];
    });
    // Not by assignment: a field may be named `__proto__`.
    return isChanged ? Object.fromEntries(entries) : value;
  }

  /** Keeps two names distinct if redaction makes them equal. */
  #name(name: string, counts: RedactionCounts, taken: Map<string, number>): string {
    const clean = this.text(name, counts, 'no-cards');
    if (clean === name) return name;
    const uses = (taken.get(clean) ?? 0) + 1;
    taken.set(clean, uses);
    return uses === 1 ? clean : `${clean} (${uses})`;
  }

  /** A secret of digits only may be a number, and so may a card. */
  #number(value: number, name: string | undefined, counts: RedactionCounts): JsonValue {
    if (!Number.isSafeInteger(value) || (value < 1e11 && value > -1e11)) return value;
    const isCard = this.#options.cardNumbers === true && mayHoldCard(name);
    const clean = this.text(String(value), counts, isCard ? 'all' : 'known');
    return clean === String(value) ? value : clean;
  }
}

/** Which matches are hidden, and what replaces them. */
export interface HiddenSpans {
  /** Absent: all matches. */
  readonly mayHide?: (text: string, span: Span) => boolean;
  readonly write: (hidden: string, kind: string) => string;
  readonly tooDeep: () => string;
}

/** For programs, models, logs and records: rather too much than too little. */
const EVERYTHING: HiddenSpans = {
  write: (_, kind) => `[redacted:${kind}]`,
  tooDeep: () => '[redacted:nested-too-deep]',
};

/** Redacted in one step. */
function isShort(value: JsonValue): boolean {
  return typeof value === 'string' ? value.length <= PART_CHARACTERS : value === null || typeof value !== 'object';
}

function lengthOf(value: JsonValue | undefined): number {
  return typeof value === 'string' ? value.length : 0;
}

/** Base64 of images and audio contains every short text somewhere, so only known secrets are searched for. */
function isMediaBlock({ type, mimeType, blob }: JsonObject): boolean {
  return type === 'image' || type === 'audio' || (typeof mimeType === 'string' && typeof blob === 'string');
}
