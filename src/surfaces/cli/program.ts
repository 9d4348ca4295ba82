import { Command, CommanderError } from 'commander';
import { nothingConfigured } from '../../config/nothing-configured.js';
import { isAboutDisabled } from '../../config/schema/broken-servers.js';
import { ERRORS, isHostError } from '../../domain/errors.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import { ISOLATION_LEVELS } from '../../domain/isolation.js';
import { isLogged } from '../../domain/log.js';
import { VERSION } from '../../domain/version.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { type CommandContext, EXIT, type Register } from './command.js';
import { commandsFor, isCommand } from './commands.js';
import type { Composition, HostSettings } from './composed.js';
import { actOnEarlySignal, type EarlySignals } from './early-signals.js';
import { reportError } from './report-error.js';
import { watchOutput } from './terminal/output.js';
import { noteNothingConfigured, plain, plainLine, terminalWidth, warn } from './terminal/terminal.js';
import { fillParagraphs, wrapLines } from './terminal/wrap.js';
import { noteOwnName } from './trust/own-name-note.js';
import { askForTrust, canAskForTrust } from './trust/trust-question.js';
import { helpArguments, usageError } from './usage-error.js';

/** Commands that warn about disabled servers. `doctor` has a finding for them, `servers` a row. */
const USING_SERVERS = ['mcp', 'serve', 'run', 'exec', 'runner', 'tools', 'types', 'prompt', 'measure', 'resume'];
/** Width of the help without a terminal. */
const HELP_COLUMNS = 80;
/** Minimum room for descriptions next to the longest option. With less, text is no longer wrapped between words. */
const MIN_HELP_COLUMNS = 12;

/** Arguments in, exit status out. Never throws: errors are reported on one line on stderr. */
export async function runCommandLine(
  argv: readonly string[],
  composition: Composition,
  early?: EarlySignals,
): Promise<number> {
  let status: number = EXIT.ok;
  const output = watchOutput();
  let said = '';
  const words = argv.slice(2);
  const program = createProgram(
    await commandsFor(words),
    composition,
    (value) => {
      status = value;
    },
    (text) => {
      said += text;
    },
    early,
  );
  const isRunner = words.find(isCommand) === 'runner';
  if (!isRunner) actOnEarlySignal(early);
  try {
    await program.parseAsync(helpArguments(argv, program));
    return output.statusFor(status);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return output.statusFor(EXIT.ok);
    if (error instanceof CommanderError) {
      if (program.args.length === 0 && error.code === 'commander.help') return showNext(program, composition);
      process.stderr.write(plain(usageError(error, said, argv, program)));
      // A client of the runner waits for one line of JSON, even if no command has parsed the arguments.
      if (isRunner) (await import('./commands/runner.js')).refuseWords(argv, error.message);
      return EXIT.badInput;
    }
    if (isHostError(error)) return reportError(error);
    process.stderr.write(
      `codemode: something went wrong inside codemode: ${plainLine(error instanceof Error ? error.message : String(error))}\n`,
    );
    return ERRORS.internal.exit;
  }
}

/** `codemode` alone: what to do next on this machine. Always succeeds: it is what a lost user types. */
async function showNext(program: Command, composition: Composition): Promise<number> {
  const loaded = await composition.loadSettings(settingsOf(program)).catch((error: unknown) => ({
    problem: error instanceof Error ? error.message : String(error),
    isUntrusted: isHostError(error, 'untrusted_config'),
  }));
  const { describeNext, machineState } = await import('./next-steps.js');
  const commands = program.commands.map((command) => command.name());
  const state = await machineState(loaded, await composition.stateSummary(), commands);
  process.stdout.write(`${wrapLines(describeNext(state))}\n`);
  return EXIT.ok;
}

