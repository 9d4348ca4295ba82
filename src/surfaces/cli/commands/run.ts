import type { Register } from '../command.js';
import type { Composed } from '../composed.js';
import { readSource } from '../read-source.js';
import { interruption, runProgram, wholeNumber } from '../run-program.js';

interface RunFlags {
  readonly timeout?: string;
  readonly memory?: string;
  readonly pretty?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('run')
    .description('run one program and print its response as JSON')
    .argument('[file]', 'JavaScript or TypeScript source; - reads standard input', '-')
    .option('--timeout <ms>', 'stop it after this many milliseconds')
    .option('--memory <bytes>', 'the most memory it may use')
    .option('--pretty', 'indent the JSON')
    .option('--json', 'as JSON (it is JSON anyway)')
    .addHelpText('after', HELP)
    .action(async (file: string, options: RunFlags) => {
      context.exitWith(await run(file, options, () => context.compose()));
    });
};

const HELP = `
Exit status: 0 the program came to its end, 1 it failed (see "diagnostics"), 2 bad input or configuration,
  3 it sleeps until a person has decided about a call (see "diagnostics", and codemode approvals),
  69 no jail to be had, 70 a fault of codemode's own, 75 busy, 130 interrupted.

Example:
  echo 'globalThis.__codemode_result__ = [1, 2, 3].map((n) => n * n)' | codemode run -
`;

/** One program of profile codemode, its response on standard output. */
async function run(file: string, flags: RunFlags, compose: () => Promise<Composed>): Promise<number> {
  const given = {
    ...wholeNumber('timeout', 'timeoutMs', flags.timeout),
    ...wholeNumber('memory', 'maxMemoryBytes', flags.memory),
  };
  const source = await readSource(file);
  const signal = interruption();
  const composed = await compose();
  await using _ = composed.host;
  const isPretty = flags.pretty === true;
  return await runProgram(composed, { source, language: 'typescript' }, { given, isPretty, signal });
}
