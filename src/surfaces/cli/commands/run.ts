import type { CommandContext, Register } from '../command.js';
import { oneOf } from '../options.js';
import { readSource } from '../runs/read-source.js';
import { runGo } from '../runs/run-go.js';
import { interruption, runProgram, wholeNumber } from '../runs/run-program.js';
import { noteNothingConfigured } from '../terminal/terminal.js';

interface RunFlags {
  readonly language?: string;
  readonly timeout?: string;
  readonly memory?: string;
  readonly pretty?: boolean;
  readonly json?: boolean;
}

const LANGUAGES = ['typescript', 'javascript', 'go'] as const;

export const register: Register = (program, context) => {
  program
    .command('run')
    .description('run one program; prints text on a terminal, otherwise JSON')
    .argument('[file]', 'source in TypeScript, JavaScript or Go; - reads stdin', '-')
    .option('--language <name>', `${LANGUAGES.join(', ')} (default: go for a .go file, else typescript)`)
    .option('--timeout <ms>', 'stop it after this many milliseconds')
    .option('--memory <bytes>', 'the most memory it may use')
    .option('--pretty', 'indent the JSON')
    .option('--json', 'as JSON on a terminal too')
    .addHelpText('after', HELP)
    .action(async (file: string, options: RunFlags) => {
      context.exitWith(await run(file, options, context));
    });
};

const HELP = `
Exit status: 0 the program succeeded, 1 it failed (see "diagnostics"), 2 bad input or configuration,
  3 it is suspended until a person decides about a call (see "diagnostics", and codemode approvals),
  69 no jail available, 70 internal error in codemode, 75 busy, 130 interrupted.

On a terminal, a call that needs a person is asked about here: y allows this call, run this tool until the run ends, hour this
tool for an hour (codemode approvals revoke ends that sooner); anything else denies it, and Ctrl-C ends the run. Without one the
run is suspended, and the call waits for codemode approvals.

A program in Go is the body of func Run(ctx context.Context) error, and its response is { "output" }.

Examples:
  codemode run report.go
  echo 'globalThis.__codemode_result__ = [1, 2, 3].map((n) => n * n)' | codemode run -
`;

/** Runs one program of profile codemode or go and writes its response to stdout. */
async function run(file: string, flags: RunFlags, context: CommandContext): Promise<number> {
  const language = oneOf('--language', flags.language ?? (file.endsWith('.go') ? 'go' : 'typescript'), LANGUAGES);
  const given = {
    ...wholeNumber('timeout', 'timeoutMs', flags.timeout),
    ...wholeNumber('memory', 'maxMemoryBytes', flags.memory),
  };
  const source = await readSource(file);
  const signal = interruption();
  const composed = await context.compose(language === 'go' ? { profile: 'go' } : {});
  await using _ = composed.host;
  if (/@codemode\/(servers|discovery)\b/.test(source)) noteNothingConfigured(composed.nothingConfigured);
  const options = { given, output: flags, signal };
  return language === 'go'
    ? await runGo(composed, source, options)
    : await runProgram(composed, { source, language }, options);
}
