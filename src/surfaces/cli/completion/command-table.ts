import type { Argument, Command, Option } from 'commander';
import { CLIENTS } from '../../../config/clients/registry.js';
import { GRANT_SCOPES } from '../../../domain/approval.js';
import { ISOLATION_LEVELS } from '../../../domain/isolation.js';
import { TOOL_DETAILS } from '../../../host/tools/tool-definition.js';

/** How a value is completed: files, ids and names that are looked up, or a fixed list of words. */
export const LOOKED_UP = ['servers', 'runs', 'approvals', 'scripts'] as const;
export type LookedUp = (typeof LOOKED_UP)[number];
export type ValueKind = LookedUp | 'files' | 'anything' | readonly string[];

export interface TableOption {
  /** `--json`, and the short name such as `-V` if there is one. */
  readonly names: readonly string[];
  readonly description: string;
  /** Undefined if it takes no value. */
  readonly value: ValueKind | undefined;
}

export interface TableCommand {
  /** `codemode runs show` */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  /** Its own options, those of its default command, and the global ones, which may stand anywhere. */
  readonly options: readonly TableOption[];
  /** Kinds of its arguments, in order. The last one may be repeated. */
  readonly values: readonly ValueKind[];
  readonly isLastRepeated: boolean;
}

/** Every command with everything that can follow it, from the same table that the program is built from. */
export function commandTable(program: Command): TableCommand[] {
  const table = everyCommand(program).map((command) => {
    const visible = visibleCommands(command);
    const standIn = defaultCommand(command);
    const chain = [command, ...(standIn === undefined ? [] : [standIn]), ...(command === program ? [] : [program])];
    const options = chain.flatMap((each) => visibleOptions(each).map((option) => tableOption(each, option)));
    return {
      path: pathOf(command),
      commands: visible.map((each) => ({ name: each.name(), description: each.description() })),
      options: options.filter(
        ({ names }, index) => options.findIndex((other) => other.names[0] === names[0]) === index,
      ),
      values: command.registeredArguments.map((argument) => argumentValue(command, argument)),
      isLastRepeated: command.registeredArguments.at(-1)?.variadic === true,
    };
  });
  return [...table, ...table.slice(0, 1).map(helpCommand)];
}

/** `codemode help` takes the name of a command. */
function helpCommand({ path, commands }: TableCommand): TableCommand {
  return { path: `${path} help`, commands, options: [], values: [], isLastRepeated: false };
}

/** The command itself and all its subcommands, in the order of the help, without the implicit `help`. */
export function everyCommand(command: Command): Command[] {
  const below = visibleCommands(command).filter((each) => command.commands.includes(each));
  return [command, ...below.flatMap(everyCommand)];
}

export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Without the implicit `help` of each group: `codemode help` is enough. */
function visibleCommands(command: Command): Command[] {
  const shown = command.createHelp().visibleCommands(command);
  return command.parent === null ? shown : shown.filter((each) => each.name() !== 'help');
}

export function visibleOptions(command: Command): Option[] {
  return command.createHelp().visibleOptions(command);
}

/** `codemode runs` is `codemode runs list`. */
function defaultCommand(command: Command): Command | undefined {
  return command.commands.find((each) => each.name() === DEFAULT_NAME);
}

const DEFAULT_NAME = 'list';

function tableOption(command: Command, option: Option): TableOption {
  const { long, short, description } = option;
  const names = [long, short].filter((name) => name != null);
  const takesValue = option.required || option.optional;
  return { names, description, value: takesValue ? optionValue(command, option) : undefined };
}

/** Words that an option takes; by command if the same name means different things. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  '--isolation': ISOLATION_LEVELS,
  '--scope': GRANT_SCOPES,
  '--against': ['live'],
  'tools --detail': TOOL_DETAILS,
  'types --detail': ['full', 'compact', 'signatures'],
};

/** Placeholders that mean the same everywhere. */
const PLACEHOLDERS: Readonly<Record<string, ValueKind>> = {
  file: 'files',
  path: 'files',
  server: 'servers',
  run: 'runs',
};

function optionValue(command: Command, option: Option): ValueKind {
  const { long, flags, argChoices } = option;
  if (argChoices !== undefined) return argChoices;
  const words = WORDS[`${command.name()} ${long}`] ?? WORDS[long ?? ''];
  if (words !== undefined) return words;
  const name = long?.replace(/^--/, '') ?? '';
  const placeholder = /[<[]([\w-]+)/.exec(flags)?.[1] ?? '';
  return PLACEHOLDERS[name] ?? PLACEHOLDERS[placeholder] ?? 'anything';
}

function argumentValue(command: Command, argument: Argument): ValueKind {
  if (argument.argChoices !== undefined) return argument.argChoices;
  const group = command.parent?.name();
  const name = argument.name();
  if (group === 'approvals' && name === 'id') return 'approvals';
  // A script that is being added has a new name.
  if (group === 'scripts' && name === 'name') return command.name() === 'add' ? 'anything' : 'scripts';
  if (name === 'name' && command.name() === 'remove') return 'servers';
  if (name === 'client') return CLIENTS.map(({ id }) => id);
  return PLACEHOLDERS[name] ?? 'anything';
}
