import { Command, CommanderError } from 'commander';
import { ERRORS, isHostError } from '../../domain/errors.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import { ISOLATION_LEVELS } from '../../domain/isolation.js';
import { demo } from './commands/demo.js';
import { doctor } from './commands/doctor.js';
import { run } from './commands/run.js';
import type { Compose, HostSettings } from './composed.js';
import { plain } from './terminal.js';

export const EXIT = { ok: 0, programFailed: 1, badInput: 2 } as const;

/** Words in, exit status out. Nothing here throws: what goes wrong is said in one line on standard error. */
export async function runCommandLine(argv: readonly string[], compose: Compose): Promise<number> {
  let status: number = EXIT.ok;
  const output = watchOutput();
  const program = new Command('codemode')
    .description('Runs programs written by agents in a fresh sandbox inside an OS jail.')
    .option('--config <file>', 'configuration file (default: ./codemode.config.{yaml,yml,json})')
    .option('--isolation <level>', `how far programs are cut off from the machine: ${ISOLATION_LEVELS.join(', ')}`)
    .showHelpAfterError('(codemode --help lists the commands)')
    .exitOverride();
  const settings = (): HostSettings => {
    const { config, isolation } = program.opts<{ config?: string; isolation?: string }>();
    return {
      ...(config === undefined ? {} : { configFile: config }),
      ...(isolation === undefined ? {} : { isolation: isolation as IsolationLevel }),
    };
  };

  program
    .command('run')
    .description('run one program and print its response as JSON')
    .argument('[file]', 'JavaScript or TypeScript source; - reads standard input', '-')
    .option('--timeout <ms>', 'stop it after this many milliseconds')
    .option('--memory <bytes>', 'the most memory it may use')
    .option('--pretty', 'indent the JSON')
    .addHelpText('after', RUN_HELP)
    .action(async (file: string, options: { timeout?: string; memory?: string; pretty?: boolean }) => {
      status = await run(file, options, () => compose(settings()));
    });
  program
    .command('doctor')
    .description('check this machine: runtimes, jail, limits; says what is missing and what to type')
    .option('--json', 'as JSON')
    .action(async (options: { json?: boolean }) => {
      status = await doctor(options, () => compose(settings()));
    });
  program
    .command('demo')
    .description('run an example program and show its result, logs and timing')
    .action(async () => {
      status = await demo(() => compose(settings()));
    });

  try {
    await program.parseAsync([...argv]);
    return output.hasFailed ? ERRORS.internal.exit : status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.badInput;
    if (isHostError(error)) {
      process.stderr.write(`codemode: ${plain(error.message)}\n`);
      return ERRORS[error.code].exit;
    }
    process.stderr.write(
      `codemode: something went wrong inside codemode: ${plain(error instanceof Error ? error.message : String(error))}\n`,
    );
    return ERRORS.internal.exit;
  }
}

/** Output that nobody reads (`| head`) is no failure; output that cannot be written, on a full disk, is one. */
function watchOutput(): { readonly hasFailed: boolean } {
  const output = { hasFailed: false };
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || output.hasFailed) return;
    output.hasFailed = true;
    process.stderr.write(`codemode: the output could not be written: ${plain(message)}\n`);
  });
  return output;
}

const RUN_HELP = `
Exit status: 0 the program came to its end, 1 it failed (see "diagnostics"), 2 bad input or configuration,
  69 no jail to be had, 70 a fault of codemode's own, 75 busy, 130 interrupted.

Example:
  echo 'globalThis.__codemode_result__ = [1, 2, 3].map((n) => n * n)' | codemode run -
`;
