import { HostError } from '../../../domain/errors.js';
import { needsOf } from '../../../domain/profile-name.js';
import { scriptsModule } from '../../../host/check/checked-files.js';
import { goDeclarationsOfServers } from '../../../host/processes/go-package.js';
import { apiDeclarationsOf } from '../../../host/tools/api-view.js';
import type { DeclarationDetail, Inventory } from '../../../host/tools/inventory.js';
import { type CommandContext, type Register, withRecords } from '../command.js';
import { writeProject } from '../editor-project.js';
import { loadTools, noteProblems } from '../load-tools.js';
import { oneOf } from '../options.js';
import { plain, printableJson, warn } from '../terminal/terminal.js';

interface TypesFlags {
  readonly language?: string;
  readonly detail: string;
  readonly refresh?: boolean;
  readonly out?: string;
  readonly json?: boolean;
}

const DETAILS: readonly DeclarationDetail[] = ['full', 'compact', 'signatures'];

const LANGUAGES = ['typescript', 'go'] as const;

export const register: Register = (program, context) => {
  program
    .command('types')
    .description('print the declarations of the tools, as agents read them')
    .argument('[server...]', 'only of these servers')
    .option('--language <name>', `${LANGUAGES.join(' or ')} (default: go where the profile is go, else typescript)`)
    .option('--detail <level>', `how much to print besides the types: ${DETAILS.join(', ')}`, 'full')
    .option('--out <folder>', 'write a project for editors instead: tsconfig.json, declarations, a folder for programs')
    .option('--refresh', 'ask the servers again instead of the catalog on disk')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (servers: string[], flags: TypesFlags) => {
      context.exitWith(await types(servers, flags, context));
    });
};

const HELP = `
TypeScript compiles as it is printed: save it as codemode.d.ts beside your programs, and your editor knows the tools.
Go is what a program of profile go is compiled with; --json prints { "declarations" } then.
--json prints { "shared", "modules": [{ "serverId", "specifier", "declarations", "warnings" }] }.

Exit status: 0, 2 bad input or no such server, 69 no server could be asked.

Examples:
  codemode types > codemode.d.ts
  codemode types github --detail signatures
  codemode types --language go
  codemode types --out programs
`;

async function types(servers: readonly string[], flags: TypesFlags, context: CommandContext): Promise<number> {
  const detail = oneOf('--detail', flags.detail, DETAILS);
  const asked = flags.language === undefined ? undefined : oneOf('--language', flags.language, LANGUAGES);
  const { inventory, loaded } = await context.inventory();
  await using _ = inventory;
  const { runtime, program } = needsOf(loaded.config.profile);
  const language = asked ?? (runtime === 'go' ? 'go' : 'typescript');
  await loadTools(inventory, flags.refresh === true, servers);
  // In Go a function's name depends on all servers: if two tools share a name, the server's name is added.
  if (language === 'go' && servers.length > 0) await loadTools(inventory, false);
  if (flags.out !== undefined && language === 'go')
    throw new HostError('bad_input', '--out: only for TypeScript; leave --language go out');
  if (language === 'go') return goTypes(inventory, servers, detail, flags);
  if (asked === undefined && program === 'body' && flags.out === undefined)
    return unifiedTypes(inventory, servers, flags);
  const { shared, modules } = inventory.declarations(servers, detail);
  noteProblems(inventory, servers);
  if (flags.out !== undefined) {
    const scripts = scriptsModule(await withRecords(context, (records) => records.scripts.list()));
    const files = writeProject(flags.out, {
      shared,
      scripts,
      modules: modules.map(({ serverId: path, text }) => ({ path, text })),
    });
    process.stdout.write(
      plain(`${files} files in ${flags.out}. Open it in your editor; programs go beside example.ts.\n`),
    );
    return 0;
  }
  if (flags.json === true) {
    const shown = modules.map(({ serverId, specifier, text, warnings }) => ({
      serverId,
      specifier,
      declarations: text,
      warnings,
    }));
    process.stdout.write(`${printableJson({ shared, modules: shown }, true)}\n`);
    return 0;
  }
  warn(
    modules.flatMap((module) => module.warnings.map((each) => `${module.serverId}/${each.toolName}: ${each.message}`)),
  );
  process.stdout.write(plain([shared, ...modules.map(({ text }) => text)].join('\n')));
  return 0;
}

/** In this contract tools are methods of one object, so there is a single declaration for all of them. */
function unifiedTypes(inventory: Inventory, servers: readonly string[], flags: TypesFlags): number {
  const named = inventory.declarations(servers, 'signatures').modules.map(({ serverId }) => serverId);
  noteProblems(inventory, servers);
  const declarations = apiDeclarationsOf(inventory.view(), servers.length === 0 ? undefined : named, new Date());
  process.stdout.write(flags.json === true ? `${printableJson({ declarations }, true)}\n` : plain(declarations));
  return 0;
}

/** In Go all functions of a contract are in one package, so there is a single declaration for all of them. */
function goTypes(
  inventory: Inventory,
  servers: readonly string[],
  detail: DeclarationDetail,
  flags: TypesFlags,
): number {
  // Throws if there is no server of that name.
  const named = inventory.declarations(servers, 'signatures').modules.map(({ serverId }) => serverId);
  noteProblems(inventory, servers);
  const declarations = goDeclarationsOfServers(inventory.view(), servers.length === 0 ? undefined : named, detail);
  process.stdout.write(flags.json === true ? `${printableJson({ declarations }, true)}\n` : plain(declarations));
  return 0;
}
