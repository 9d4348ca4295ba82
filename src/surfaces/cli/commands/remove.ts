import { serversInFile, withoutServer } from '../../../config/files/edit-file.js';
import { fileToChange, type OwnFile, writeOver } from '../../../config/files/own-file.js';
import { readEnvironment } from '../../../config/variables/environment.js';
import { HostError } from '../../../domain/errors.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { nearest } from '../../../lib/text/nearest.js';
import { EXIT, type Register } from '../command.js';
import { plainLine, printableJson, styled } from '../terminal/terminal.js';
import { ownShellCommand, trustSteps } from '../trust/file-notes.js';

interface RemoveFlags {
  readonly project?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('remove')
    .description('remove a server from the configuration')
    .argument('<name>', 'its name in the configuration')
    .option('--project', 'remove it from ./codemode.config.yaml')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (name: string, flags: RemoveFlags) => {
      const named = context.configFile();
      const projectFolder = context.projectFolder();
      const own = await fileToChange({
        ...omitUndefined({ named, projectFolder }),
        isProject: flags.project === true,
        cwd: process.cwd(),
        environment: readEnvironment(),
      });
      context.exitWith(await remove(name, own, flags.json === true));
    });
};

const HELP = `
Changes the file that is in use here: that of --config, else ./codemode.config.*, else your own. Comments and everything
else in it stay as they are, and a copy of it is kept: FILE.bak.
--json prints { "name", "file", "backup" }.

Exit status: 0 it is gone, 2 bad input, or no server has that name.

Examples:
  codemode remove github
`;

async function remove(name: string, own: OwnFile, isJson: boolean): Promise<number> {
  const { file, text } = own;
  if (text === undefined || text === '')
    throw new HostError('bad_input', `there is no configuration at ${file}; write one with: ${ownShellCommand()} init`);
  const names = Object.keys(serversInFile(text, file));
  if (!names.includes(name)) throw unknown(name, names, file);
  const { copy: backup } = await writeOver(own, withoutServer(text, file, name), { keepsCopy: true });
  if (isJson) {
    process.stdout.write(`${printableJson({ name, file, backup }, true)}\n`);
    return EXIT.ok;
  }
  const lines = [
    `${styled('green', 'removed')}: ${plainLine(name)} from ${plainLine(file)}`,
    `What was there before is in ${plainLine(backup ?? '')}`,
    ...trustSteps(own),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return EXIT.ok;
}

function unknown(name: string, names: readonly string[], file: string): HostError {
  const [close] = nearest(name, names, 1);
  const meant = close === undefined ? '' : ` Did you mean ${close}?`;
  const list = names.length === 0 ? 'It has no servers.' : `Its servers: ${names.join(', ')}`;
  return new HostError('bad_input', `${file} has no server called ${JSON.stringify(name)}.${meant} ${list}`);
}
