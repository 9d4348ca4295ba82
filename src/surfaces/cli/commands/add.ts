import { resolve } from 'node:path';
import { serversInFile, withServers } from '../../../config/files/edit-file.js';
import { fileToChange, type OwnFile, type WrittenOver, writeNew, writeOver } from '../../../config/files/own-file.js';
import type { NewServer } from '../../../config/files/splice.js';
import { holdsValues, renderConfig } from '../../../config/files/write.js';
import { findCommand } from '../../../config/find-command.js';
import { isOurselves, problemOfServer } from '../../../config/import/plan-import.js';
import { isValidServerName } from '../../../config/schema/server-schema.js';
import { shownServer } from '../../../config/trust/shown-server.js';
import { type Environment, readEnvironment } from '../../../config/variables/environment.js';
import { type Reference, SecretReferences } from '../../../config/variables/secret-references.js';
import { escapeUnknownReferences, variablesIn } from '../../../config/variables/substitute.js';
import { unpassedVariables } from '../../../config/variables/unpassed-variables.js';
import { HostError } from '../../../domain/errors.js';
import type { JsonObject } from '../../../domain/json.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { shellWord } from '../../../lib/text/shell-word.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import { plainLine, printableJson, styled, warn } from '../terminal/terminal.js';
import {
  noteOnVariables,
  notesOnFile,
  notesOnReferences,
  notesOnRights,
  ownShellCommand,
  ownShellCommandFor,
  trustSteps,
} from '../trust/file-notes.js';

interface AddFlags {
  readonly url?: string;
  readonly env?: string[];
  readonly header?: string[];
  readonly cwd?: string;
  readonly project?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('add')
    .description('add a server to the configuration')
    .argument('<name>', 'a name for the server')
    .argument('[command...]', 'after --: the command that starts it, with its arguments')
    .option('--url <url>', 'the address of a remote server, in place of a command')
    .option('--env <name[=value]>', 'a variable for its process; without a value, a reference to yours', collect)
    .option('--header <header>', "'Name: value', sent to a remote server with each request", collect)
    .option('--cwd <folder>', 'the folder in which its process starts')
    .option('--project', 'add it to ./codemode.config.yaml')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (name: string, command: string[], flags: AddFlags) => {
      context.exitWith(await add(name, command, flags, context));
    });
};

const HELP = `
Changes the file that is in use here: that of --config, else ./codemode.config.*, else your own, which is made if it is
not there. Comments and everything else in it stay as they are. Options come before the --.
A value on the command line stays in your shell's history; --env NAME refers to a variable of your environment instead.
Into a file of a project, or of any git work tree, values that look like secrets are not written: the file refers to
environment variables, and add says which to set.
--json prints { "name", "file", "command", "args", "url", "cwd", "env", "headers", "variables": [{ "name", "isSet" }],
"notPassedOn", "warnings" }; "env" and "headers" are names without values.

Exit status: 0 it was added, 2 bad input, or the name is taken.

Examples:
  codemode add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  codemode add github --env GITHUB_TOKEN -- github-mcp-server stdio
  codemode add issues --url https://example.com/mcp --header 'Authorization: Bearer \${ISSUES_TOKEN}'
`;

async function add(name: string, words: string[], flags: AddFlags, context: CommandContext): Promise<number> {
  const environment = readEnvironment();
  const wanted = serverOf(name, words, flags, environment);
  const named = context.configFile();
  const projectFolder = context.projectFolder();
  const own = await fileToChange({
    ...omitUndefined({ named, projectFolder }),
    isProject: flags.project === true,
    cwd: process.cwd(),
    environment,
  });
  refuseTaken(name, own);
  const { server, references } = own.isShared
    ? new SecretReferences(environment).replace(wanted, name)
    : { server: wanted, references: [] };
  const added = [{ name, server }];
  const written = await write(own, added);
  report({ name, server, references, own, written, environment }, flags.json === true);
  return EXIT.ok;
}

async function write(own: OwnFile, added: readonly NewServer[]): Promise<WrittenOver> {
  if (own.text === undefined) {
    await writeNew(own, renderConfig(added, own.file));
    return {};
  }
  const text = own.text === '' ? renderConfig(added, own.file) : withServers(own.text, own.file, added);
  // Nothing in the file is changed or lost, so no backup is made.
  return writeOver(own, text, { keepsCopy: false, isPrivate: !own.isShared && added.some(holdsValues) });
}

