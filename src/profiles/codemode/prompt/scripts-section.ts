import type { ScriptHead } from '../../../domain/script.js';
import { scriptLines } from '../../../host/scripts/script-lines.js';

/** The module that is declared only where something is stored. */
export const SCRIPTS_DECLARATIONS = `declare module "@codemode/scripts" {
  function listScripts(): Promise<{ name: string; description: string; inputSchema?: object }[]>;
  /** Runs a stored script and gives its result. */
  function runScript(name: string, input?: object): Promise<unknown>;
}
`;

/** What an agent is told of stored scripts. */
export function scriptsSection(scripts: readonly ScriptHead[]): string {
  return `## Stored scripts: ${scripts.length}

Programs that the user has stored. Run one by its name instead of writing it again. It runs as part of your program: its tool calls and its time count towards your limits. Wrong input throws \`SchemaValidationError\`, a script that fails \`ToolCallError\`. You can't store or change scripts.
\`\`\`ts
${SCRIPTS_DECLARATIONS}\`\`\`
${scriptLines(scripts)}`;
}
