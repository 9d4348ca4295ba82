import type { Config } from '../../../config/schema/schema.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { CommandContext, Register } from '../command.js';
import { openLog } from '../log.js';
import { profileSettings } from '../profile-settings.js';
import { startupLines } from '../startup.js';
import { exitWithin, stopSignal } from '../stop-signals.js';
import { hasPersonAtTerminal } from '../terminal/terminal-line.js';
import { userName } from '../user-name.js';

interface ServeFlags {
  readonly profile?: string;
  readonly model?: string;
  readonly host?: string;
  readonly port?: string;
}

/** Longer than the grace period of calls in flight. */
const EXIT_MS = 30_000;

export const register: Register = (program, context) => {
  program
    .command('serve')
    .description('MCP server over HTTP, for any number of clients')
    .option('--profile <name>', 'the profile that is served (default: the configured one)')
    .option('--model <ref>', 'which entry of models in the configuration decides what is excluded from code')
    .option('--host <address>', 'where to listen (default: 127.0.0.1, this machine only)')
    .option('--port <number>', 'the port; 0 takes a free one (default: 3000)')
    .addHelpText('after', HELP)
    .action(async (flags: ServeFlags) => context.exitWith(await serve(flags, context)));
};

const HELP = `
Clients need the token that \`codemode token\` prints, or one of security.auth of the configuration.

Exit status: 0 it was stopped, 2 bad configuration or the port is in use, 69 no jail available.
`;

async function serve({ model, profile, ...own }: ServeFlags, context: CommandContext): Promise<number> {
  const stop = stopSignal();
  const composed = await context.compose({ surface: 'http', ...own, ...profileSettings(profile) });
  await using _ = composed.host;
  const log = openLog(composed.config.logging);
  // Before it listens: a host without a jail must not be sent requests.
  const isolation = await composed.host.open();
  const service = await composed.serveHttp({ log, ...omitUndefined({ model }) });
  // However it ends, the listener is closed: an open one would keep a process alive that serves nobody.
  try {
    for (const line of startupLines(composed, isolation)) log(line);
    log(`listening on ${service.url}`);
    log(`connect a client: ${connectCommand(service.url, composed.config.security.auth.provider)}`);
    // Only on a terminal: elsewhere the lines go to a log that others read.
    if (hasPersonAtTerminal(process.stderr))
      log(`the console, once: ${await service.consoleLink({ role: 'owner', name: `${userName()} (console)` })}`);
    else log(`the console is at ${service.url}/; a link that opens it: codemode console`);
    await new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      else stop.addEventListener('abort', () => resolve(), { once: true });
    });
    log('stopping');
  } finally {
    exitWithin(EXIT_MS);
    await service.close();
  }
  return 0;
}

/** With a token that is accepted: if an issuer gives out tokens, the printed one is not. */
function connectCommand(url: string, provider: Config['security']['auth']['provider']): string {
  const command = `claude mcp add --transport http codemode ${url}/mcp`;
  if (provider === 'none') return command;
  return `${command} --header "Authorization: Bearer ${provider === 'oauth2' ? 'TOKEN' : '$(codemode token)'}"`;
}
