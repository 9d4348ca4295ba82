import type { JsonMember, JsonNode } from './json-text.js';

/** A member unchanged: its own text, and the comments that belong to it, one per line. */
export interface WrittenMember {
  readonly comments: readonly string[];
  readonly source: string;
}

/** How a file is laid out. */
export interface Layout {
  readonly eol: string;
  readonly indent: string;
}

export function layoutOf(text: string, root: JsonNode | undefined): Layout {
  const first = root?.members?.[0];
  const indent = first === undefined ? '' : ownIndent(text, first.start);
  return { eol: text.includes('\r\n') ? '\r\n' : '\n', indent: indent === undefined || indent === '' ? '  ' : indent };
}

/** Appends a member to an object. Nothing else in the text changes, not even a comment. */
export function appendMember(text: string, object: JsonNode, member: WrittenMember, { eol, indent }: Layout): string {
  const members = object.members ?? [];
  const last = members.at(-1);
  const { comments, source } = member;
  const isOneLine = !text.slice(object.start, object.end).includes('\n');
  if (last !== undefined && isOneLine) {
    const at = (last.comma ?? last.end - 1) + 1;
    const compact = [...comments.filter((comment) => comment.startsWith('/*')), source].join(' ');
    return `${text.slice(0, at)}${last.comma === undefined ? ',' : ''} ${compact}${text.slice(at)}`;
  }
  const brace = object.end - 1;
  const outer = lineIndent(text, object.start);
  const inner = (last === undefined ? undefined : ownIndent(text, last.start)) ?? outer + indent;
  const lines = [...comments, source].map((line) => `${eol}${inner}${line}`).join('');
  // After the comments that follow the last member: a `//` comment must not swallow our text.
  const at = text.slice(0, brace).trimEnd().length;
  if (last === undefined) return `${text.slice(0, at)}${lines}${eol}${outer}${text.slice(brace)}`;
  return last.comma === undefined
    ? `${text.slice(0, last.end)},${text.slice(last.end, at)}${lines}${text.slice(at)}`
    : `${text.slice(0, at)}${lines},${text.slice(at)}`;
}

/** A value as the source of a member, its lines indented for the place where `appendMember` puts it. */
export function memberSource(name: string, value: unknown, text: string, object: JsonNode, layout: Layout): string {
  const last = object.members?.at(-1);
  const isOneLine = last !== undefined && !text.slice(object.start, object.end).includes('\n');
  if (isOneLine) return `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
  const inner =
    (last === undefined ? undefined : ownIndent(text, last.start)) ?? lineIndent(text, object.start) + layout.indent;
  const lines = JSON.stringify(value, null, layout.indent).split('\n').join(`${layout.eol}${inner}`);
  return `${JSON.stringify(name)}: ${lines}`;
}

/** Removes a member with the comments that belong to it: those right above it, and one after it on its line. */
export function withoutMember(text: string, object: JsonNode, member: JsonMember): string {
  const members = object.members ?? [];
  const index = members.indexOf(member);
  const previous = members[index - 1];
  const isLast = index === members.length - 1;
  const lines = linesOf(text, object, member);
  const afterComma = member.comma === undefined ? member.end : member.comma + 1;
  const dropsCommaBefore = isLast && member.comma === undefined && previous?.comma !== undefined;
  const [from, to] = lines ?? [member.start, afterComma + spacesAt(text, afterComma)];
  if (!dropsCommaBefore) return text.slice(0, from) + text.slice(to);
  const comma = previous?.comma ?? 0;
  const between = text.slice(comma + 1, from);
  return text.slice(0, comma) + (lines === undefined ? between.trimEnd() : between) + text.slice(to);
}

/** A member with its comments, for another place in this file or in a later version of it. */
export function writtenMember(text: string, object: JsonNode, member: JsonMember): WrittenMember {
  const source = text.slice(member.start, member.end);
  const lines = linesOf(text, object, member);
  if (lines === undefined) return { comments: [], source };
  const above = text.slice(lines[0], member.start).split('\n');
  const behind = text.slice((member.comma ?? member.end - 1) + 1, lines[1]);
  return { comments: [...above, behind].map((line) => line.trim()).filter((line) => line !== ''), source };
}

/** The whole lines of a member, if no other member shares them. */
function linesOf(text: string, object: JsonNode, member: JsonMember): [number, number] | undefined {
  const afterComma = member.comma === undefined ? member.end : member.comma + 1;
  const rest = /^[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/[ \t]*)?\r?\n/.exec(text.slice(afterComma))?.[0];
  if (rest === undefined || ownIndent(text, member.start) === undefined) return undefined;
  let from = text.lastIndexOf('\n', member.start) + 1;
  for (;;) {
    const above = text.lastIndexOf('\n', from - 2) + 1;
    const line = text.slice(above, from).trim();
    if (above <= object.start || !/^(?:\/\/.*|\/\*.*\*\/)$/.test(line)) break;
    from = above;
  }
  return [from, afterComma + rest.length];
}

function spacesAt(text: string, offset: number): number {
  return /^[ \t]*/.exec(text.slice(offset))?.[0].length ?? 0;
}

/** The text before it on its line, if that is only whitespace. */
function ownIndent(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return before.trim() === '' && text.lastIndexOf('\n', offset - 1) >= 0 ? before : undefined;
}

function lineIndent(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}
