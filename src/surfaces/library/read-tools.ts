import { HostError } from '../../domain/errors.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { isUnifiedTool } from './protocol-adapter.js';

/** The tools of a server, given by name or as any adapter lists them. Throws `bad_input`. */
export function readTools(name: string, tools: unknown): object {
  if (Array.isArray(tools)) return functionsOf(name, tools);
  if (typeof tools === 'object' && tools !== null) return tools;
  throw badTools(name, 'expected its tools by their names, or a list of UnifiedTools');
}

/** Tools of any adapter as functions of this process. */
function functionsOf(server: string, tools: readonly unknown[]): object {
  const functions = new Map<string, object>();
  for (const [index, tool] of tools.entries()) {
    if (!isUnifiedTool(tool)) throw badTools(server, `tool ${index} is not a UnifiedTool`);
    const { name, description, inputSchema, outputSchema, metadata } = tool;
    if (functions.has(name)) throw badTools(server, `there are two tools called ${JSON.stringify(name)}`);
    functions.set(name, {
      description,
      input: inputSchema,
      ...omitUndefined({ output: outputSchema }),
      ...(metadata.deprecated === true ? { deprecated: true } : {}),
      version: metadata.version,
      tags: metadata.tags,
      execute: (input: unknown) => tool.execute(input),
    });
  }
  return Object.fromEntries(functions);
}

function badTools(server: string, problem: string): HostError {
  return new HostError('bad_input', `tools of ${JSON.stringify(server)}: ${problem}`);
}
