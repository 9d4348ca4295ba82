import { ToolChecker } from '../../src/broker/arguments/tool-checker.js';
import { exampleInput } from '../../src/catalog/examples.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/domain/json.js';
import type { Tool } from '../../src/domain/tool.js';
import { schemaValues } from './schema-values.js';

const VALUES_PER_TOOL = 2;
const broker = new ToolChecker(exampleInput);

/** One call of one tool, with arguments that its own schema takes. */
export interface Call {
  readonly server: string;
  readonly name: string;
  readonly tool: Tool;
  readonly input: JsonObject;
}

/** Whether the broker would send it. */
export function isTaken({ tool, name }: Pick<Call, 'tool' | 'name'>, input: JsonObject): boolean {
  return broker.checkArguments(tool, name, input).ok;
}

/** Calls that the tools' own schemas take. `namesOf` gives functions their names. */
export function validCalls(
  server: string,
  tools: readonly Tool[],
  namesOf: (names: readonly string[]) => ReadonlyMap<string, string>,
): Call[] {
  const names = namesOf(tools.map(({ name }) => name));
  return tools.flatMap((tool, seed) => {
    const values: JsonValue[] = [exampleInput(tool.inputSchema)];
    if (tool.inputSchema !== undefined) values.push(...schemaValues(tool.inputSchema, seed, VALUES_PER_TOOL));
    const name = names.get(tool.name) as string;
    return values
      .filter(isJsonObject)
      .filter((input) => isTaken({ tool, name }, input))
      .map((input) => ({ server, name, tool, input }));
  });
}

/** The calls of each tool together. */
export function byTool(calls: readonly Call[]): Call[][] {
  const tools = new Map<Tool, Call[]>();
  for (const call of calls) tools.set(call.tool, [...(tools.get(call.tool) ?? []), call]);
  return [...tools.values()];
}
