import { nodeComment } from '../../catalog/declarations/schema/node-comment.js';
import { readSchema } from '../../catalog/declarations/schema/schema.js';
import { type SchemaNode, withoutReference } from '../../catalog/declarations/schema/schema-model.js';
import { shortType } from '../../catalog/declarations/typescript/short-type.js';
import { toolSignature } from '../../catalog/declarations/typescript/signature.js';
import type { CatalogTool } from '../../catalog/snapshot.js';
import type { ToolField } from '../../domain/console/playground.js';
import type { ToolView } from './tool-view.js';

const MAX_FIELDS = 30;
const TYPE_CHARACTERS = 120;
const WORDS_CHARACTERS = 160;

/** What an editor shows about a tool while a program is written: the types of its declaration, shortened. */
export function editorHints(
  { tool, exportName }: CatalogTool,
  { observedTypeOf }: Pick<ToolView, 'observedTypeOf'>,
): { readonly signature: string; readonly input: readonly ToolField[]; readonly output: readonly ToolField[] } {
  const observed = tool.outputSchema === undefined ? observedTypeOf?.(tool) : undefined;
  return {
    signature: toolSignature(tool, exportName, observed),
    input: fieldsOf(readSchema(tool.inputSchema).root),
    output: tool.outputSchema === undefined ? [] : fieldsOf(readSchema(tool.outputSchema).root),
  };
}

function fieldsOf(root: SchemaNode): ToolField[] {
  const { shape } = withoutReference(root);
  if (shape.kind !== 'object') return [];
  return [...shape.properties].slice(0, MAX_FIELDS).map(([name, { node, isRequired }]) => ({
    ...{ name, isRequired, type: shortType(node, TYPE_CHARACTERS) },
    description: nodeComment(node, 'compact', '').lines.join(' ').slice(0, WORDS_CHARACTERS),
  }));
}
