import { VERSION } from '../../../domain/version.js';
import { EXIT, type Register } from '../command.js';
import { printableJson } from '../terminal/terminal.js';

export const register: Register = (program, context) => {
  program
    .command('version')
    .description('print the version, like --version and -V')
    .option('--json', 'as JSON, with the version of Node and the platform')
    .addHelpText('after', HELP)
    .action(({ json }: { json?: boolean }) => {
      const facts = { version: VERSION, node: process.versions.node, platform: `${process.platform}-${process.arch}` };
      process.stdout.write(json === true ? `${printableJson(facts, true)}\n` : `${VERSION}\n`);
      context.exitWith(EXIT.ok);
    });
};

const HELP = `
--json prints { "version", "node", "platform" }.

Exit status: 0.
`;
