import { firstSentences } from '../../catalog/declarations/doc-comment.js';
import { markedSignature } from '../../catalog/declarations/typescript/signature.js';
import type { ObservedTypeOf } from '../../catalog/declarations/typescript/typescript.js';
import type { CatalogTool } from '../../catalog/snapshot.js';
import { shownDescription, shownSchema } from '../../catalog/visible-tool.js';
import type { JsonObject } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { visibleLine } from '../../lib/text/visible-text.js';

/** The detail of a tool's description. Each level omits what only the higher ones have. */
export const TOOL_DETAILS = ['name', 'description', 'full'] as const;
export type ToolDetail = (typeof TOOL_DETAILS)[number];

/** Limit below `full`. Descriptions of 5,000 characters occur, and a list has many of them. */
const MAX_DESCRIPTION_CHARACTERS = 110;

/** A tool as the contract's `ToolDefinition`, with its signature and whether its calls need approval. */
export function toolDefinition(
  { tool, exportName, asks }: Pick<CatalogTool, 'tool' | 'exportName' | 'asks'>,
  detail: ToolDetail,
  observedTypeOf?: ObservedTypeOf,
): JsonObject {
  const named: JsonObject = { toolName: visibleLine(tool.name), exportName };
  if (detail === 'name') return named;
  const { description, annotations, inputSchema, outputSchema } = tool;
  const isFull = detail === 'full';
  const words =
    description === undefined
      ? undefined
      : shownDescription(isFull ? description : firstSentences(description, MAX_DESCRIPTION_CHARACTERS));
  return {
    ...named,
    signature: markedSignature(
      { tool, ...omitUndefined({ asks }) },
      exportName,
      outputSchema === undefined ? observedTypeOf?.(tool) : undefined,
    ),
    ...(asks === true ? { asks } : {}),
    ...omitUndefined({
      description: words,
      annotations: ifDefined(annotations, (annotations) => ({ ...annotations }) as JsonObject),
    }),
    ...(isFull && inputSchema !== undefined ? { inputSchema: shownSchema(inputSchema) } : {}),
    ...(isFull && outputSchema !== undefined ? { outputSchema: shownSchema(outputSchema) } : {}),
  };
}

/** A tool's own texts as external readers get them: clients that call it directly, and the REST surface. */
export function shownTool({ description, inputSchema, outputSchema }: Tool): ShownTool {
  return {
    ...omitUndefined({
      description: ifDefined(description, shownDescription),
      inputSchema: ifDefined(inputSchema, shownSchema),
      outputSchema: ifDefined(outputSchema, shownSchema),
    }),
  };
}

export type ShownTool = Pick<Tool, 'description' | 'inputSchema' | 'outputSchema'>;
