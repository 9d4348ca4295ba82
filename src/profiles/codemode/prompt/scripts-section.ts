import type { ScriptHead } from '../../../domain/script.js';
import { functionLines } from '../../../host/scripts/script-lines.js';

const SAVE = `  /** Stores your last program that worked; inputs are values of it that vary. The user is asked. */
  function save(script: { name: string; description?: string; inputs?: Record<string, string | number> }): Promise<{ name: string; version: number }>;
`;

/** The module that is declared only if scripts are stored. */
export const scriptsDeclarations = (maySave: boolean) => `declare module "@codemode/scripts" {
  function listScripts(): Promise<{ name: string; function: string | null; version: number; description: string; inputSchema?: object; outputSchema?: object }[]>;
  /** Runs a stored script by its name and gives its result. */
  function runScript(name: string, input?: object): Promise<unknown>;
${maySave ? SAVE : ''}}
`;

/** The instructions about stored scripts. */
export function scriptsSection(scripts: readonly ScriptHead[], maySave: boolean): string {
  return `## Stored scripts: ${scripts.length}

Programs that are kept, as functions of \`@codemode/scripts\`. Call one instead of writing it again. It runs as part of your program: its tool calls and its time count towards your limits. Wrong input throws \`SchemaValidationError\`, a script that fails \`ToolCallError\`.
\`\`\`ts
${scriptsDeclarations(maySave)}\`\`\`
${functionLines(scripts)}`;
}
