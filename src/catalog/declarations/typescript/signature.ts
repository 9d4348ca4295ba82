import type { Tool } from '../../../domain/tool.js';
import { quoteVisibly } from '../../../lib/visible-text.js';
import { takesAnyObject, takesNothing } from '../schema/input.js';
import { readSchema } from '../schema/schema.js';
import { withoutReference } from '../schema/schema-model.js';
import { shortType } from './short-type.js';

/** Of the arguments, and of what comes back: a server of 40 tools is read for some 2,000 tokens. */
const MAX_INPUT_CHARACTERS = 240;
const MAX_OUTPUT_CHARACTERS = 140;

/**
 * How a tool is called and what it gives, on one line: `read_text_file({ path: string, head?: number }): { content: string }`.
 * Nothing is behind the parentheses where nobody knows what comes back. `observedType` is of our own writer.
 */
export function toolSignature(tool: Tool, exportName: string, observedType?: string): string {
  const input = readSchema(tool.inputSchema);
  const isEmpty = takesNothing(input) && !takesAnyObject(input, tool.inputSchema);
  const argument = isEmpty ? '' : shortType(input.root, MAX_INPUT_CHARACTERS);
  const result = outputOf(tool, observedType);
  return `${quoteVisibly(exportName).slice(1, -1)}(${argument})${result === undefined ? '' : `: ${result}`}`;
}

function outputOf({ outputSchema }: Tool, observedType: string | undefined): string | undefined {
  if (outputSchema !== undefined) {
    const { root } = readSchema(outputSchema);
    return withoutReference(root).shape.kind === 'unknown' ? undefined : shortType(root, MAX_OUTPUT_CHARACTERS);
  }
  const seen = observedType?.replace(/;?\s+/g, (gap) => (gap.startsWith(';') ? ', ' : ' ')).replaceAll(', }', ' }');
  return seen === undefined || seen.length > MAX_OUTPUT_CHARACTERS ? undefined : `${seen} /* observed */`;
}
