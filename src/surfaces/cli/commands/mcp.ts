import { isHostError } from '../../../domain/errors.js';
import type { Isolation } from '../../../host/host.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { CommandContext, Register } from '../command.js';
import { openLog } from '../log.js';
import { profileSettings } from '../profile-settings.js';
import { reportError } from '../report-error.js';
import { startupLines } from '../startup.js';
import { exitWithin, stopSignal } from '../stop-signals.js';
import { ownShellCommand } from '../trust/file-notes.js';

interface McpFlags {
  readonly profile?: string;
  readonly model?: string;
}

/** Servers are asked to exit, then killed: the slowest takes a few seconds. */
const EXIT_MS = 10_000;

export const register: Register = (program, context) => {
  program
    .command('mcp')
    .description("MCP server on stdin and stdout, to be started by an agent's client")
    .option('--profile <name>', 'the profile that is served (default: the configured one)')
    .option('--model <ref>', 'which entry of models in the configuration decides what is excluded from code')
    .addHelpText('after', HELP)
    .action(async (flags: McpFlags) => context.exitWith(await mcp(flags, context)));
};

const HELP = `
In the configuration of a client:
  { "mcpServers": { "codemode": { "command": "codemode", "args": ["mcp"] } } }

Without a usable configuration (it is not trusted, or has a mistake) nothing is started. stderr says why at once, and so does
the tool that the client lists.

Exit status: 0 the client disconnected or the server was stopped, 2 bad configuration, 69 no jail available.
`;

/** stdout carries the protocol only. Messages for people go to stderr. */
async function mcp({ profile, model }: McpFlags, context: CommandContext): Promise<number> {
  const stop = stopSignal();
  const composed = await context
    .compose({ surface: 'stdio', ...profileSettings(profile) })
    .catch((error: unknown) => explainTo(error, context, stop));
  if (typeof composed === 'number') return composed;
  await using _ = composed.host;
  const log = openLog(composed.config.logging);
  if (process.stdin.isTTY) log('waiting for an MCP client on stdin; `codemode mcp --help` says how to connect one');
  const onOpen = (isolation: Isolation) => {
    for (const line of startupLines(composed, isolation)) log(line);
  };
  await composed.serveStdio({ stop, log, onOpen, ...ownName(), ...omitUndefined({ model }) });
  exitWithin(EXIT_MS);
  return 0;
}

/** Answers tell the user to type `codemode COMMAND`. Started by its path, as by npx, it may not be on their PATH. */
function ownName(): { readonly ownCommand?: string } {
  const own = ownShellCommand();
  return own === 'codemode' ? {} : { ownCommand: own };
}

/** A client shows nothing of stderr, so its model is told too. A person who typed the command needs no server. */
async function explainTo(error: unknown, context: CommandContext, stop: AbortSignal): Promise<number> {
  const isUntrusted = isHostError(error, 'untrusted_config');
  if (!(isUntrusted || isHostError(error, 'bad_config')) || process.stdin.isTTY) throw error;
  const status = reportError(error);
  await context.serveUnusable(isUntrusted ? error.message : MISTAKE, stop);
  return status;
}

/** The message itself quotes the file, which may be a stranger's: it is for people. */
const MISTAKE = 'The configuration of codemode has a mistake. See which with: codemode doctor';
