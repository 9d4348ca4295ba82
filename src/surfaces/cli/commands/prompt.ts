import { LOCAL_CALLER } from '../../../domain/execution.js';
import { createProfile } from '../../../profiles/registry.js';
import { askForTools, noteProblems } from '../asking.js';
import { type CommandContext, type Register, withRecords } from '../command.js';
import { profileSettings } from '../profile-settings.js';
import { plain, printableJson } from '../terminal.js';

interface PromptFlags {
  readonly profile?: string;
  readonly refresh?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('prompt')
    .description('print exactly what an agent reads before its first program')
    .option('--profile <name>', "the contract that is spoken (default: the configuration's)")
    .option('--refresh', 'ask the servers again instead of the catalog on disk')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: PromptFlags) => {
      context.exitWith(await prompt(flags, context));
    });
};

const HELP = `
The instructions of the MCP server, then each tool with its description.
--json prints { "instructions", "tools": [{ "name", "description", "inputSchema", "outputSchema" }] }.

Exit status: 0, 2 bad input or configuration, 69 no server could be asked.
`;

async function prompt(flags: PromptFlags, context: CommandContext): Promise<number> {
  const own = profileSettings(flags.profile);
  const { inventory, loaded } = await context.inventory(own);
  await using _ = inventory;
  await askForTools(inventory, flags.refresh === true);
  noteProblems(inventory, []);
  const profile = createProfile(loaded.config, await context.machine(loaded.config));
  // The agent that a client starts on this machine.
  const view = inventory.view(LOCAL_CALLER);
  const scripts = await withRecords(context, (records) => records.scripts.list());
  const instructions = profile.instructions(
    view,
    scripts.filter((script) => script.profile === profile.name),
  );
  const tools = profile.tools.map(({ name, description, inputSchema, outputSchema }) => ({
    name,
    description: description(view),
    inputSchema,
    outputSchema,
  }));
  if (flags.json === true) {
    process.stdout.write(`${printableJson({ instructions, tools }, true)}\n`);
    return 0;
  }
  const described = tools.map(({ name, description }) => `## Tool ${name}\n\n${description}\n`);
  process.stdout.write(plain([`${instructions}\n`, ...described].join('\n')));
  return 0;
}
