import type { OwnFile, WrittenOver } from '../../../config/files/own-file.js';
import { ownCommand } from '../../../config/own-command.js';
import { readEnvironment } from '../../../config/variables/environment.js';
import { inheritLine } from '../../../config/variables/unpassed-variables.js';
import { shellWord } from '../../../lib/text/shell-word.js';
import { plainLine } from '../terminal/terminal.js';

/** How to start codemode from the user's shell. */
export function ownShellCommand(): string {
  return ownCommand(readEnvironment(), process.cwd()).shell;
}

/** The same, with `--config` if the file is not found automatically. */
export function ownShellCommandFor({ file, kind }: OwnFile): string {
  return kind === 'named' ? `${ownShellCommand()} --config ${shellWord(file)}` : ownShellCommand();
}

/** Notes if the file is shared and git does not ignore it. */
export function notesOnFile({ file, git, isShared }: OwnFile): string[] {
  if (!isShared || git === undefined || git.isIgnored) return [];
  return [
    `git would commit ${plainLine(file)}: .gitignore does not cover it. Nothing that looks like a secret was written into it; to keep it to yourself, add it to .gitignore.`,
  ];
}

/** A note if the file's permissions were restricted to its owner. */
export function notesOnRights({ modeBefore }: WrittenOver): string[] {
  if (modeBefore === undefined) return [];
  const [now, before] = [modeBefore & 0o700, modeBefore].map((mode) => mode.toString(8).padStart(3, '0'));
  return [`It has values of servers now, so only you can read it (mode ${now}; it was ${before}).`];
}

/** What is needed before the first use of a project's file, and after each change. */
export function trustSteps(own: OwnFile): string[] {
  if (own.kind !== 'project') return [];
  return [
    `A project's file is used only after you have agreed to its commands, and again after each change:  ${ownShellCommandFor(own)} trust`,
  ];
}

/** A variable that holds a secret, and the place of its value. */
export interface NotedReference {
  readonly variable: string;
  readonly origin?: string;
  readonly isSet: boolean;
}

export function notesOnReferences(references: readonly NotedReference[]): string[] {
  if (references.length === 0) return [];
  const lines = new Map(
    references.map(({ variable, origin, isSet }) => {
      const where = isSet ? 'is set already' : origin === undefined ? '' : `its value is in ${plainLine(origin)}`;
      return [variable, `  export ${variable}=...${where === '' ? '' : `   # ${where}`}`];
    }),
  );
  return [
    'Values that may be secret were not written to this file. It refers to these variables instead; set them:',
    ...lines.values(),
  ];
}

/** A server's usual variables that are set here but not passed to its process. */
export function noteOnVariables(name: string, names: readonly string[]): string {
  const verb = names.length === 1 ? 'is set here but not' : 'are set here but not';
  return `${name}: ${names.join(', ')} ${verb} passed on to this server; if it needs ${names.length === 1 ? 'it' : 'them'}, add to it:  ${inheritLine(names)}`;
}
