import type { Command } from 'commander';
import { VERSION } from '../../domain/version.js';
import { everyCommand, pathOf, visibleOptions } from './completion/command-table.js';

/** `man codemode`, in the macros of man(7), from the same table as `--help`. `date` is `2026-05-01`. */
export function manPage(program: Command, date: string): string {
  const [, ...commands] = everyCommand(program);
  return [
    `.TH CODEMODE 1 ${date} "codemode ${VERSION}" "User Commands"`,
    '.SH NAME',
    'codemode \\- run programs of agents, jailed, instead of one tool call at a time',
    '.SH SYNOPSIS',
    '.B codemode',
    '.RI [ options ]',
    '.RI [ command ]',
    '.SH DESCRIPTION',
    prose(program.description()),
    '.PP',
    prose(
      'Without a command, codemode says what to do next on this machine. Options of the program itself may come before or after the command.',
    ),
    '.SH OPTIONS',
    ...optionsOf(program),
    '.SH COMMANDS',
    ...commands.flatMap(sectionOf),
    '.SH EXIT STATUS AND COLOURS',
    ...preformatted(afterText(program)).slice(1),
    '.SH FILES',
    ...FILES.flatMap(([file, text]) => term(file, text)),
    '.SH ENVIRONMENT',
    ...ENVIRONMENT.flatMap(([name, text]) => term(name, text)),
    '',
  ].join('\n');
}

const FILES = [
  ['./codemode.config.yaml', 'the configuration of this folder; .yml and .json are read too'],
  ['~/.config/codemode/config.yaml', "the user's own configuration, under $XDG_CONFIG_HOME"],
  ['~/.local/state/codemode', 'runs, approvals, stored scripts, the audit log and the catalog, under $XDG_STATE_HOME'],
] as const;

const ENVIRONMENT = [
  ['CODEMODE_HOME', 'another folder for the state'],
  ['CODEMODE_STORE', 'postgres://…: the database that several hosts share'],
  ['CODEMODE_KEY', 'the key of that database, 32 bytes in base64, the same on every host'],
  ['CODEMODE_APPROVER_SECRET', "the approver's secret, by which a person decides without a terminal"],
  ['NO_COLOR, FORCE_COLOR', 'switch colours off and on'],
  ['COLUMNS', 'how wide tables are on a terminal'],
] as const;

function sectionOf(command: Command): string[] {
  const usage = `${pathOf(command)} ${command.usage()}`.trim();
  const args = command.registeredArguments.filter(({ description }) => description !== '');
  return [
    `.SS ${quoted(pathOf(command))}`,
    prose(sentence(command.description())),
    '.PP',
    `.B ${quoted(usage)}`,
    ...args.flatMap((argument) => term(argument.name(), argument.description)),
    ...optionsOf(command),
    ...preformatted(afterText(command)),
  ];
}

function optionsOf(command: Command): string[] {
  return visibleOptions(command).flatMap((option) => {
    const fallback = command.createHelp().optionDescription(option);
    return term(option.flags, fallback);
  });
}

function term(name: string, text: string): string[] {
  return ['.TP', `.B ${quoted(name)}`, prose(text)];
}

/** The text after a command's options. The library returns it only as part of the whole help. */
function afterText(command: Command): string {
  let text = '';
  const keep = (more: string) => {
    text += more;
  };
  command.configureOutput({ writeOut: keep, getOutHelpWidth: () => HELP_WIDTH });
  command.outputHelp();
  const before = command
    .createHelp()
    .formatHelp(command, Object.assign(command.createHelp(), { helpWidth: HELP_WIDTH }));
  return text.slice(before.length).trim();
}

/** Wide enough that no line of the help is wrapped: only the text after it is used. */
const HELP_WIDTH = 10_000;

/** Unchanged lines, for tables and examples. */
function preformatted(text: string): string[] {
  return text === '' ? [] : ['.PP', '.nf', ...text.split('\n').map(literal), '.fi'];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** Filled text, in lines of the length that the conventions for man pages ask for. */
function prose(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < MAX_LINE) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map(literal).join('\n');
}

/** Before escapes, which make a line longer. */
const MAX_LINE = 70;

/** A line of text: nothing in it is a request or an escape, and a hyphen is the typed character. */
function literal(line: string): string {
  const text = line
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\u0020-\u007e]/gu, (character) => `\\[u${hex(character)}]`);
  return /^[.']/.test(text) ? `\\&${text}` : text;
}

/** One argument of a macro. */
function quoted(text: string): string {
  return `"${literal(text).replaceAll('"', '\\(dq')}"`;
}

function hex(character: string): string {
  return (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
}
