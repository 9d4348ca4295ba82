import { shellWord } from '../../../lib/text/shell-word.js';
import type { TableCommand, ValueKind } from './command-table.js';

/** A kind as the completion scripts read it: the name of the lookup, or `=` followed by the words themselves. */
export function kindText(kind: ValueKind): string {
  return typeof kind === 'string' ? kind : `=${kind.join(' ')}`;
}

/**
 * Shell functions that answer from the table, in the syntax that bash and zsh share: what can follow a command, which options
 * take which values, and what the arguments are. Each word is followed by a tab and its description.
 */
export function posixTables(commands: readonly TableCommand[]): string {
  const branch = (path: string, body: string) => `    ${shellWord(path)}) ${body} ;;`;
  const words = commands.map(({ path, commands: below, options }) =>
    branch(
      path,
      printed([
        ...below.map(({ name, description }) => described(name, description)),
        ...options.flatMap(({ names, description }) => names.map((name) => described(name, description))),
      ]),
    ),
  );
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ names, value }) =>
      value === undefined ? [] : names.map((name) => branch(`${path} ${name}`, printed([kindText(value)]))),
    ),
  );
  const kinds = commands
    .filter(({ values: each }) => each.length > 0)
    .map(({ path, values: each, isLastRepeated }) =>
      branch(path, printed([...each.map(kindText), ...(isLastRepeated ? ['...'] : [])])),
    );
  return [
    '# What can follow a command: commands and options, each with a tab and its description.',
    ...caseOf('_codemode_words', words),
    '# What the value of an option is; nothing where it takes none.',
    ...caseOf('_codemode_value', values),
    '# What the arguments of a command are, a line each; ... where the last one may be repeated.',
    ...caseOf('_codemode_arguments', kinds),
  ].join('\n');
}

function caseOf(name: string, branches: readonly string[]): string[] {
  return [`${name}() {`, '  case "$1" in', ...branches, '  esac', '}'];
}

function printed(lines: readonly string[]): string {
  return `printf '%s\\n' ${lines.map(shellWord).join(' ')}`;
}

/** Descriptions are our own sentences. A shell shows as much as fits. */
export function described(name: string, description: string): string {
  return `${name}\t${description.replace(/\s+/g, ' ')}`;
}
