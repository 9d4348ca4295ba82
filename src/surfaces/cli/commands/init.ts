import { resolve } from 'node:path';
import { clientFiles, discoverServers, readClientFile } from '../../../config/files/discover.js';
import { serversInFile, withServers } from '../../../config/files/edit-file.js';
import { findConfigFile } from '../../../config/files/find-file.js';
import { fileToWrite, type OwnFile, type WrittenOver, writeNew, writeOver } from '../../../config/files/own-file.js';
import { holdsValues, importedServer, renderConfig } from '../../../config/files/write.js';
import { type ImportPlan, OF_THIS_FOLDER, planImport } from '../../../config/import/plan-import.js';
import { type Environment, readEnvironment } from '../../../config/variables/environment.js';
import { HostError } from '../../../domain/errors.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { shellWord } from '../../../lib/text/shell-word.js';
import { describePlan, describeStrangers, nextSteps, planAsJson } from '../clients/import-report.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import { askYesNo } from '../terminal/ask-yes-no.js';
import { plainLine, printableJson } from '../terminal/terminal.js';
import { askLine, hasPersonAtTerminal } from '../terminal/terminal-line.js';
import { ownShellCommand } from '../trust/file-notes.js';

interface InitFlags {
  readonly yes?: boolean;
  readonly project?: boolean;
  readonly output?: string;
  readonly from?: string[];
  readonly merge?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('init')
    .description('write a configuration with the servers of your other clients')
    .option('--yes', 'write without asking; servers from files of this folder are left out')
    .option('--project', 'write ./codemode.config.yaml instead of your own file')
    .option('--output <file>', 'write this file; .json is understood too')
    .option('--from <file...>', 'take servers from these files instead of the usual places')
    .option('--merge', 'add the servers that the file does not have yet, and change nothing else in it')
    .option('--force', 'replace the file if it exists; a copy of it is kept')
    .option('--json', 'show the plan, and with --yes what was written, as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: InitFlags) => {
      context.exitWith(await init(flags, context));
    });
};

const HELP = `
Writes $XDG_CONFIG_HOME/codemode/config.yaml, or ~/.config/codemode/config.yaml, readable by you alone.
Looks for the servers of Claude Desktop, Claude Code, Cursor, VS Code, Codex, Windsurf, Gemini CLI, OpenCode, Zed and
mcpproxy: first in your home folder, then in this one. Their files are only read.
Servers from files of this folder may be a stranger's. They are added to your own file only after a question of their own
on a terminal; --yes leaves them out. --project and --from include them. One whose name is taken, or looks like one of
yours, gets the ending -project.
Into a file of a project, or of any git work tree, values that look like secrets are not written: the file refers to
environment variables, and init says which to set. --merge and --force keep a copy of the file: FILE.bak, or, of a file in
a git work tree, one in the state folder. A file that gets values of servers becomes readable by you alone.
--json prints { "servers": [{ "name", "renamedFrom", "client", "file", "command", "args", "url", "cwd", "env",
"inheritEnv", "headers", "envValues", "headerValues" }], "leftOut": [{ "name", "client", "file", "reason" }], "warnings",
"variables": [{ "name", "isSet", "server", "place" }], "notPassedOn": [{ "server", "names" }], "written", "backup",
"tightened" }; "env" and "headers" are names without values, "envValues" and "headerValues" are those of a server from a
file of this folder; "variables" are those of yours whose values reach a server; "written" is null without --yes.

Exit status: 0, 1 you said no, 2 bad input, or the file exists.

Examples:
  codemode init
  codemode init --merge --yes
  codemode init --project
  codemode init --yes --from ~/.cursor/mcp.json --output tools.yaml
`;

async function init(flags: InitFlags, context: CommandContext): Promise<number> {
  const own = await targetOf(flags, context);
  const environment = readEnvironment();
  const isMerge = flags.merge === true && own.text !== undefined && own.text !== '';
  const existing = isMerge ? serversInFile(own.text ?? '', own.file) : {};
  const found = await discovered(flags, environment);
  const planWith = (includesProject: boolean) => planImport(found, environment, { ...own, existing, includesProject });
  // A file named with --from is the user's choice; the project's own file is used only after `codemode trust`.
  let plan = planWith(flags.from !== undefined || isProjectsOwn(own, flags, context));
  const isJson = flags.json === true;
  if (flags.yes !== true && !isJson && hasPersonAtTerminal()) {
    const agreed = await agreedPlan(plan, planWith, own, isMerge, environment);
    if (agreed === undefined) return EXIT.failed;
    plan = agreed;
  } else if (!isJson) process.stdout.write(describePlan(plan, own, isMerge, environment));
  const isNeedless = isMerge && plan.servers.length === 0;
  if (isJson && (flags.yes !== true || isNeedless)) return print(planAsJson(plan, environment, null));
  if (isNeedless) {
    process.stdout.write(`${plainLine(own.file)} has them all; nothing was written.\n`);
    return EXIT.ok;
  }
  if (flags.yes !== true && !hasPersonAtTerminal())
    throw new HostError('bad_input', 'nothing was written: there is no terminal to ask on; add --yes to write it');
  const result = await write(plan, own, isMerge);
  if (isJson) return print(planAsJson(plan, environment, own.file, result));
  process.stdout.write(`${nextSteps(plan, own, result, await otherInUse(own, environment))}\n`);
  return EXIT.ok;
}

