import type { Command } from 'commander';
import { HostError } from '../../../domain/errors.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Decision, Preset } from '../../../domain/policy.js';
import type { PolicyReport } from '../../../host/tools/inventory.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import type { CommandContext, Register } from '../command.js';
import { plainLine, printableJson, styled } from '../terminal/terminal.js';

interface CheckFlags {
  readonly arguments?: string;
  readonly caller?: string;
  readonly profile?: string;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  const policy = program
    .command('policy')
    .description('show what programs may call')
    .option('--json', 'as JSON')
    .addHelpText('after', OVERVIEW_HELP)
    .action(async (flags: { readonly json?: boolean }) => {
      await overview(flags.json === true, context);
    });
  policy
    .command('check')
    .description('say whether a call is allowed, needs approval or is denied, and by which rule')
    .argument('<server/tool>', 'the tool, as codemode tools lists it')
    .option('--arguments <json>', 'the arguments of the call (default: none)')
    .option('--caller <name>', 'on behalf of this caller (default: command line)')
    .option('--profile <name>', 'under this profile (default: the configured one)')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (name: string, _: unknown, command: Command) => {
      // `--json` is also an option of the overview, which takes it wherever it stands.
      context.exitWith(await check(name, command.optsWithGlobals<CheckFlags>(), context));
    });
};

const OVERVIEW_HELP = `
Nothing is started: tools come from the catalog on disk. A decision that depends on arguments is shown for a call without any.
--json prints { "preset", "rules", "prices", "budget", "servers": [{ "serverId", "tools": [...] }] }, with what
policy check says of each tool.

Exit status: 0, 2 bad configuration.

Examples:
  codemode policy
  codemode policy check files/write_file
`;

async function overview(isJson: boolean, context: CommandContext): Promise<void> {
  const { inventory, loaded } = await context.inventory();
  await using _ = inventory;
  const { preset, rules, prices, budget } = loaded.config.policy;
  const servers = inventory.policyOverview();
  if (isJson) {
    process.stdout.write(`${printableJson({ preset, rules, prices, budget, servers }, true)}\n`);
    return;
  }
  const told = rules.map(
    ({ decision, examples: _examples, ...rule }, index) => `  ${index + 1}. ${WORDS[decision]}: ${printableJson(rule)}`,
  );
  const costs =
    Object.keys(prices).length === 0 ? [] : [`Prices: ${printableJson(prices)}, budget: ${printableJson(budget)}`];
  const lines = [
    ...(told.length === 0 ? ['No rules.'] : ['Rules, the first that matches decides:', ...told]),
    `${told.length === 0 ? 'The' : 'Otherwise the'} preset ${styled('bold', preset)} decides: ${PRESETS[preset]}.`,
    ...costs,
    ...servers.map(({ serverId, tools }) => `${styled('bold', plainLine(serverId))}: ${countsOf(tools)}`),
    'One call: codemode policy check SERVER/TOOL',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const PRESETS: Readonly<Record<Preset, string>> = {
  default: 'it asks about tools that are destructive by claim or by name',
  strict: 'it asks about everything but tools of trusted servers that claim to only read',
  open: 'it asks about nothing',
};
const MAX_NAMED = 8;

/** How many tools are allowed, ask or are denied. Exceptions are listed by name. */
function countsOf(tools: readonly PolicyReport[]): string {
  if (tools.length === 0) return 'no tools are known; see: codemode servers';
  const parts = (['allow', 'ask', 'deny'] as const).flatMap((decision) => {
    const found = tools.filter((tool) => tool.decision === decision);
    if (found.length === 0) return [];
    const names = found.slice(0, MAX_NAMED).map(({ toolName }) => plainLine(toolName));
    const more = found.length > MAX_NAMED ? `, and ${found.length - MAX_NAMED} more` : '';
    return [`${found.length} ${COUNTED[decision]}${decision === 'allow' ? '' : ` (${names.join(', ')}${more})`}`];
  });
  return `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}: ${parts.join(', ')}`;
}

const COUNTED: Readonly<Record<Decision, string>> = { allow: 'allowed', ask: 'asked about', deny: 'denied' };

const HELP = `
Nothing is started: what is known of a tool comes from the catalog on disk, and a tool that is not in it is judged by
its name. A server that is not configured is an error. What a run has received (the flow guard) and spent (budgets) is not considered.
--json prints { "serverId", "toolName", "decision", "reason", "rule", "isKnown", "nearest", "dependsOn", "isTrusted",
"labels", "price" }.

Exit status: 0 allowed, 1 denied, 3 a person is asked, 2 bad input or configuration.

Examples:
  codemode policy check files/write_file
  codemode policy check git/push --arguments '{"branch":"main"}' && echo allowed
`;

const EXIT_STATUS: Readonly<Record<Decision, number>> = { allow: 0, deny: 1, ask: 3 };
const WORDS: Readonly<Record<Decision, string>> = { allow: 'allowed', ask: 'a person is asked', deny: 'denied' };

async function check(name: string, flags: CheckFlags, context: CommandContext): Promise<number> {
  const given = omitUndefined({ arguments: ifDefined(flags.arguments, readArguments) });
  const { inventory } = await context.inventory();
  await using _ = inventory;
  const report = inventory.checkPolicy({
    name,
    ...given,
    ...omitUndefined({ caller: flags.caller, profile: flags.profile }),
  });
  process.stdout.write(flags.json === true ? `${printableJson(report, true)}\n` : render(report));
  return EXIT_STATUS[report.decision];
}

function readArguments(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new HostError('bad_input', `--arguments: expected a JSON object such as '{"path":"a.txt"}'`);
}

function render(report: PolicyReport): string {
  const { serverId, toolName, decision, reason, rule, isKnown, nearest, dependsOn, isTrusted, labels, price } = report;
  const found = isKnown ? '' : 'not in the catalog; if its server has it: ';
  const lines = [`${styled('bold', plainLine(`${serverId}/${toolName}`))}: ${found}${WORDS[decision]}`];
  const add = (label: string, text: string) => lines.push(`  ${styled('dim', `${label}:`)} ${plainLine(text)}`);
  add('because', reason);
  add('says', rule.text);
  if (dependsOn.length > 0)
    add('for some arguments', `${dependsOn.map(({ text }) => text).join(', ')} may say otherwise`);
  if (isTrusted || labels.length > 0) add('its server', [...(isTrusted ? ['trusted'] : []), ...labels].join(', '));
  if (price !== undefined) add('costs', price);
  if (!isKnown) {
    add('note', 'a tool that its server does not have cannot be called; this one was judged by its name alone');
    if (nearest.length > 0) add('did you mean', nearest.join(' or '));
  }
  return `${lines.join('\n')}\n`;
}
