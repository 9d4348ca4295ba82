import type { Command, CommanderError } from 'commander';
import { nearest } from '../../lib/text/nearest.js';

/** `codemode help runs show` is `codemode runs show --help`: the library itself reads only the first word. */
export function helpArguments(argv: readonly string[], program: Command): string[] {
  const [node = '', script = '', first, ...words] = argv;
  if (first !== 'help' || words.length === 0 || words.some((word) => word.startsWith('-'))) return [...argv];
  let command = program;
  for (const [index, word] of words.entries()) {
    const next = command.commands.find((each) => each.name() === word);
    // Without the flag, so that it is reported as unknown. A command without subcommands has nothing below it.
    if (next === undefined && command.commands.length > 0) return [node, script, ...words.slice(0, index + 1)];
    if (next === undefined) return [node, script, ...words.slice(0, index), HELP_FLAG];
    command = next;
  }
  return [node, script, ...words, HELP_FLAG];
}

const HELP_FLAG = '--help';

/** What is wrong with the arguments, and what to type instead. */
export function usageError(error: CommanderError, said: string, argv: readonly string[], program: Command): string {
  const unknown = unknownCommand(error, argv, program);
  // A group without a subcommand: the message is its help.
  if (error.code === 'commander.help') return said;
  if (unknown === undefined) return `${oneSentence(said)} ${whereToLook(argv, program)}\n`;
  const { typed, group } = unknown;
  const [close] = nearest(typed, namesOf(group), 1);
  const path = pathOf(group);
  const suggestion = close === undefined ? '' : ` Did you mean ${close}?`;
  return `codemode: unknown command '${typed}'.${suggestion} List the commands with: ${path} ${HELP_FLAG}\n`;
}

/** The library's message as one sentence, after our name. */
function oneSentence(said: string): string {
  const text = said
    .replace(/^error: /, 'codemode: ')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/** The help of the command that was typed. */
function whereToLook(argv: readonly string[], program: Command): string {
  let command = program;
  for (const word of argv.slice(2)) command = command.commands.find((each) => each.name() === word) ?? command;
  // If the -- is forgotten, the options of a server's command are taken for ours.
  if (pathOf(command) === 'codemode add' && argv.length > 5 && !argv.includes('--'))
    return `Put the server's command after --, as in: ${pathOf(command)} NAME -- npx -y PACKAGE`;
  return `See: ${pathOf(command)} ${HELP_FLAG}`;
}

/** The word that is not a command, and the group it stands under. */
function unknownCommand(error: CommanderError, argv: readonly string[], program: Command) {
  if (error.code !== 'commander.unknownCommand' && error.code !== 'commander.excessArguments') return undefined;
  let group = program;
  for (const word of argv.slice(2)) {
    const next = group.commands.find((command) => command.name() === word);
    if (next !== undefined) group = next;
    // `codemode runs shwo`: a group with a default command takes any other word as an argument of that command.
    else if (group.commands.length > 0 && group.args[0] === word) return { typed: word, group };
  }
  return undefined;
}

function namesOf(group: Command): string[] {
  return group
    .createHelp()
    .visibleCommands(group)
    .map((command) => command.name());
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