/** Whether the file is the project's own, and was not trusted by being named explicitly. */
function isProjectsOwn({ file, kind }: OwnFile, { project }: InitFlags, context: CommandContext): boolean {
  if (project === true) return true;
  const named = [context.configFile(), readEnvironment().CODEMODE_CONFIG].filter((each) => each !== undefined);
  return kind === 'project' && !named.some((each) => resolve(each) === file);
}

/** Asks about the user's own servers, then about those of this folder. Undefined if nothing is to be written. */
async function agreedPlan(
  plan: ImportPlan,
  planWith: (includesProject: boolean) => ImportPlan,
  own: OwnFile,
  isMerge: boolean,
  environment: Environment,
): Promise<ImportPlan | undefined> {
  const isAsked = ({ reason }: { readonly reason: string }) => reason === OF_THIS_FOLDER;
  const shown = { ...plan, leftOut: plan.leftOut.filter((each) => !isAsked(each)) };
  process.stdout.write(describePlan(shown, own, isMerge, environment));
  if (!(isMerge && plan.servers.length === 0) && !(await isAgreed(own.file, isMerge))) return undefined;
  if (!plan.leftOut.some(isAsked)) return plan;
  const whole = planWith(true);
  const count = whole.servers.length - plan.servers.length;
  const { text, isCut } = describeStrangers(whole);
  if (isCut) {
    process.stdout.write(`${text}Servers from files in this folder are too long to be shown, and were left out.\n`);
    return plan;
  }
  const these = count === 1 ? 'this server' : `these ${count} servers`;
  const whose = count === 1 ? 'It may not be yours.' : 'They may not be yours.';
  const question = `Also add ${these} from files in this folder? ${whose} [y/N] `;
  const answer = await askLine(text, question, new AbortController().signal);
  return typeof answer === 'object' && /^y(es)?$/i.test(answer.text.trim()) ? whole : plan;
}

/** The configuration that is in use in this folder, if it is not the file that was written. */
async function otherInUse({ file, kind }: OwnFile, environment: Environment): Promise<string | undefined> {
  if (kind !== 'user') return undefined;
  const { found } = await findConfigFile({ cwd: process.cwd(), environment });
  return found?.file === file ? undefined : found?.file;
}

/** Checked before anything is asked or written. */
async function targetOf(flags: InitFlags, context: CommandContext): Promise<OwnFile> {
  if (flags.merge === true && flags.force === true)
    throw new HostError('bad_input', 'either --merge, which adds to the file, or --force, which replaces it');
  if (flags.project === true && flags.output !== undefined)
    throw new HostError('bad_input', 'either --project or --output, not both');
  const named = flags.output ?? (flags.project === true ? undefined : context.configFile());
  const own = await fileToWrite({
    ...omitUndefined({ named }),
    isProject: flags.project === true,
    cwd: process.cwd(),
    environment: readEnvironment(),
  });
  const isThere = own.text !== undefined && own.text !== '';
  if (isThere && flags.merge !== true && flags.force !== true) throw alreadyThere(own, flags);
  return own;
}

function alreadyThere({ file }: OwnFile, { project, output }: InitFlags): HostError {
  const where = project === true ? ' --project' : output === undefined ? '' : ` --output ${shellWord(output)}`;
  const command = `${ownShellCommand()} init${where}`;
  return new HostError(
    'bad_config',
    `${file} exists already; nothing was written\n  add the servers that are missing in it:  ${command} --merge\n  replace it, and keep a copy:             ${command} --force`,
  );
}

function discovered({ from }: InitFlags, environment: Environment) {
  const cwd = process.cwd();
  if (from === undefined) return discoverServers(clientFiles(environment, cwd, process.platform));
  return Promise.all(from.map((file) => readClientFile(resolve(file), environment, cwd)));
}

async function write(plan: ImportPlan, own: OwnFile, isMerge: boolean): Promise<WrittenOver> {
  const servers = plan.servers.map(importedServer);
  const isPrivate = !own.isShared && servers.some(holdsValues);
  if (isMerge) return writeOver(own, withServers(own.text ?? '', own.file, servers), { keepsCopy: true, isPrivate });
  const text = renderConfig(servers, own.file);
  if (own.text !== undefined) return writeOver(own, text, { keepsCopy: own.text !== '', isPrivate });
  await writeNew(own, text);
  return {};
}

function isAgreed(file: string, isMerge: boolean): Promise<boolean> {
  return askYesNo(`${isMerge ? 'Add them to' : 'Write'} ${plainLine(file)}?`, { byDefault: 'yes' });
}

function print(shown: object): number {
  process.stdout.write(`${printableJson(shown, true)}\n`);
  return EXIT.ok;
}
