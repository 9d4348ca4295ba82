import type { OwnFile, WrittenOver } from '../../../config/files/own-file.js';
import { ownCommand } from '../../../config/own-command.js';
import { readEnvironment } from '../../../config/variables/environment.js';
import { inheritLine } from '../../../config/variables/unpassed-variables.js';
import { shellWord } from '../../../lib/text/shell-word.js';
import { plainLine } from '../terminal/terminal.js';

/** How to call this program from the shell that it was called from. */
export function ownShellCommand(): string {
  return ownCommand(readEnvironment(), process.cwd()).shell;
}

/** The same, with `--config` where the file is not one of those that are found by themselves. */
export function ownShellCommandFor({ file, kind }: OwnFile): string {
  return kind === 'named' ? `${ownShellCommand()} --config ${shellWord(file)}` : ownShellCommand();
}

/** Whether git would take the file, where that may matter to somebody. */
export function notesOnFile({ file, git, isShared }: OwnFile): string[] {
  if (!isShared || git === undefined || git.isIgnored) return [];
  return [
    `git would take ${plainLine(file)}: .gitignore does not cover it. Nothing that looks like a secret was written into it; to keep it to yourself, add it to .gitignore.`,
  ];
}

/** Whether the file got rights that leave others out. */
export function notesOnRights({ modeBefore }: WrittenOver): string[] {
  if (modeBefore === undefined) return [];
  const [now, before] = [modeBefore & 0o700, modeBefore].map((mode) => mode.toString(8).padStart(3, '0'));
  return [`It has values of servers now, so only you can read it (mode ${now}; it was ${before}).`];
}

/** What comes before the first use of a project's file, and after each change. */
export function trustSteps(own: OwnFile): string[] {
  if (own.kind !== 'project') return [];
  return [
    `A project's file is used only after you have agreed to its commands, and again after each change:  ${ownShellCommandFor(own)} trust`,
  ];
}

/** A variable that holds a secret, and where its value is. */
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
    'What may be secret was not written into this file. It refers to these variables instead; set them:',
    ...lines.values(),
  ];
}

/** A server's usual variables that are set here, and that its process would not see. */
export function noteOnVariables(name: string, names: readonly string[]): string {
  const verb = names.length === 1 ? 'is set here but not' : 'are set here but not';
  return `${name}: ${names.join(', ')} ${verb} passed on to this server; if it needs ${names.length === 1 ? 'it' : 'them'}, add to it:  ${inheritLine(names)}`;
}
