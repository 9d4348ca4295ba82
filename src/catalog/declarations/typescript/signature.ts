import type { Tool } from '../../../domain/tool.js';
import { quoteVisibly } from '../../../lib/text/visible-text.js';
import { takesAnyObject, takesNothing } from '../schema/input.js';
import { readSchema } from '../schema/schema.js';
import { withoutReference } from '../schema/schema-model.js';
import { shortType } from './short-type.js';

/** For the arguments, and for the result: a server of 40 tools costs about 2,000 tokens. */
const MAX_INPUT_CHARACTERS = 240;
const MAX_OUTPUT_CHARACTERS = 140;

/**
 * The call of a tool and its result, on one line: `read_text_file({ path: string, head?: number }): { content: string }`. Nothing
 * follows the parentheses if the result is unknown. `observedType` comes from our own writer.
 */
export function toolSignature(tool: Tool, exportName: string, observedType?: string): string {
  const input = readSchema(tool.inputSchema);
  const isEmpty = takesNothing(input) && !takesAnyObject(input, tool.inputSchema);
  const argument = isEmpty ? '' : shortType(input.root, MAX_INPUT_CHARACTERS);
  const result = outputOf(tool, observedType);
  return `${quoteVisibly(exportName).slice(1, -1)}(${argument})${result === undefined ? '' : `: ${result}`}`;
}

/** The same with `@asks` if its calls need approval: agents print the signatures of a server and nothing else. */
export function markedSignature(
  { tool, asks }: { readonly tool: Tool; readonly asks?: true },
  exportName: string,
  observedType?: string,
): string {
  return `${toolSignature(tool, exportName, observedType)}${asks === true ? ' @asks' : ''}`;
}

function outputOf({ outputSchema }: Tool, observedType: string | undefined): string | undefined {
  if (outputSchema !== undefined) {
    const { root } = readSchema(outputSchema);
    return withoutReference(root).shape.kind === 'unknown' ? undefined : shortType(root, MAX_OUTPUT_CHARACTERS);
  }
  const seen = seenOf(observedType);
  if (seen === undefined) return undefined;
  const short = seen.kind === undefined ? seen.data : `/** ${wordsOf(seen)} */ string`;
  return short === undefined ? undefined : `${short} /* observed */`;
}

/** The same in words, for languages with other types: `CSV text of: { id: string }[]`. */
export function observedResult(observedType: string | undefined): string | undefined {
  const seen = seenOf(observedType);
  return seen === undefined ? undefined : seen.kind === undefined ? seen.data : wordsOf(seen);
}

interface Seen {
  /** The kind of a text that contains data. */
  readonly kind?: string;
  readonly data: string | undefined;
}

function seenOf(observedType: string | undefined): Seen | undefined {
  const seen = observedType?.replace(/;?\s+/g, (gap) => (gap.startsWith(';') ? ', ' : ' ')).replaceAll(', }', ' }');
  if (seen === undefined) return undefined;
  const [, kind, data] = /^\/\*\* (.{1,40}?) of: (.*) \*\/ string$/s.exec(seen) ?? [];
  return kind === undefined || data === undefined ? { data: shortened(seen) } : { kind, data: shortened(data) };
}

function wordsOf({ kind, data }: Seen): string {
  return `${kind}${data === undefined ? '' : ` of: ${data}`}`;
}

/** A type of our own writer without the members that do not fit: `{ items: { id: string, … }[] }`. */
function shortened(type: string): string | undefined {
  if (type.length <= MAX_OUTPUT_CHARACTERS) return type;
  // Strings in a type are untrusted and may contain brackets.
  if (/["'`]/.test(type)) return undefined;
  const open: number[] = [];
  const ends = new Map<number, number>();
  let cut: { readonly at: number; readonly open: readonly number[] } | undefined;
  for (const { 0: mark, index } of type.matchAll(/[{},]/g)) {
    if (mark === '{') open.push(index);
    else if (mark === '}') ends.set(open.pop() ?? -1, index);
    else if (index < MAX_OUTPUT_CHARACTERS && open.length > 0) cut = { at: index, open: [...open] };
  }
  if (cut === undefined) return undefined;
  // `}[]`: the suffix of an object's end belongs to it.
  const closing = cut.open.map(
    (start) => ` }${/^(?:\[\])*/.exec(type.slice((ends.get(start) ?? type.length) + 1))?.[0]}`,
  );
  return `${type.slice(0, cut.at)}, …${closing.reverse().join('')}`;
}
