import type { Tool } from '../../../domain/tool.js';
import { quoteVisibly, withoutMarkup } from '../../../lib/text/visible-text.js';
import { commentLine } from '../doc-comment.js';
import { type Detail, describedIn, nodeComment } from '../schema/node-comment.js';
import type { SchemaNode } from '../schema/schema-model.js';
import { goFunctionName, goString } from './go-names.js';

/** One field of a struct, before it is laid out. */
export interface GoField {
  readonly name: string;
  readonly type: string;
  /** The tag's text between the backquotes. The caller checks its characters. */
  readonly tag: string;
  readonly node: SchemaNode;
  /** Information that the type cannot express. */
  readonly remark?: string;
}

/** One value of an enumeration. */
export interface GoConstant {
  readonly name: string;
  readonly value: string | number;
}

const MAX_TOOL_TEXT = { full: 1_500, compact: 240 } as const;
/** A remark up to this length is joined to the description. */
const MAX_JOINED = 110;

/**
 * A struct in gofmt's layout: names and types of adjacent fields are aligned in columns, and a comment between two fields ends the
 * column. All widths are in characters, as gofmt counts.
 */
export function structText(name: string, fields: readonly GoField[], detail: Detail): string {
  if (fields.length === 0) return `type ${name} struct{}\n`;
  const rows = fields.map((field) => ({ field, docs: fieldDocs(field, detail) }));
  const lines: string[] = [];
  for (let start = 0; start < rows.length; ) {
    let end = start + 1;
    while (end < rows.length && rows[end]?.docs === '') end += 1;
    const column = rows.slice(start, end);
    const nameWidth = Math.max(...column.map(({ field }) => field.name.length));
    const typeWidth = Math.max(...column.map(({ field }) => field.type.length));
    for (const { field, docs } of column) {
      const head = `\t${field.name.padEnd(nameWidth)} ${field.type.padEnd(typeWidth)}`;
      lines.push(`${docs}${head} \`${field.tag}\`\n`);
    }
    start = end;
  }
  return `type ${name} struct {\n${lines.join('')}}\n`;
}

/** A type and its values, one constant per line. */
export function enumText(name: string, base: string, constants: readonly GoConstant[]): string {
  const lines = constants.map(({ name: constant, value }) => {
    const literal = typeof value === 'string' ? goString(value) : String(value);
    return `const ${constant} ${name} = ${fenceless(literal)}\n`;
  });
  return `type ${name} ${base}\n\n${lines.join('')}`;
}

/** The comment above a type; empty if it has no description of its own. */
export function typeDocs(name: string, node: SchemaNode, remark: string | undefined, detail: Detail): string {
  return comment(name, [...wordsOf(node, detail), ...(remark === undefined ? [] : [remark])], '');
}

/** The comment above a tool's function. */
export function functionDocs(
  name: string,
  tool: Tool,
  warnings: readonly string[],
  detail: Detail,
  {
    asks = false,
    isShared = false,
    observed,
  }: {
    readonly asks?: boolean | undefined;
    readonly isShared?: boolean;
    /** The observed result of a tool without a declared output. */
    readonly observed?: string | undefined;
  } = {},
): string {
  const isOther = isShared || name !== goFunctionName(tool.name);
  const meant = isOther
    ? [`Tool ${commentLine(quoteVisibly(tool.name), 200)} of ${commentLine(quoteVisibly(tool.serverId), 80)}.`]
    : [];
  const seen = observed === undefined ? [] : [`Observed: ${observed}`];
  if (detail === 'signatures') return comment(name, [...meant, ...(asks ? [ASKS] : []), ...seen], '');
  const lines = describedIn(tool.description || tool.annotations?.title || tool.title || '', detail, MAX_TOOL_TEXT);
  // Several tools have this name or a similar one.
  lines.push(...meant);
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  if (readOnlyHint === true) lines.push('(read-only)');
  else if (destructiveHint === true) lines.push('(destructive)');
  if (asks) lines.push(ASKS);
  lines.push(...seen);
  if (tool.deprecated === true) lines.push('(deprecated)');
  for (const warning of warnings) lines.push(`Warning: ${commentLine(warning, 240)}`);
  return comment(name, lines, '');
}

/** The mark of a tool whose calls need approval, as in every other language. */
const ASKS = '@asks';

function fieldDocs({ name, node, remark }: GoField, detail: Detail): string {
  const lines = wordsOf(node, detail);
  // Types only, plus what cannot be guessed.
  if (remark !== undefined) lines.push(remark);
  return comment(name, lines, '\t');
}

function wordsOf(node: SchemaNode, detail: Detail): string[] {
  if (detail === 'signatures') return [];
  const { lines, facts, isDeprecated, warnings } = nodeComment(node, detail, '');
  const said = facts.filter((fact) => fact !== 'integer');
  if (isDeprecated) said.push('deprecated');
  const joined = said.length === 0 ? '' : `(${said.join(', ')})`;
  const [only] = lines;
  if (joined !== '' && lines.length === 1 && only !== undefined && only.length + joined.length < MAX_JOINED)
    lines[0] = `${only} ${joined}`;
  else if (joined !== '') lines.push(joined);
  for (const warning of warnings) lines.push(`Warning: ${warning}`);
  return lines;
}

/**
 * Line comments, the first with the name of the declaration. The space after the slashes matters: `//go:linkname` and `//line` are
 * compiler directives, and with a space they are text. No line is empty or indented, so that gofmt changes nothing.
 */
function comment(name: string, lines: readonly string[], indent: string): string {
  if (lines.length === 0) return '';
  return lines
    .map((line, index) => `${indent}// ${index === 0 ? `${name} ` : ''}${plainQuotes(line)}`.trimEnd())
    .join('\n')
    .concat('\n');
}

/** gofmt turns two single quotes into one typographic quote. */
function plainQuotes(line: string): string {
  return line.replace(/'{2,}/g, '""').replace(/`{2,}/g, '`');
}

/** Declarations are shown in fenced blocks: no literal may close one, or open a tag of the surrounding text. */
function fenceless(literal: string): string {
  return withoutMarkup(literal, '\\u003c').replace(/~{3,}/g, (run) => '\\u007e'.repeat(run.length));
}
