import type { ScriptHead } from '../../../domain/script.js';
import { clipText, visibleText, withoutMarkup } from '../../../lib/visible-text.js';

/** The module that is declared only where something is stored. */
export const SCRIPTS_DECLARATIONS = `declare module "@codemode/scripts" {
  function listScripts(): Promise<{ name: string; description: string; inputSchema?: object }[]>;
  /** Runs a stored script and gives its result. */
  function runScript(name: string, input?: object): Promise<unknown>;
}
`;

/** Scripts that are named one by one; a program lists the rest. */
const MAX_NAMED = 20;
const MAX_DESCRIPTION_CHARACTERS = 120;

/** What an agent is told of stored scripts. */
export function scriptsSection(scripts: readonly ScriptHead[]): string {
  const more = scripts.length - MAX_NAMED;
  const lines = scripts.slice(0, MAX_NAMED).map(lineOf);
  if (more > 0) lines.push(`- and ${more} more: listScripts()`);
  return `## Stored scripts: ${scripts.length}

Programs that the user has stored. Run one by its name instead of writing it again. It runs as part of your program: its tool calls and its time count towards your limits. Wrong input throws \`SchemaValidationError\`, a script that fails \`ToolCallError\`. You can't store or change scripts.
\`\`\`ts
${SCRIPTS_DECLARATIONS}\`\`\`
${lines.join('\n')}`;
}

function lineOf({ name, description, inputSchema }: ScriptHead): string {
  const properties = Object.keys((inputSchema?.properties as object | undefined) ?? {});
  const input = properties.length === 0 ? '' : ` { ${clipText(properties.join(', '), MAX_DESCRIPTION_CHARACTERS)} }`;
  const text = withoutMarkup(visibleText(description)).replace(/\s+/g, ' ').replaceAll('`', "'").trim();
  const about = text === '' ? '' : `: ${clipText(text, MAX_DESCRIPTION_CHARACTERS)}`;
  return `- ${name}${withoutMarkup(visibleText(input)).replace(/\s+/g, ' ').replaceAll('`', "'")}${about}`;
}
