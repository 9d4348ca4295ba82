import { type InstallPlan, install, planInstall } from '../../../config/clients/install.js';
import {
  cursorInstallLink,
  cursorWebLink,
  vscodeInstallLink,
  vscodeWebLink,
} from '../../../config/clients/install-links.js';
import { type OwnStartCommand, ownStartCommand } from '../../../config/clients/own-start-command.js';
import type { Client } from '../../../config/clients/registry.js';
import {
  configuredServers,
  otherEntriesOfUs,
  type SharedServer,
  sharedServers,
} from '../../../config/clients/same-servers.js';
import { OWN_NAME, openTarget, type Target } from '../../../config/clients/target.js';
import { findConfigFile } from '../../../config/files/find-file.js';
import { readEnvironment } from '../../../config/variables/environment.js';
import { HostError } from '../../../domain/errors.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { shellWord } from '../../../lib/text/shell-word.js';
import { printDiff } from '../clients/client-file-change.js';
import { listClients } from '../clients/client-list.js';
import { findClient } from '../clients/find-client.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import { askYesNo } from '../terminal/ask-yes-no.js';
import { asking, waitFor } from '../terminal/progress.js';
import { plain, plainLine, printableJson, styled, warn } from '../terminal/terminal.js';
import { hasPersonAtTerminal } from '../terminal/terminal-line.js';
import { consentWord } from '../trust/consent-text.js';

interface InstallFlags {
  readonly dryRun?: boolean;
  readonly replaceServers?: boolean;
  readonly keepServers?: boolean;
  readonly force?: boolean;
  readonly link?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('install')
    .argument('[client]', 'claude-code, claude-desktop, cursor, vscode, codex, windsurf, gemini, opencode or zed')
    .description('add codemode to a client, or list the clients of this machine')
    .option('--dry-run', 'show what would change, and write nothing')
    .option('--replace-servers', 'remove from the client the servers that codemode has too')
    .option('--keep-servers', 'leave them in the client, and do not ask')
    .option('--force', 'replace an entry called codemode that starts another program')
    .option('--link', 'print links that open the client and add codemode (cursor, vscode)')
    .option('--json', 'print what was done as JSON')
    .addHelpText('after', HELP)
    .action(async (name: string | undefined, flags: InstallFlags) => {
      context.exitWith(await run(name, flags, context));
    });
};

const HELP = `
Writes an entry called codemode into the client's own file for this user, with the absolute paths of this program and of the
configuration. Of a project's codemode.config.* it names the folder (--project-folder): the file needs your trust, and again after
each change (codemode trust). The file's other contents, comments included, stay as they are; a copy of it is kept beside it until
codemode uninstall CLIENT restores it. Without CLIENT: which clients are on this machine, and whether they have codemode.

Servers that the client has and codemode too would be there twice. On a terminal you are asked whether to remove them from the
client; uninstall puts them back. One that is disabled or does not answer in codemode stays in the client.

--json prints { "client", "file", "state": "added" | "updated" | "present", "isWritten", "entry", "backup", "removed",
"sharedServers": [{ "name", "configuredAs" }], "failing", "notes" }; without CLIENT
[{ "client", "title", "file", "isFound", "state" }].

Exit status: 0, 2 bad input, or a file that cannot be edited: then nothing was written.

Examples:
  codemode install
  codemode install cursor --dry-run
  codemode install claude-code --replace-servers
  codemode --config ~/work/codemode.yaml install codex
  codemode install vscode --link
`;

