import type { ExampleCall } from '../../../domain/briefing.js';

/** A program that works with the connected servers. If none has a suitable tool, it searches for one. */
export function exampleProgram(example: ExampleCall | undefined): string {
  if (example === undefined) return DISCOVERY_PROGRAM;
  const { path, moduleName, exportName, argument } = example;
  return `import * as ${moduleName} from "@codemode/servers/${path}";
const found = await ${moduleName}.${exportName}(${argument});
globalThis.__codemode_result__ = found; // better: only the part you need
`;
}

export const DISCOVERY_PROGRAM = `import { searchTools } from "@codemode/discovery";
const { results } = await searchTools("what you want to do", { limit: 5 });
globalThis.__codemode_result__ = results;
`;
