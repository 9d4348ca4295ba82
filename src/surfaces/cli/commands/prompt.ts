import { codeModeOf } from '../../../config/schema/code-mode.js';
import { LOCAL_CALLER } from '../../../domain/run.js';
import { breakEvenOf } from '../../../host/admin/break-even.js';
import { shownTool } from '../../../host/tools/tool-definition.js';
import type { ToolView } from '../../../host/tools/tool-view.js';
import { promptTexts } from '../../../profiles/prompt-texts.js';
import { createProfile } from '../../../profiles/registry.js';
import { type CommandContext, type Register, withRecords } from '../command.js';
import { loadTools, noteProblems } from '../load-tools.js';
import { profileSettings } from '../profile-settings.js';
import { plain, printableJson } from '../terminal/terminal.js';

interface PromptFlags {
  readonly model?: string;
  readonly profile?: string;
  readonly refresh?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('prompt')
    .description('print exactly what an agent reads before its first program')
    .option('--profile <name>', 'the profile that is served (default: the configured one)')
    .option('--model <ref>', 'which entry of models in the configuration decides what is excluded from code')
    .option('--refresh', 'ask the servers again instead of the catalog on disk')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: PromptFlags) => {
      context.exitWith(await prompt(flags, context));
    });
};

const HELP = `
The instructions of the MCP server, then each tool with its description: ours, then those that are excluded from code and that
the agent calls itself.
--json prints { "instructions", "tools": [{ "name", "description", "inputSchema", "outputSchema" }] }.

Exit status: 0, 2 bad input or configuration, 69 no server could be asked.
`;

async function prompt(flags: PromptFlags, context: CommandContext): Promise<number> {
  const own = profileSettings(flags.profile);
  const { inventory, loaded } = await context.inventory(own);
  await using _ = inventory;
  await loadTools(inventory, flags.refresh === true);
  noteProblems(inventory, []);
  const profile = createProfile(loaded.config, await context.machine(loaded.config));
  // As for an agent that a client starts on this machine.
  const names = profile.tools.map(({ name }) => name);
  const scripts = await withRecords(context, (records) => records.scripts.list());
  const ofProfile = scripts.filter((script) => script.profile === profile.name);
  const configured = codeModeOf(loaded.config, flags.model);
  const isCode = (shown: ToolView) => !breakEvenOf(shown, promptTexts(profile, shown, ofProfile)).isBelow;
  const enabled =
    configured.enabled === 'auto' ? isCode(inventory.view(LOCAL_CALLER, configured, names)) : configured.enabled;
  const view = inventory.view(LOCAL_CALLER, { ...configured, enabled }, enabled ? names : []);
  const instructions = enabled ? profile.instructions(view, ofProfile) : '';
  const exposed = (enabled ? profile.tools : []).map(({ name, description, inputSchema, outputSchema }) => ({
    name,
    description: description(view),
    inputSchema,
    outputSchema,
  }));
  const direct = view.direct.map(({ name, tool: { tool } }) => {
    const { description = '', inputSchema, outputSchema } = shownTool(tool);
    return { name, description, inputSchema, outputSchema };
  });
  const tools = [...exposed, ...direct];
  if (flags.json === true) {
    process.stdout.write(`${printableJson({ instructions, tools }, true)}\n`);
    return 0;
  }
  const described = tools.map(({ name, description }) => `## Tool ${name}\n\n${description}\n`);
  process.stdout.write(plain([`${instructions}\n`, ...described].join('\n')));
  return 0;
}
