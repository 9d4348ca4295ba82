import type { TypeProblem, TypeVerdict } from '../../../domain/type-check.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import { openCommandSession } from '../command-session.js';
import { readSource } from '../runs/read-source.js';
import { withProgress } from '../terminal/progress.js';
import { plain, printableJson } from '../terminal/terminal.js';

interface CheckFlags {
  readonly json?: boolean;
  readonly install?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('check')
    .description('check the types of a program against the tools, without running it')
    .argument('[file]', 'source in TypeScript or JavaScript; - reads stdin', '-')
    .option('--json', 'as JSON')
    .option(
      '--install',
      'fetch the type checker (TypeScript 7, 31 MB) with npm into the state folder, and check nothing',
    )
    .addHelpText('after', HELP)
    .action(async (file: string, flags: CheckFlags) => {
      context.exitWith(flags.install === true ? await install(context) : await check(file, flags, context));
    });
};

const HELP = `
Prints FILE:LINE:COLUMN and what is wrong, first what would surely fail, then what may be fine.
--json prints { "problems": [{ "severity", "code", "message", "hint", "line", "column" }] }.

Exit status: 0 nothing would surely fail, 1 something would, 2 bad input or configuration, 69 no type checker or no jail.

Examples:
  codemode check --install
  codemode check report.ts
`;

/** The same status as when nothing could be run: the command has not done its work. */
const UNAVAILABLE = 69;

async function install(context: CommandContext): Promise<number> {
  const { version, folder } = await withProgress('fetching the type checker', () => context.installChecker());
  process.stdout.write(plain(`TypeScript ${version} is in ${folder}. Programs are checked from the next start on.\n`));
  return EXIT.ok;
}

async function check(file: string, flags: CheckFlags, context: CommandContext): Promise<number> {
  const source = await readSource(file);
  const language = isPython(file, source) ? 'python' : 'node';
  const isForRunner = language === 'python' || (await context.config()).config.profile === 'runner';
  const composed = await context.compose(isForRunner ? { profile: 'runner' } : {});
  await using _ = composed.host;
  const session = isForRunner
    ? composed.host.openSessionLike(openCommandSession(composed), 'runner')
    : openCommandSession(composed);
  const verdict = await withProgress('checking the program', () => session.check(source, language));
  if (!verdict.isChecked) {
    process.stderr.write(plain(`codemode: the program was not checked: ${reasonOf(verdict)}\n`));
    return UNAVAILABLE;
  }
  const { problems } = verdict;
  const name = file === '-' ? 'stdin' : file;
  if (flags.json === true) process.stdout.write(`${printableJson({ problems: problems.map(flat) }, true)}\n`);
  else for (const problem of problems) process.stdout.write(plain(lineOf(name, problem)));
  return problems.some(({ severity }) => severity === 'error') ? EXIT.failed : EXIT.ok;
}

function reasonOf({ reason, fix }: Extract<TypeVerdict, { isChecked: false }>): string {
  return fix === undefined ? reason : `${reason}. ${fix}`;
}

function lineOf(name: string, { severity, code, message, hint, position }: TypeProblem): string {
  const advice = hint === undefined ? '' : ` ${hint}`;
  // Python has no numbers for mistakes.
  const number = code === 0 ? '' : ` TS${code}`;
  return `${name}:${position.line}:${position.column}: ${severity}${number}: ${message}${advice}\n`;
}

/** By the name of the file; from stdin, by how Python imports servers. */
function isPython(file: string, source: string): boolean {
  return file.endsWith('.py') || (file === '-' && /^\s*(?:from\s+servers\b|import\s+servers\b)/m.test(source));
}

function flat({ position: { line, column }, ...problem }: TypeProblem) {
  return { ...problem, line, column };
}
