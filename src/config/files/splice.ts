import { Document, isMap, isPair, isScalar, type Node, type Pair, type YAMLMap } from 'yaml';
import type { JsonObject } from '../../domain/json.js';
import type { KeyPath } from './path.js';

/*
 * Edits of a map in a YAML or JSON text that leave every other letter in place. They only propose: the caller parses the result
 * again and compares.
 */

export interface NewServer {
  readonly name: string;
  readonly server: JsonObject;
  /** One comment line above it, in files that have comments. */
  readonly comment?: string;
}

interface Source {
  readonly text: string;
  readonly document: Document;
}

type Entry = Pair<Node, Node | null>;

export function insertedEntries(
  source: Source,
  path: KeyPath,
  added: readonly NewServer[],
  isJson: boolean,
): string | undefined {
  const { text, document } = source;
  const map = document.getIn(path, true);
  if (isMap(map)) {
    if (isJson || (map.flow === true && map.items.length > 0)) return insertIntoBraces(text, map, added);
    return map.flow === true ? insertInsteadOfBraces(text, map, added) : insertIntoBlock(text, map, added);
  }
  // The key is missing or has no value.
  if (path.length > 1 || (map !== undefined && map !== null && !(isScalar(map) && map.value === null)))
    return undefined;
  if (isJson) {
    const root = document.contents;
    return isMap(root) ? insertIntoBraces(text, root, [{ name: String(path[0]), server: mapOf(added) }]) : undefined;
  }
  const key = entriesOf(document.contents).find((entry) => isScalar(entry.key) && entry.key.value === path[0]);
  if (key === undefined) {
    const body = renderBlock(added, INDENT, INDENT);
    return `${text.trimEnd() === '' ? '' : withLineEnd(text)}${String(path[0])}:\n${body}`;
  }
  const lineEnd = endOfLine(text, endOf(key.key));
  return `${withLineEnd(text.slice(0, lineEnd))}${renderBlock(added, INDENT, INDENT)}${text.slice(lineEnd)}`;
}

export function removedEntry(source: Source, path: KeyPath, name: string, isJson: boolean): string | undefined {
  const { text, document } = source;
  const map = document.getIn(path, true);
  if (!isMap(map)) return undefined;
  const entries = entriesOf(map);
  const index = entries.findIndex(({ key }) => isScalar(key) && String(key.value) === name);
  const entry = entries[index];
  if (entry === undefined) return undefined;
  if (isJson || map.flow === true) return removeFromBraces(text, map, entries, index);
  const start = withoutOurComment(text, startOfLine(text, startOf(entry.key)));
  const end = endOfLine(text, lastLetter(text, entry));
  if (entries.length > 1) return text.slice(0, start) + text.slice(end);
  const colon = text.lastIndexOf(':', start);
  return `${text.slice(0, colon + 1)} {}${text.slice(colon + 1, start)}${text.slice(end)}`;
}

const INDENT = 2;

function insertIntoBlock(text: string, map: YAMLMap, added: readonly NewServer[]): string | undefined {
  const entries = entriesOf(map);
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const indent = columnOf(text, startOf(first.key));
  const inner = entriesOf(first.value)[0];
  const step =
    inner === undefined || (first.value as YAMLMap).flow === true
      ? INDENT
      : columnOf(text, startOf(inner.key)) - indent;
  const end = behindComments(text, endOfLine(text, lastLetter(text, last)), indent);
  return `${withLineEnd(text.slice(0, end))}${renderBlock(added, indent, step)}${text.slice(end)}`;
}

/** `mcpServers: {}` becomes a map over several lines. */
function insertInsteadOfBraces(text: string, map: YAMLMap, added: readonly NewServer[]): string {
  const [start, end] = [startOf(map), endOf(map)];
  const lineEnd = endOfLine(text, end);
  const rest = text.slice(end, lineEnd).trim();
  const head = `${text.slice(0, start).trimEnd()}${rest === '' ? '' : ` ${rest}`}\n`;
  return `${head}${renderBlock(added, INDENT, INDENT)}${text.slice(lineEnd)}`;
}

