import { HostError } from '../../../domain/errors.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Decision } from '../../../domain/policy.js';
import type { PolicyReport } from '../../../host/tools/inventory.js';
import type { CommandContext, Register } from '../command.js';
import { plainLine, printableJson, styled } from '../terminal.js';

interface CheckFlags {
  readonly arguments?: string;
  readonly caller?: string;
  readonly profile?: string;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('policy')
    .description('show what programs may call')
    .command('check')
    .description('say whether a call is allowed, needs approval or is denied, and by which rule')
    .argument('<server/tool>', 'the tool, as codemode tools lists it')
    .option('--arguments <json>', 'the arguments of the call (default: none)')
    .option('--caller <name>', 'on behalf of this caller (default: command line)')
    .option('--profile <name>', 'under this profile (default: the configured one)')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (name: string, flags: CheckFlags) => {
      context.exitWith(await check(name, flags, context));
    });
};

const HELP = `
Nothing is started: what is known of a tool comes from the catalog on disk, and a tool that is not in it is judged by
its name. What a run has received (the flow guard) and spent (budgets) is not looked at.
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
  const given = flags.arguments === undefined ? {} : { arguments: readArguments(flags.arguments) };
  const { inventory } = await context.inventory();
  await using _ = inventory;
  const report = inventory.checkPolicy({
    name,
    ...given,
    ...(flags.caller === undefined ? {} : { caller: flags.caller }),
    ...(flags.profile === undefined ? {} : { profile: flags.profile }),
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
  const lines = [`${styled('bold', plainLine(`${serverId}/${toolName}`))}: ${WORDS[decision]}`];
  const add = (label: string, text: string) => lines.push(`  ${styled('dim', `${label}:`)} ${plainLine(text)}`);
  add('because', reason);
  add('says', rule.text);
  if (dependsOn.length > 0)
    add('for some arguments', `${dependsOn.map(({ text }) => text).join(', ')} may say otherwise`);
  if (isTrusted || labels.length > 0) add('its server', [...(isTrusted ? ['trusted'] : []), ...labels].join(', '));
  if (price !== undefined) add('costs', price);
  if (!isKnown) {
    add('note', 'no such tool is in the catalog; it was judged by its name alone');
    if (nearest.length > 0) add('did you mean', nearest.join(' or '));
  }
  return `${lines.join('\n')}\n`;
}
