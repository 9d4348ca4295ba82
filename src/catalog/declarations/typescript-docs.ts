import type { JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { quoteVisibly } from '../../lib/visible-text.js';
import { commentLine, commentLines, firstSentence } from './doc-comment.js';
import { mergeNotes } from './notes.js';
import type { Constraints, Notes, SchemaNode, Shape } from './shape.js';

/**
 * How much is said beside the types. `full`: everything worth knowing. `compact`: one sentence, defaults and formats.
 * `signatures`: types only.
 */
export type Detail = 'full' | 'compact' | 'signatures';

/** Bounds on foreign text in one comment, in characters; 99 of 100 real property descriptions are shorter than 430. */
const MAX_SERVER_TEXT = { full: 1_000, compact: 160 } as const;
const MAX_TOOL_TEXT = { full: 1_500, compact: 240 } as const;
const MAX_PROPERTY_TEXT = { full: 500, compact: 140 } as const;
const MAX_VALUE_TEXT = 80;

export function toolDocs(tool: Tool, exportName: string, warnings: readonly string[], detail: Detail): string[] {
  if (detail === 'signatures') return [];
  const text = tool.description || tool.annotations?.title || tool.title || '';
  const lines =
    detail === 'full' ? commentLines(text, MAX_TOOL_TEXT.full) : oneLine(firstSentence(text), MAX_TOOL_TEXT.compact);
  if (exportName !== tool.name) lines.push(`@tool ${commentLine(quoteVisibly(tool.name), 200)}`);
  const hints = annotationHints(tool, detail);
  if (hints.length > 0) lines.push(`@annotations ${hints.join(', ')}`);
  if (tool.deprecated === true) lines.push('@deprecated');
  for (const warning of warnings) lines.push(`@warning ${commentLine(warning, 240)}`);
  return lines;
}

/** What a server says of itself, above its module. */
export function serverDocs(description: string, detail: Detail): string[] {
  if (detail === 'signatures') return [];
  return detail === 'full'
    ? commentLines(description, MAX_SERVER_TEXT.full)
    : oneLine(firstSentence(description), MAX_SERVER_TEXT.compact);
}

/** What is said about a property, or about the type of a whole definition. */
export function propertyDocs(node: SchemaNode, detail: Detail): string[] {
  if (detail === 'signatures') return [];
  // `X | null` is described like X: converters put the words on either.
  const core = onlyOption(node);
  const notes = core === node ? node.notes : mergeNotes(node.notes, core.notes);
  const lines = descriptionLines(notes.description ?? notes.title ?? '', detail);
  const tags = tagsOf(core.shape, notes, detail);
  if (core.shape.kind === 'array') {
    const items = itemDocs(core.shape.item, detail);
    if (items !== '') tags.push(`@items ${items}`);
  }
  if (tags.length > 0) {
    const [only] = lines;
    const joined = tags.join(' ');
    if (lines.length === 1 && only !== undefined && only.length + joined.length < 110) lines[0] = `${only} ${joined}`;
    else lines.push(joined);
  }
  // Tools of the language only see this tag at the beginning of a line.
  if (notes.deprecated === true) lines.push('@deprecated');
  for (const warning of notes.warnings ?? []) lines.push(`@warning ${commentLine(warning, 160)}`);
  return lines;
}

/** What is said about one option of a union, unless it already stands above the whole. */
export function optionDocs(option: SchemaNode, whole: SchemaNode, detail: Detail): string[] {
  const { description, title, warnings } = option.notes;
  const text = description ?? title;
  const isNews = (text !== undefined && text !== whole.notes.description) || warnings !== undefined;
  return isNews && onlyOption(whole) === whole ? propertyDocs(option, detail) : [];
}

/** The one option beside `null`, where there is only one; else the node itself. */
function onlyOption(node: SchemaNode): SchemaNode {
  if (node.shape.kind !== 'union') return node;
  const options = node.shape.options.filter((option) => option.shape.kind !== 'null');
  return options.length === 1 ? (options[0] as SchemaNode) : node;
}

function descriptionLines(text: string, detail: 'full' | 'compact'): string[] {
  if (detail === 'full') return commentLines(text, MAX_PROPERTY_TEXT.full);
  return oneLine(firstSentence(text), MAX_PROPERTY_TEXT.compact);
}

function itemDocs(item: SchemaNode, detail: Detail): string {
  if (detail !== 'full') return '';
  const words = item.notes.description === undefined ? [] : [commentLine(firstSentence(item.notes.description), 200)];
  return [...words, ...tagsOf(item.shape, item.notes, detail)].join(' ');
}

function tagsOf(shape: Shape, notes: Notes, detail: Detail): string[] {
  const tags: string[] = shape.kind === 'integer' ? ['@integer'] : [];
  if (notes.defaultValue !== undefined) tags.push(`@default ${valueText(notes.defaultValue.value)}`);
  if (notes.format !== undefined) tags.push(`@format ${commentLine(notes.format, 40)}`);
  if (detail !== 'full') return tags;
  if (notes.constraints !== undefined) tags.push(...constraintTags(notes.constraints, shape));
  const [example] = notes.examples ?? [];
  if (example !== undefined) tags.push(`@example ${valueText(example)}`);
  if (notes.readOnly === true) tags.push('@readonly');
  return tags;
}

function constraintTags(constraints: Constraints, shape: Shape): string[] {
  const tags: string[] = [];
  for (const [name, value] of Object.entries(constraints) as [keyof Constraints, string | number | boolean][]) {
    // A tuple's type already says how many there are.
    if (shape.kind === 'tuple' && (name === 'minItems' || name === 'maxItems')) continue;
    if (value === true) tags.push(`@${name}`);
    else if (typeof value === 'string') tags.push(`@${name} ${commentLine(value, MAX_VALUE_TEXT)}`);
    else if (typeof value === 'number' && !isMachineLimit(value)) tags.push(`@${name} ${value}`);
  }
  return tags;
}

/** The ends of 32-bit and 53-bit numbers are a habit of generators, not a rule of the tool. */
function isMachineLimit(value: number): boolean {
  return Math.abs(value) >= 2 ** 31 - 1;
}

function valueText(value: JsonValue): string {
  return commentLine(typeof value === 'string' ? quoteVisibly(value) : JSON.stringify(value), MAX_VALUE_TEXT);
}

function annotationHints(tool: Tool, detail: Detail): string[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations ?? {};
  return Object.entries({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint })
    .filter(([, value]) => (detail === 'full' ? typeof value === 'boolean' : value === true))
    .map(([name, value]) => `${name}: ${value}`);
}

function oneLine(text: string, maximumLength: number): string[] {
  const line = commentLine(text, maximumLength);
  return line === '' ? [] : [line];
}