function renderBlock(added: readonly NewServer[], indent: number, step: number): string {
  const document = new Document(mapOf(added));
  for (const [index, { key }] of entriesOf(document.contents).entries()) {
    const comment = added[index]?.comment;
    if (comment !== undefined && isScalar(key)) key.commentBefore = ` ${comment}`;
  }
  const lines = document
    .toString({ lineWidth: 0, indent: Math.max(1, step) })
    .trimEnd()
    .split('\n');
  return `${lines.map((line) => (line === '' ? '' : `${' '.repeat(indent)}${line}`)).join('\n')}\n`;
}

function insertIntoBraces(text: string, map: YAMLMap, added: readonly NewServer[]): string | undefined {
  const closing = endOf(map) - 1;
  if (text[closing] !== '}') return undefined;
  const entries = entriesOf(map);
  const last = entries.at(-1);
  const outer = /^[ \t]*/.exec(text.slice(startOfLine(text, startOf(map))))?.[0] ?? '';
  const isOneLine = !text.slice(startOf(map), closing).includes('\n') && last !== undefined;
  const unit = outer.includes('\t') ? '\t' : '  ';
  const inner =
    last === undefined
      ? outer + unit
      : (/^[ \t]*/.exec(text.slice(startOfLine(text, startOf(last.key))))?.[0] ?? outer + unit);
  const rendered = added.map(({ name, server }) =>
    isOneLine
      ? ` ${JSON.stringify(name)}: ${JSON.stringify(server)}`
      : `\n${inner}${JSON.stringify(name)}: ${JSON.stringify(server, null, unit === '\t' ? '\t' : Math.max(2, inner.length - outer.length)).replaceAll('\n', `\n${inner}`)}`,
  );
  if (last === undefined)
    return `${text.slice(0, closing).trimEnd()}${rendered.join(',')}\n${outer}${text.slice(closing)}`;
  const after = lastLetter(text, last);
  const hasComma = /^\s*,/.test(text.slice(after, closing));
  // A comment after the last entry stays after it.
  const lineEnd = endOfLine(text, after) - 1;
  const place = lineEnd < closing ? lineEnd : after + (/^\s*,/.exec(text.slice(after, closing))?.[0].length ?? 0);
  const head = `${text.slice(0, after)}${hasComma ? '' : ','}${text.slice(after, place)}`;
  return `${head}${rendered.join(',')}${hasComma ? ',' : ''}${text.slice(place)}`;
}

function removeFromBraces(text: string, map: YAMLMap, entries: readonly Entry[], index: number): string {
  const entry = entries[index] as Entry;
  const before = entries[index - 1];
  const after = entries[index + 1];
  if (before !== undefined) return text.slice(0, lastLetter(text, before)) + text.slice(lastLetter(text, entry));
  if (after !== undefined) return text.slice(0, startOf(entry.key)) + text.slice(startOf(after.key));
  return `${text.slice(0, startOf(map))}{}${text.slice(endOf(map))}`;
}

function mapOf(added: readonly NewServer[]): JsonObject {
  return Object.fromEntries(added.map(({ name, server }) => [name, server]));
}

function entriesOf(node: unknown): Entry[] {
  return isMap(node) ? (node.items.filter((item) => isPair(item)) as Entry[]) : [];
}

function startOf(node: Node | null): number {
  return node?.range?.[0] ?? 0;
}

function endOf(node: Node | null): number {
  return node?.range?.[1] ?? 0;
}

/** The offset after the last letter of an entry. Its node may include trailing whitespace, which is not part of it. */
function lastLetter(text: string, { key, value }: Entry): number {
  const end = Math.max(endOf(key), endOf(value));
  return text.slice(0, end).trimEnd().length;
}

function startOfLine(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** The offset after the line break. */
function endOfLine(text: string, offset: number): number {
  const found = text.indexOf('\n', offset);
  return found < 0 ? text.length : found + 1;
}

/** Comments that are indented deeper than an entry belong to it. */
function behindComments(text: string, offset: number, indent: number): number {
  const line = /^([ \t]*)#[^\n]*(?:\n|$)/.exec(text.slice(offset));
  if (line === null || (line[1] as string).length <= indent) return offset;
  return behindComments(text, offset + line[0].length, indent);
}

function columnOf(text: string, offset: number): number {
  return offset - startOfLine(text, offset);
}

function withLineEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** Skips the line that `init` writes above a server. A person's own comment stays. */
function withoutOurComment(text: string, start: number): number {
  const above = startOfLine(text, start - 1);
  return start > 0 && /^\s*# from [^\n]+: \//.test(text.slice(above, start)) ? above : start;
}
