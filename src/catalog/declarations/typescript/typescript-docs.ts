import { type Tool, UNUSABLE_OUTPUT } from '../../../domain/tool.js';
import { quoteVisibly } from '../../../lib/text/visible-text.js';
import { commentLine } from '../doc-comment.js';
import { type Detail, describedIn, nodeComment, onlyOption } from '../schema/node-comment.js';
import type { SchemaNode } from '../schema/schema-model.js';

/** Limits on untrusted text in one comment, in characters. */
const MAX_SERVER_TEXT = { full: 1_000, compact: 160 } as const;
const MAX_TOOL_TEXT = { full: 1_500, compact: 240 } as const;
const MAX_TITLE = 100;

/** Facts about a tool besides its definition. */
interface ToolMarks {
  readonly asks?: boolean;
  /** Its export name is shared with others and numbered. */
  readonly isNumbered?: boolean;
}

/** Annotations, `@asks` and warnings appear at every level of detail. Signatures have nothing else. */
export function toolDocs(
  tool: Tool,
  exportName: string,
  warnings: readonly string[],
  detail: Detail,
  { asks = false, isNumbered = IS_NUMBERED.test(exportName) }: ToolMarks = {},
): string[] {
  const { description = '', deprecated, hasUnusableOutput = false } = tool;
  const title = titleOf(tool, exportName);
  const isSignature = detail === 'signatures';
  const lines = isSignature ? [] : describedIn(description || title, detail, MAX_TOOL_TEXT);
  // The name alone does not tell which tool a number means.
  if (exportName !== tool.name && (!isSignature || isNumbered))
    lines.push(`@tool ${commentLine(quoteVisibly(tool.name), 200)}`);
  const isTold = title === '' || (description === '' && !isSignature);
  const named = isTold ? [] : [`title: ${commentLine(quoteVisibly(title), MAX_TITLE)}`];
  const hints = [...named, ...annotationHints(tool, isSignature)];
  if (hints.length > 0) lines.push(`@annotations ${hints.join(', ')}`);
  if (asks) lines.push('@asks');
  if (deprecated === true && !isSignature) lines.push('@deprecated');
  const all = hasUnusableOutput ? [...warnings, UNUSABLE_OUTPUT] : warnings;
  for (const warning of all) lines.push(`@warning ${commentLine(warning, 240)}`);
  return lines;
}

const IS_NUMBERED = /__\d+$/;

/** The title of the tool; empty if it is only another spelling of its name. */
function titleOf({ annotations, title }: Tool, exportName: string): string {
  const text = annotations?.title || title || '';
  const plain = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  return plain(text) === plain(exportName) ? '' : text;
}

/** The server's own description, above its module. */
export function serverDocs(description: string, detail: Detail): string[] {
  return detail === 'signatures' ? [] : describedIn(description, detail, MAX_SERVER_TEXT);
}

/** The comment of a property, or of the type of a whole definition. */
export function propertyDocs(node: SchemaNode, detail: Detail): string[] {
  if (detail === 'signatures')
    return nodeComment(node, 'compact', '@').warnings.map((warning) => `@warning ${warning}`);
  const { lines, facts, isDeprecated, warnings } = nodeComment(node, detail, '@');
  if (facts.length > 0) {
    const [only] = lines;
    const joined = facts.join(' ');
    if (lines.length === 1 && only !== undefined && only.length + joined.length < 110) lines[0] = `${only} ${joined}`;
    else lines.push(joined);
  }
  // TypeScript tools only recognise this tag at the beginning of a line.
  if (isDeprecated) lines.push('@deprecated');
  for (const warning of warnings) lines.push(`@warning ${warning}`);
  return lines;
}

/** The comment of one option of a union, unless the union's comment already has it. */
export function optionDocs(option: SchemaNode, whole: SchemaNode, detail: Detail): string[] {
  const { description, title, warnings } = option.notes;
  const text = description ?? title;
  const isNews = (text !== undefined && text !== whole.notes.description) || warnings !== undefined;
  return isNews && onlyOption(whole) === whole ? propertyDocs(option, detail) : [];
}

/** `isShort` omits hints that mean what their absence means. A tool without `destructiveHint` counts as destructive. */
function annotationHints({ annotations = {} }: Tool, isShort: boolean): string[] {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
  const saysNothing = { readOnlyHint: true, destructiveHint: readOnlyHint === true, idempotentHint: true };
  return Object.entries({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint })
    .filter(([, value]) => typeof value === 'boolean')
    .filter(([name, value]) => !isShort || value || saysNothing[name as keyof typeof saysNothing] !== true)
    .map(([name, value]) => `${name}: ${value}`);
}
