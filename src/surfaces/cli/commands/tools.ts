import { isJsonObject, type JsonObject } from '../../../domain/json.js';
import { PROCESS_LANGUAGES } from '../../../domain/process-program.js';
import { needsOf } from '../../../domain/profile-name.js';
import { programNames } from '../../../host/processes/process-packages.js';
import type { Inventory } from '../../../host/tools/inventory.js';
import { TOOL_DETAILS, type ToolDetail } from '../../../host/tools/tool-definition.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { oneLine } from '../../../lib/text/bounded-text.js';
import type { CommandContext, Register } from '../command.js';
import { loadTools, noteProblems } from '../load-tools.js';
import { countFrom1, oneOf } from '../options.js';
import { renderTable } from '../terminal/table.js';
import { plainBlock, plainLine, printableJson, styled } from '../terminal/terminal.js';

/** `name+description` is the catalog's word for the second level. */
const DETAILS = [...TOOL_DETAILS, 'name+description'] as const;

interface ToolsFlags {
  readonly server?: string;
  readonly detail: string;
  readonly limit?: string;
  readonly refresh?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('tools')
    .description('list the tools that programs can call, or search them')
    .argument('[query...]', 'what the tool should do, in your own words')
    .option('--server <name>', 'only tools of this server')
    .option('--detail <level>', `how much to show of each: ${DETAILS.join(', ')}`, 'description')
    .option('--limit <count>', 'the most tools to show (default: 10 for a search, all for a list)')
    .option('--refresh', 'ask the servers again instead of the catalog on disk')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (words: string[], flags: ToolsFlags) => {
      context.exitWith(await tools(words.join(' '), flags, context));
    });
};

const HELP = `
Servers that were asked before are not started: their tools are kept on disk, under $CODEMODE_HOME.
--json prints { "query", "results": [{ "serverId", "toolName", "exportName", ... }] }, as searchTools() in a program. With profile
runner it has "module" and "functions" { "node", "python" } instead of "exportName". --detail full gives whole definitions.

Exit status: 0 also when nothing matches, 2 bad input or no such server, 69 no server could be asked.

Examples:
  codemode tools
  codemode tools find files changed last week --limit 5
  codemode tools --server github --detail full --json
`;

/** Default number of search hits, as in a program. */
const DEFAULT_HITS = 10;

async function tools(query: string, flags: ToolsFlags, context: CommandContext): Promise<number> {
  const asked = oneOf('--detail', flags.detail, DETAILS);
  const detail = asked === 'name+description' ? 'description' : asked;
  const isSearch = query.trim() !== '';
  const limit = flags.limit === undefined ? (isSearch ? DEFAULT_HITS : undefined) : countFrom1('--limit', flags.limit);
  const { inventory, loaded } = await context.inventory();
  await using _ = inventory;
  await loadTools(inventory, flags.refresh === true, flags.server === undefined ? [] : [flags.server]);
  const found = inventory.tools({
    // People see whole descriptions, as far as the terminal is wide enough.
    detail: detail === 'description' && flags.json !== true ? 'full' : detail,
    ...(isSearch ? { query } : {}),
    ...omitUndefined({ server: flags.server, limit }),
  });
  const results =
    needsOf(loaded.config.profile).runtime === 'interpreters' ? found.map(withProgramNames(inventory)) : found;
  noteProblems(inventory, flags.server === undefined ? [] : [flags.server]);
  if (flags.json === true) process.stdout.write(`${printableJson({ query, results }, true)}\n`);
  else if (results.length > 0) process.stdout.write(`${render(results, detail)}\n`);
  else if (isSearch) process.stderr.write('nothing matches; use other words, or see all: codemode tools\n');
  return 0;
}

/** For profiles with real interpreters: adds the module and the functions that programs use. */
function withProgramNames(inventory: Inventory): (result: JsonObject) => JsonObject {
  const { forCode } = inventory.view();
  const namesOf = programNames(forCode, PROCESS_LANGUAGES);
  // The signature has the name that programs of other profiles use.
  return ({ exportName, signature: _, ...result }) => {
    const tool = forCode.toolByTarget.get(`${String(result.serverId)}/${String(result.toolName)}`);
    if (tool === undefined) return { ...result, exportName: exportName ?? null };
    // The contract's id is the one that the user gave, not the path of other profiles.
    return { ...result, serverId: tool.server.id, ...namesOf(tool) };
  };
}

function render(results: readonly JsonObject[], detail: ToolDetail): string {
  const named = results.map((result) => ({
    name: `${String(result.serverId)}/${String(result.toolName)}`,
    description: typeof result.description === 'string' ? result.description : '',
    result,
  }));
  switch (detail) {
    case 'name':
      return named.map(({ name }) => plainLine(name)).join('\n');
    case 'full':
      return named.map(({ name, result, description }) => block(name, result, description)).join('\n');
    case 'description':
      return renderTable(
        [{ title: 'TOOL' }, { title: 'DESCRIPTION', cutFirst: 1 }],
        named.map(({ name, description }) => ({
          cells: [{ text: name, style: 'bold' }, oneLine(description, Number.POSITIVE_INFINITY)],
        })),
      );
  }
}

function importLines({ exportName, serverId, module, functions }: JsonObject): string[] {
  if (!isJsonObject(functions))
    return [`import { ${String(exportName)} } from '@codemode/servers/${String(serverId)}';`];
  return [
    `import { ${String(functions.node)} } from './servers/${String(module)}/index.js';`,
    `from servers.${String(module)} import ${String(functions.python)}`,
  ];
}

function block(name: string, result: JsonObject, description: string): string {
  const { annotations, inputSchema, outputSchema } = result;
  const lines = [styled('bold', plainLine(name))];
  lines.push(...importLines(result).map((line) => `  ${plainLine(line)}`));
  if (description !== '') lines.push(plainBlock(description));
  const parts = Object.entries({ annotations, input: inputSchema, output: outputSchema });
  for (const [label, value] of parts) {
    if (value === undefined) continue;
    lines.push(`  ${styled('dim', `${label}:`)} ${printableJson(value, true).replaceAll('\n', '\n  ')}`);
  }
  return `${lines.join('\n')}\n`;
}
