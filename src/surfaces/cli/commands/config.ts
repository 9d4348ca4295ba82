import { type ExplainedValue, explainConfig } from '../../../config/explain.js';
import { describeSearch } from '../../../config/nothing-configured.js';
import type { CommandContext, Register } from '../command.js';
import { plainLine, printableJson, styled, warn } from '../terminal/terminal.js';

export const register: Register = (program, context) => {
  program
    .command('config')
    .description('show the configuration')
    .command('explain', { isDefault: true })
    .description('show every setting, its value and where the value comes from; secrets are masked')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: { json?: boolean }) => {
      context.exitWith(await explain(flags.json === true, context));
    });
};

const HELP = `
Layers, a later one wins: default, file, environment, flag.
The file is the first of: --config, CODEMODE_CONFIG, ./codemode.config.{yaml,yml,json} if you trust it (codemode trust),
~/.config/codemode/config.{yaml,yml,json}.
--json prints { "file", "format", "searched": [{ "place", "state" }], "values": [{ "key", "value", "layer", "place" }],
"warnings" }; "state" is used, not set, not found or not searched; "value" is JSON text.

Exit status: 0, 2 the configuration has mistakes.
`;

async function explain(isJson: boolean, context: CommandContext): Promise<number> {
  const loaded = await context.config();
  const { file, format, warnings, searched } = loaded;
  const values = explainConfig(loaded);
  if (isJson) {
    process.stdout.write(`${printableJson({ file: file ?? null, format, searched, values, warnings }, true)}\n`);
    return 0;
  }
  const source =
    file === undefined
      ? 'no file: everything is at its default'
      : `${file}${format === 'codemode' ? '' : ` (${format})`}`;
  process.stdout.write(`${styled('dim', `# ${plainLine(source)}`)}\n`);
  process.stdout.write(`${styled('dim', `# searched: ${plainLine(describeSearch(searched))}`)}\n`);
  for (const value of values) process.stdout.write(`${line(value)}\n`);
  warn(warnings);
  return 0;
}

function line({ key, value, layer, place }: ExplainedValue): string {
  const origin = layer === 'default' ? styled('dim', 'default') : plainLine(place === '' ? layer : `${layer} ${place}`);
  return `${styled('bold', plainLine(key))}: ${plainLine(value)}  ${styled('dim', '#')} ${origin}`;
}
