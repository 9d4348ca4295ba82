import { Command, CommanderError } from 'commander';
import { ERRORS, isHostError } from '../../domain/errors.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import { ISOLATION_LEVELS } from '../../domain/isolation.js';
import { type CommandContext, EXIT, type Register } from './command.js';
import * as demo from './commands/demo.js';
import * as doctor from './commands/doctor.js';
import * as run from './commands/run.js';
import type { Compose, HostSettings } from './composed.js';
import { plain } from './terminal.js';

/** In the order in which `--help` lists them. */
const COMMANDS: readonly Register[] = [run.register, doctor.register, demo.register];

/** Words in, exit status out. Nothing here throws: what goes wrong is said in one line on standard error. */
export async function runCommandLine(argv: readonly string[], compose: Compose): Promise<number> {
  let status: number = EXIT.ok;
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
  const context: CommandContext = {
    settings,
    compose: () => compose(settings()),
    exitWith: (value) => {
      status = value;
    },
  };
  for (const register of COMMANDS) register(program, context);

  try {
    await program.parseAsync([...argv]);
    return status;
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