async function run(name: string | undefined, flags: InstallFlags, context: CommandContext): Promise<number> {
  const environment = readEnvironment();
  const configFile = context.configFile();
  const projectFolder = context.projectFolder();
  const { found } = await findConfigFile({
    cwd: process.cwd(),
    environment,
    ...omitUndefined({ configFile, projectFolder }),
  });
  const file = found?.file;
  // Asks for trust now, while a person may be present. When a client starts codemode, nobody can be asked.
  if (found?.origin === 'project' && name !== undefined) await context.config();
  const start = ownStartCommand(environment, process.cwd(), found);
  if (name === undefined) return listClients(environment, start, flags.json === true);
  const client = findClient(name);
  if (flags.link === true) return printLinks(client, start);
  if (flags.replaceServers === true && flags.keepServers === true)
    throw new HostError('bad_input', 'give --replace-servers or --keep-servers, not both');
  const servers = await serversOf(file, configFile !== undefined, context);
  const target = await openTarget(client, environment, process.platform);
  const shared = sharedServers(target, servers, environment);
  const isQuiet = flags.json === true || flags.dryRun === true;
  const removes = shared.length > 0 && (await isRemoving(target, shared, flags, isQuiet));
  const failing = removes && flags.dryRun !== true ? await failingServers(shared, context) : [];
  const plan = planInstall(target, {
    start,
    removed: removes ? shared.flatMap(({ name }) => (failing.includes(name) ? [] : [name])) : [],
    replacesForeign: flags.force === true,
  });
  const backup = flags.dryRun === true ? null : await install(target, plan, environment);
  const outcome = {
    target,
    plan,
    shared,
    failing,
    backup,
    shell: `${start.shell}${asGiven({ configFile, projectFolder })}`,
    notes: notesOf(target, file, found?.origin === 'project', start),
  };
  if (flags.json === true) return printJson(outcome, flags.dryRun !== true);
  if (flags.dryRun === true && plan.text !== undefined) printDiff(target, plan.text);
  report(outcome, flags.dryRun === true, flags);
  return EXIT.ok;
}

interface Outcome {
  readonly target: Target;
  readonly plan: InstallPlan;
  readonly shared: readonly SharedServer[];
  /** Servers that codemode could not connect. They stay in the client, where they may work. */
  readonly failing: readonly string[];
  readonly backup: string | null;
  /** The command that does the same again. */
  readonly shell: string;
  readonly notes: readonly string[];
}

/** An unreadable configuration does not prevent the installation: codemode itself will say what is wrong with it. */
async function serversOf(file: string | undefined, isNamed: boolean, context: CommandContext) {
  if (file === undefined) return {};
  try {
    const servers = await configuredServers(file);
    // A server that is disabled by a mistake is not taken over: the client keeps it.
    const { disabledServers } = await context.config();
    return Object.fromEntries(
      Object.entries(servers).filter(([id]) => !disabledServers.some((each) => each.id === id)),
    );
  } catch (error) {
    if (isNamed) throw error;
    warn([`${(error as Error).message}; its servers were not compared with the client's`]);
    return {};
  }
}

/** How long a server may take to start before it is left in the client. */
const CONNECTING_MS = 15_000;

/** The servers that do not answer when codemode starts them. */
async function failingServers(shared: readonly SharedServer[], context: CommandContext): Promise<string[]> {
  const { inventory } = await context.inventory();
  await using _ = inventory;
  const names = shared.map(({ configuredAs }) => configuredAs);
  await waitFor('connecting servers', (say) =>
    inventory.ask('all', { names, withinMs: CONNECTING_MS, onProgress: asking(say) }),
  );
  const ready = new Set(inventory.servers().flatMap(({ id, state }) => (state === 'ready' ? [id] : [])));
  return shared.flatMap(({ name, configuredAs }) => (ready.has(configuredAs) ? [] : [name]));
}

async function isRemoving(
  { client }: Target,
  shared: readonly SharedServer[],
  { replaceServers, keepServers }: InstallFlags,
  isQuiet: boolean,
): Promise<boolean> {
  if (replaceServers === true || keepServers === true) return replaceServers === true;
  if (isQuiet || !hasPersonAtTerminal()) return false;
  const names = shared.map(({ name }) => consentWord(name)).join(', ');
  return askYesNo(
    `Remove ${shared.length === 1 ? 'it' : 'them'} from ${client.title}, so that each is there once? Uninstall puts them back.`,
    { text: `${client.title} and codemode both have: ${names}.\n`, cancels: true },
  );
}

function notesOf(target: Target, configFile: string | undefined, isProject: boolean, start: OwnStartCommand): string[] {
  const { client, isFound, file } = target;
  const { shell, args } = start;
  const notes = otherEntriesOfUs(target, start).map(
    (name) =>
      `${client.title} also starts codemode as ${consentWord(name)}. Remove that entry from ${file.path}, unless you want a second one with another configuration.`,
  );
  if (!isFound) notes.push(`${client.title} does not seem to be installed here; it will find ${file.path} once it is.`);
  if (configFile === undefined)
    notes.push(`There is no configuration yet, so codemode has no servers. Write one with: ${shell} init`);
  if (args.some((word) => /[\\/]_npx[\\/]/.test(word)))
    notes.push(
      `The entry points into the cache of npx, which npm may empty. To keep it working: npm install -g codemode, then codemode install ${client.id}`,
    );
  if (isProject && configFile !== undefined)
    notes.push(
      `When ${configFile} changes, codemode stops in ${client.title} until you type: ${shell} trust ${shellWord(configFile)}`,
    );
  return notes;
}

