import { ownStartCommand } from '../../../config/clients/own-start-command.js';
import { openTarget, type Target } from '../../../config/clients/target.js';
import { planUninstall, type UninstallPlan, uninstall } from '../../../config/clients/uninstall.js';
import { readEnvironment } from '../../../config/variables/environment.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { printDiff } from '../clients/client-file-change.js';
import { findClient } from '../clients/find-client.js';
import { EXIT, type Register } from '../command.js';
import { plain, plainLine, printableJson, styled } from '../terminal/terminal.js';

interface UninstallFlags {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('uninstall')
    .argument('<client>', 'a client that codemode install knows')
    .description('remove codemode from a client, and put back the servers that install removed')
    .option('--dry-run', 'show what would change, and write nothing')
    .option('--json', 'print what was done as JSON')
    .addHelpText('after', HELP)
    .action(async (name: string, flags: UninstallFlags) => {
      context.exitWith(await run(name, flags));
    });
};

const HELP = `
A file that nobody has changed since codemode install becomes what it was, byte for byte. In one that was changed, only the entry
of codemode goes, and servers that install removed are put back.
--json prints { "client", "file", "state": "restored" | "deleted" | "edited" | "absent", "isWritten", "restored",
"changedBackup" }; the last only where the copy was changed since: then it is not used, and stays.

Exit status: 0, also where codemode was not in the client; 2 bad input, or a file that cannot be edited: then nothing was written.

Examples:
  codemode uninstall cursor
  codemode uninstall codex --dry-run
`;

async function run(name: string, flags: UninstallFlags): Promise<number> {
  const environment = readEnvironment();
  const target = await openTarget(findClient(name), environment, process.platform);
  const start = ownStartCommand(environment, process.cwd(), undefined);
  const plan = await planUninstall(target, start);
  const isDry = flags.dryRun === true;
  if (!isDry) await uninstall(target, plan, environment);
  const { client, file } = target;
  if (flags.json === true) {
    const { state, restored, changedBackup } = plan;
    const shown = {
      client: client.id,
      file: file.path,
      state,
      isWritten: !isDry && state !== 'absent',
      restored,
      ...omitUndefined({ changedBackup }),
    };
    process.stdout.write(`${printableJson(shown, true)}\n`);
    return EXIT.ok;
  }
  if (isDry && plan.state !== 'absent') printDiff(target, plan.text ?? '');
  process.stdout.write(`${said(target, plan, isDry, start.shell)}\n`);
  return EXIT.ok;
}

function said(
  { client, file }: Target,
  { state, restored, changedBackup }: UninstallPlan,
  isDry: boolean,
  shell: string,
): string {
  const path = plainLine(file.path);
  if (state === 'absent') return `codemode is not in ${client.title} (${path}); nothing was changed.`;
  if (isDry) return `Nothing was written. To write it: ${shell} uninstall ${client.id}`;
  const how = {
    restored: 'the file is what it was before',
    deleted: 'the file was made by codemode and is deleted',
    edited:
      changedBackup === undefined
        ? 'the file was changed since, so only this entry was removed'
        : `only this entry was removed, because the copy ${plainLine(changedBackup)} is not the one that install made; it was left there`,
  }[state];
  const back = restored.length === 0 ? '' : `\nServers that are back: ${restored.map(plain).join(', ')}`;
  return `${styled('green', 'Removed')} codemode from ${client.title} (${path}): ${how}.${back}`;
}
