import { argumentJson } from '../../domain/briefing.js';
import type { JsonObject } from '../../domain/json.js';
import { briefingOf, type ToolView } from '../tools/tool-view.js';
import { goToolsOf } from './go-package.js';
import { goFieldsOf, goInputOf } from './go-signature.js';

/** Statements that call a connected read-only tool with valid input; undefined if no tool is suitable. */
export function goExampleOf(view: ToolView): string | undefined {
  const { example } = briefingOf(view);
  const server = view.forCode.serverByPath.get(example?.path ?? '');
  const tool = server?.tools.find(({ exportName }) => exportName === example?.exportName)?.tool;
  const tools = goToolsOf(view.forCode);
  const name = tool && tools.functionByTool.get(tool);
  if (example === undefined || name === undefined) return undefined;
  const type = goInputOf(name, tools);
  const literal = type === undefined ? '' : literalOf(type, example.argument, goFieldsOf(type, tools));
  if (literal === undefined) return undefined;
  return `found, err := ${name}(ctx${literal})
if err != nil {
	return err
}
fmt.Println(found) // better: only the part you need
`;
}

/** Only strings, numbers and booleans: their literals are the same in both languages. */
function literalOf(type: string, argument: string, fields: ReadonlyMap<string, string>): string | undefined {
  const input = argument === '' ? {} : inputOf(argument);
  const set = Object.entries(input ?? {}).map(([key, value]) => {
    const field = fields.get(key);
    return field === undefined || typeof value === 'object' ? undefined : `${field}: ${JSON.stringify(value)}`;
  });
  return input === undefined || set.includes(undefined) ? undefined : `, ${type}{${set.join(', ')}}`;
}

function inputOf(argument: string): JsonObject | undefined {
  try {
    return JSON.parse(argumentJson(argument)) as JsonObject;
  } catch {
    return undefined;
  }
}