/** The global options that name a configuration, as they were given. */
function asGiven(given: {
  readonly configFile: string | undefined;
  readonly projectFolder: string | undefined;
}): string {
  const { configFile, projectFolder } = given;
  if (configFile !== undefined) return ` --config ${shellWord(configFile)}`;
  return projectFolder === undefined ? '' : ` --project-folder ${shellWord(projectFolder)}`;
}

/** The options that affect what is written, as they were typed. */
function asTyped({ replaceServers, keepServers, force }: InstallFlags): string {
  const chosen = { '--replace-servers': replaceServers, '--keep-servers': keepServers, '--force': force };
  return Object.entries(chosen)
    .filter(([, isChosen]) => isChosen === true)
    .map(([option]) => ` ${option}`)
    .join('');
}

function report(
  { target, plan, shared, failing, backup, shell, notes }: Outcome,
  isDry: boolean,
  flags: InstallFlags,
): void {
  const { client, file } = target;
  const lines: string[] = [];
  const path = plainLine(file.path);
  if (plan.text === undefined) lines.push(`codemode is already in ${client.title} (${path}); nothing was changed.`);
  else if (isDry) lines.push(`Nothing was written. To write it: ${shell} install ${client.id}${asTyped(flags)}`);
  else if (plan.state === 'present') lines.push(`codemode is already in ${client.title} (${path}).`);
  else
    lines.push(`${styled('green', plan.state === 'added' ? 'Added' : 'Updated')} codemode in ${client.title}: ${path}`);
  if (!isDry && plan.removed.length > 0)
    lines.push(`Removed from ${client.title}, because codemode has them: ${plan.removed.map(plain).join(', ')}`);
  if (failing.length > 0)
    lines.push(
      `Left in ${client.title}, because codemode could not connect: ${failing.map((name) => plainLine(name)).join(', ')}. See why with: ${shell} servers`,
    );
  const kept = shared
    .filter(({ name }) => !plan.removed.includes(name) && !failing.includes(name))
    .map(({ name }) => plainLine(name));
  if (kept.length > 0) {
    lines.push(`In ${client.title} and in codemode: ${kept.join(', ')}`);
    if (flags.keepServers !== true)
      lines.push(`To remove them from ${client.title}: ${shell} install ${client.id} --replace-servers`);
  }
  if (!isDry && plan.text !== undefined) {
    if (backup !== null) lines.push(`A copy of the file as it was: ${plainLine(backup)}`);
    lines.push(`Restart ${client.title} to use it. To undo: ${shell} uninstall ${client.id}`);
  }
  process.stdout.write(`${[...lines, ...notes.map((note) => plainLine(note))].join('\n')}\n`);
}

function printJson({ target, plan, shared, failing, backup, notes }: Outcome, isWritten: boolean): number {
  const { client, file } = target;
  const { state, entry, removed, text } = plan;
  const shown = {
    client: client.id,
    file: file.path,
    state,
    isWritten: isWritten && text !== undefined,
    entry,
    backup,
    removed,
    sharedServers: shared,
    failing,
    notes,
  };
  process.stdout.write(`${printableJson(shown, true)}\n`);
  return EXIT.ok;
}

function printLinks({ id, title }: Client, { command, args, shell }: OwnStartCommand): number {
  const server = { name: OWN_NAME, command, args };
  const links: Record<string, readonly string[]> = {
    cursor: [cursorInstallLink(server), cursorWebLink(server)],
    vscode: [vscodeInstallLink(server), vscodeWebLink(server)],
  };
  const found = links[id];
  if (found === undefined)
    throw new HostError(
      'bad_input',
      `${title} has no install links; cursor and vscode have. Type: ${shell} install ${id}`,
    );
  process.stdout.write(`${found.join('\n')}\n`);
  return EXIT.ok;
}
