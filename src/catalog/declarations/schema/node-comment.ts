import type { JsonValue } from '../../../domain/json.js';
import type { Constraints } from '../../../domain/json-schema/constraints.js';
import { quoteVisibly } from '../../../lib/text/visible-text.js';
import { commentLine, commentLines, firstSentence } from '../doc-comment.js';
import { mergeNotes } from './notes.js';
import type { Notes, SchemaNode, Shape } from './schema-model.js';

/**
 * How much documentation accompanies the types. `full`: everything useful. `compact`: one sentence, defaults and formats.
 * `signatures`: types only.
 */
export type Detail = 'full' | 'compact' | 'signatures';

/** The description of a type, for a comment in any language. It is escaped for all of them. */
export interface NodeComment {
  readonly lines: string[];
  /** `default 10`, `format date`: each with the language's mark for facts before it. */
  readonly facts: readonly string[];
  readonly isDeprecated: boolean;
  readonly warnings: readonly string[];
}

/** Limits on untrusted text in one comment, in characters. 99 of 100 real property descriptions are shorter than 430. */
const MAX_PROPERTY_TEXT = { full: 500, compact: 140 } as const;
const MAX_VALUE_TEXT = 80;

/** The comment of a property, or of the type of a whole definition. */
export function nodeComment(node: SchemaNode, detail: 'full' | 'compact', mark: string): NodeComment {
  // `X | null` is described like X: converters put the description on either.
  const core = onlyOption(node);
  const notes = core === node ? node.notes : mergeNotes(node.notes, core.notes);
  const facts = factsOf(core.shape, notes, detail, mark);
  if (core.shape.kind === 'array') {
    const items = itemWords(core.shape.item, detail, mark);
    if (items !== '') facts.push(`${mark}items ${items}`);
  }
  return {
    lines: describedIn(notes.description ?? notes.title ?? '', detail, MAX_PROPERTY_TEXT),
    facts,
    isDeprecated: notes.deprecated === true,
    warnings: (notes.warnings ?? []).map((warning) => commentLine(warning, 160)),
  };
}

/** The only option beside `null`, if there is exactly one; else the node itself. */
export function onlyOption(node: SchemaNode): SchemaNode {
  if (node.shape.kind !== 'union') return node;
  const options = node.shape.options.filter((option) => option.shape.kind !== 'null');
  return options.length === 1 ? (options[0] as SchemaNode) : node;
}

/** An untrusted description: whole, or its first sentence. */
export function describedIn(
  text: string,
  detail: 'full' | 'compact',
  maximum: { readonly full: number; readonly compact: number },
): string[] {
  if (detail === 'full') return commentLines(text, maximum.full);
  const line = commentLine(firstSentence(text), maximum.compact);
  return line === '' ? [] : [line];
}

function itemWords(item: SchemaNode, detail: Detail, mark: string): string {
  if (detail !== 'full') return '';
  const words = item.notes.description === undefined ? [] : [commentLine(firstSentence(item.notes.description), 200)];
  return [...words, ...factsOf(item.shape, item.notes, detail, mark)].join(' ');
}

function factsOf(shape: Shape, notes: Notes, detail: Detail, mark: string): string[] {
  const facts: string[] = shape.kind === 'integer' ? ['integer'] : [];
  if (notes.defaultValue !== undefined) facts.push(`default ${valueText(notes.defaultValue.value)}`);
  if (notes.format !== undefined) facts.push(`format ${commentLine(notes.format, 40)}`);
  if (detail === 'full') {
    if (notes.constraints !== undefined) facts.push(...constraintFacts(notes.constraints, shape));
    const [example] = notes.examples ?? [];
    if (example !== undefined) facts.push(`example ${valueText(example)}`);
    if (notes.readOnly === true) facts.push('readonly');
  }
  return facts.map((fact) => `${mark}${fact}`);
}

function constraintFacts(constraints: Constraints, shape: Shape): string[] {
  const facts: string[] = [];
  for (const [name, value] of Object.entries(constraints) as [keyof Constraints, string | number | boolean][]) {
    // A warning reports a lost `maxProperties`, and a tuple's type already expresses its length.
    if (name === 'maxProperties') continue;
    if (shape.kind === 'tuple' && (name === 'minItems' || name === 'maxItems')) continue;
    if (value === true) facts.push(name);
    else if (typeof value === 'string') facts.push(`${name} ${commentLine(value, MAX_VALUE_TEXT)}`);
    else if (typeof value === 'number' && !isMachineLimit(value)) facts.push(`${name} ${value}`);
  }
  return facts;
}

/** Limits of 32-bit and 53-bit numbers are added by generators. They are not rules of the tool. */
function isMachineLimit(value: number): boolean {
  return Math.abs(value) >= 2 ** 31 - 1;
}

function valueText(value: JsonValue): string {
  return commentLine(typeof value === 'string' ? quoteVisibly(value) : JSON.stringify(value), MAX_VALUE_TEXT);
}