/** The requested server, validated. Throws `bad_input`. */
function serverOf(name: string, words: readonly string[], flags: AddFlags, environment: Environment): JsonObject {
  if (!isValidServerName(name))
    throw bad(
      `the name ${JSON.stringify(name)} cannot be used: give 1 to 128 characters without slashes and control characters`,
    );
  const [command, ...args] = words;
  const { url, header = [], env = [], cwd } = flags;
  if (command === undefined && url === undefined)
    throw bad(
      `say what ${name} is: a command after --, as in  ${ownShellCommand()} add ${shellWord(name)} -- npx -y PACKAGE, or --url URL`,
    );
  if (command !== undefined && url !== undefined) throw bad('either a command or --url, not both');
  if (command?.trim() === '') throw bad('the command is empty; write after -- what starts the server');
  if (url !== undefined && (env.length > 0 || cwd !== undefined))
    throw bad('--env and --cwd are for a server with a command; a remote one takes --header');
  if (url === undefined && header.length > 0) throw bad('--header is for a server with --url');
  const server = escapeUnknownReferences({
    ...omitUndefined({ command }),
    ...(args.length === 0 ? {} : { args }),
    ...(env.length === 0 ? {} : { env: Object.fromEntries(env.map(variableOf)) }),
    ...omitUndefined({ cwd: ifDefined(cwd, resolve), url }),
    ...(header.length === 0 ? {} : { headers: Object.fromEntries(header.map(headerOf)) }),
  }) as JsonObject;
  const problem = problemOfServer(server);
  if (problem !== undefined) throw bad(`this cannot be a server: ${problem}`);
  if (isOurselves(server)) throw bad('this is codemode itself; add the servers that programs should call');
  const isQuoted =
    args.length === 0 && /\S\s+\S/.test(command ?? '') && commandWarnings(server, environment).length > 0;
  if (isQuoted)
    throw bad(
      `there is no program called ${JSON.stringify(command)}; give its words without quotes: ${ownShellCommand()} add ${shellWord(name)} -- ${command}`,
    );
  return server;
}

function variableOf(text: string): [string, string] {
  const [, name = '', assigned, value = ''] = /^([^=]*)(=)?(.*)$/s.exec(text) ?? [];
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw bad(`--env is ${JSON.stringify(name)}; write NAME=VALUE, or NAME for the variable of your environment`);
  return [name, assigned === undefined ? `\${${name}}` : value];
}

function headerOf(text: string): [string, string] {
  const found = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(\S.*)$/.exec(text);
  if (found === null) throw bad("--header must have the form 'Name: value'");
  return [found[1] as string, found[2] as string];
}

function refuseTaken(name: string, { file, text }: OwnFile): void {
  const servers = text === undefined ? {} : serversInFile(text, file);
  if (Object.hasOwn(servers, name))
    throw bad(
      `${file} has a server called ${JSON.stringify(name)} already; choose another name, or remove it first: ${ownShellCommand()} remove ${shellWord(name)}`,
    );
}

interface Added {
  readonly name: string;
  readonly server: JsonObject;
  readonly references: readonly Reference[];
  readonly own: OwnFile;
  readonly written: WrittenOver;
  readonly environment: Environment;
}

function report({ name, server, references, own, written, environment }: Added, isJson: boolean): void {
  const warnings = commandWarnings(server, environment);
  const variables = [...new Set(variablesIn(server))].map((each) => ({
    name: each,
    isSet: (environment[each] ?? '') !== '',
  }));
  const notPassedOn = unpassedVariables(name, server, environment);
  if (isJson) {
    const shown = { name, file: own.file, ...shownServer(server), variables, notPassedOn, warnings };
    process.stdout.write(`${printableJson(shown, true)}\n`);
    return;
  }
  const hidden = new Set(references.map(({ variable }) => variable));
  const unset = variables.filter((each) => !each.isSet && !hidden.has(each.name));
  const command = ownShellCommandFor(own);
  warn(warnings);
  const lines = [
    `${styled('green', 'added')}: ${plainLine(name)} to ${plainLine(own.file)}`,
    ...notesOnRights(written),
    ...unset.map((each) => `It refers to a variable that is not set; set it first:  export ${each.name}=...`),
    ...notesOnReferences(references.map(({ variable }) => ({ variable, isSet: (environment[variable] ?? '') !== '' }))),
    ...(notPassedOn.length === 0 ? [] : [noteOnVariables(plainLine(name), notPassedOn)]),
    ...notesOnFile(own),
    ...trustSteps(own),
    `See whether it answers:  ${command} servers`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function commandWarnings({ command, cwd }: JsonObject, environment: Environment): string[] {
  if (typeof command !== 'string' || command.includes('${')) return [];
  if (findCommand(command, environment, typeof cwd === 'string' ? cwd : process.cwd()) !== undefined) return [];
  const where = command.includes('/') ? 'is not a program that can be started' : 'is not on your PATH';
  return [`${JSON.stringify(command)} ${where}; the server was added, and will not start before it is`];
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

function bad(message: string): HostError {
  return new HostError('bad_input', message);
}