/** These commands with their options and help. `complain` receives usage errors as they are found. */
export function createProgram(
  commands: readonly Register[],
  composition: Composition,
  exitWith: (status: number) => void,
  complain: (text: string) => void = (text) => process.stderr.write(text),
  early?: EarlySignals,
): Command {
  const program = new Command('codemode')
    .configureOutput({
      writeErr: complain,
      writeOut: (text) => process.stdout.write(fillParagraphs(text)),
      getOutHelpWidth: () => terminalWidth() ?? HELP_COLUMNS,
    })
    .configureHelp({ minWidthToWrap: MIN_HELP_COLUMNS })
    .version(VERSION, '-V, --version', 'print the version')
    .description('Runs programs written by agents in a fresh sandbox inside an OS jail.')
    .option(
      '--config <file>',
      'configuration file (default: CODEMODE_CONFIG, then ./codemode.config.{yaml,yml,json} if trusted, then ~/.config/codemode/config.yaml)',
    )
    .option(
      '--project-folder <folder>',
      'look for codemode.config.{yaml,yml,json} in this folder instead of the current one; it needs your trust as there',
    )
    .option('--isolation <level>', `how far programs are cut off from the machine: ${ISOLATION_LEVELS.join(', ')}`)
    .addHelpText('after', HELP)
    .exitOverride();
  const settings = () => ({ ...settingsOf(program), ...(canAskForTrust() ? { confirmTrust: askForTrust } : {}) });
  let usesServers = false;
  let isDoctor = false;
  program.hook('preAction', (_, command) => {
    usesServers = USING_SERVERS.includes(command.name());
    isDoctor = command.name() === 'doctor';
  });
  const warned = new Set<string>();
  const warnOnce = (warnings: readonly string[]) => {
    const news = warnings.filter((each) => !warned.has(each) && (usesServers || !isAboutDisabled(each)));
    for (const each of news) warned.add(each);
    warn(news);
  };
  const context: CommandContext = {
    async compose(own = {}) {
      const isOneShot = own.surface === undefined;
      const composed = await composition.compose({ ...both(settings(), own), ...(isOneShot ? { isOneShot } : {}) });
      if (isLogged('warn', composed.config.logging.level)) warnOnce(composed.warnings);
      return composed;
    },
    async inventory(own = {}) {
      const composed = await composition.composeInventory(both(settings(), own));
      warnOnce(composed.loaded.warnings);
      const nothing = nothingConfigured(composed.loaded);
      if (!isDoctor) noteNothingConfigured(nothing); // doctor has a finding for it
      noteOwnName(nothing ?? '');
      return composed;
    },
    machine: (config) => composition.findRuntimes(config),
    records: () => composition.composeRecords(settings()),
    async logins() {
      const { logins, loaded } = await composition.composeLogins(settings());
      warnOnce(loaded.warnings);
      return logins;
    },
    audit: () => composition.composeAudit(settings()),
    key: () => composition.composeKey(settings()),
    serveUnusable: (reason, stop) => composition.serveUnusable(reason, stop),
    sharedStore: () => composition.composeSharedStore(settings()),
    copyStore: (direction) => composition.copyStore(settings(), direction),
    stateSummary: () => composition.stateSummary(),
    config: (own = {}) => composition.loadSettings(both(settings(), own)),
    configFile: () => program.opts<{ config?: string }>().config,
    projectFolder: () => program.opts<{ projectFolder?: string }>().projectFolder,
    accessToken: () => composition.readAccessToken(settings()),
    installChecker: () => composition.installChecker(),
    early,
    exitWith,
  };
  for (const register of commands) register(program, context);
  return program;
}

/** If a command names a file itself, the project folder is ignored. */
function both({ projectFolder, ...given }: HostSettings, own: HostSettings): HostSettings {
  const isFileNamed = own.configFile !== undefined || projectFolder === undefined;
  return { ...given, ...(isFileNamed ? {} : { projectFolder }), ...own };
}

function settingsOf(program: Command): HostSettings {
  const { config, projectFolder, isolation } = program.opts<{
    config?: string;
    projectFolder?: string;
    isolation?: string;
  }>();
  return {
    ...omitUndefined({ configFile: config, projectFolder, isolation: isolation as IsolationLevel | undefined }),
  };
}

const HELP = `
Colours: NO_COLOR switches them off, FORCE_COLOR=1 on where no terminal is, FORCE_COLOR=0 off.

Exit status of every command:
    0  it did what it was asked to do
    1  it did, with a negative result: a program failed, a server is down, something is missing
    2  bad input: arguments, files or configuration; nothing was done
    3  a person has to decide: a run is suspended, a call would be asked about
   69  a required resource is unavailable: a jail, a server, a recent Node
   70  a bug in codemode; please report it
   75  too busy or shutting down; try again
  130  interrupted
`;
