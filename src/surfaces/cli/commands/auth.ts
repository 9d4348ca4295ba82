import { duration } from '../../../config/schema/units.js';
import { readEnvironment } from '../../../config/variables/environment.js';
import { HostError } from '../../../domain/errors.js';
import type { CredentialStatus } from '../../../host/servers/logins.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import { openBrowser } from '../open-browser.js';
import { waitFor } from '../terminal/progress.js';
import { plainLine, printableJson, type Style, styled, warn } from '../terminal/terminal.js';
import { registerKey } from './auth-key.js';

interface LoginFlags {
  readonly browser: boolean;
  readonly scopes?: string[];
  readonly timeout: string;
}

export const register: Register = (program, context) => {
  const auth = program.command('auth').description('log in to servers that ask for authorization (OAuth 2.1)');
  auth
    .command('login')
    .argument('<server>', 'its name in the configuration')
    .description('get an authorization for a server, in the browser')
    .option('--no-browser', 'only print the address to open')
    .option('--scopes <scope...>', 'scopes to ask for, instead of those that the configuration or the server names')
    .option('--timeout <duration>', 'how long to wait for the browser', '5m')
    .addHelpText('after', LOGIN_HELP)
    .action(async (server: string, flags: LoginFlags) => {
      context.exitWith(await login(server, flags, context));
    });
  auth
    .command('logout')
    .argument('<server>', 'its name in the configuration')
    .description('revoke the login of a server where that is possible, and delete it')
    .addHelpText('after', '\nExit status: 0 it is gone, 1 there was none, 2 bad input.\n')
    .action(async (server: string) => {
      context.exitWith(await logout(server, context));
    });
  auth
    .command('status')
    .description('show the login of each server: state, scopes, expiry; never a token')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS_HELP)
    .action(async (flags: { json?: boolean }) => {
      context.exitWith(await status(flags.json === true, context));
    });
  registerKey(auth, context);
};

const LOGIN_HELP = `
The browser comes back to 127.0.0.1 of this machine. If it runs on another one, set auth.redirectPort of the server and
forward that port first: ssh -L PORT:127.0.0.1:PORT THIS-MACHINE. Programs that run already use the new login at their
next call. A server with grant client_credentials needs no browser.

Exit status: 0 logged in, 2 bad input, 69 nobody logged in or the authorization server refused, 130 interrupted.
`;

const STATUS_HELP = `
--json prints { "servers": [{ "serverId", "method", "state", "grant", "issuer", "clientId", "scopes", "missingScopes",
"expiresAt", "isRenewable" }], "leftovers" }; "method" is oauth, header, environment or none; "state" is logged_in,
expired, withdrawn, not_logged_in or not_needed. "leftovers" are servers with a stored login that are no longer configured.

Exit status: 0.
`;

async function login(server: string, flags: LoginFlags, context: CommandContext): Promise<number> {
  const timeout = duration({ minMs: 1_000, maxMs: 3_600_000 }).safeParse(flags.timeout);
  if (!timeout.success)
    throw new HostError(
      'bad_input',
      `--timeout is ${JSON.stringify(flags.timeout)}; give a duration such as 5m, up to 1h`,
    );
  const logins = await context.logins();
  const stop = new AbortController();
  const result = await waitFor(`logging in to ${server}`, (say) =>
    logins.login(server, {
      timeoutMs: timeout.data,
      signal: stop.signal,
      ...omitUndefined({ scopes: flags.scopes?.flatMap((each) => each.split(/[ ,]+/)) }),
      onAddress: (url, { issuer, scope }) => {
        process.stderr.write(
          `${plainLine(issuer)} is asked for ${plainLine(scope ?? 'authorization')}. Open this address in your browser:\n\n`,
        );
        process.stderr.write(`  ${styled('bold', plainLine(url.href), process.stderr)}\n\n`);
        say('waiting for the browser');
        if (flags.browser) void open(url);
      },
    }),
  ).finally(() => stop.abort());
  process.stdout.write(`${describe(result)}\n`);
  return EXIT.ok;
}

async function open(url: URL): Promise<void> {
  const isOpen = await openBrowser(url, readEnvironment(), process.platform);
  process.stderr.write(isOpen ? 'It should open now.\n' : 'No browser could be opened from here.\n');
}

async function logout(server: string, context: CommandContext): Promise<number> {
  const { wasKept, isRevoked, problem } = await (await context.logins()).logout(server);
  if (!wasKept) {
    process.stderr.write(`codemode: there was no authorization for ${plainLine(server)}\n`);
    return EXIT.failed;
  }
  if (problem !== undefined) warn([`it could not be revoked, and expires: ${problem}`]);
  const how = isRevoked ? 'revoked and deleted' : 'deleted; its authorization server does not support revocation';
  process.stdout.write(`${plainLine(server)}: ${problem === undefined ? how : 'forgotten'}\n`);
  return EXIT.ok;
}

async function status(isJson: boolean, context: CommandContext): Promise<number> {
  const { servers, leftovers } = await (await context.logins()).status();
  if (isJson) {
    process.stdout.write(`${printableJson({ servers, leftovers }, true)}\n`);
    return EXIT.ok;
  }
  for (const each of servers) process.stdout.write(`${describe(each)}\n`);
  for (const id of leftovers)
    process.stdout.write(
      `${plainLine(id)}: a login is stored, but the server is no longer configured; to delete the login: codemode auth logout ${plainLine(id)}\n`,
    );
  if (servers.length === 0)
    process.stderr.write('no servers are configured; to import them from other clients: codemode init\n');
  return EXIT.ok;
}

const STATES: Readonly<Record<CredentialStatus['state'], { readonly text: string; readonly style: Style }>> = {
  logged_in: { text: 'logged in', style: 'green' },
  expired: { text: 'expired', style: 'red' },
  withdrawn: { text: 'withdrawn', style: 'red' },
  not_logged_in: { text: 'not logged in', style: 'yellow' },
  not_needed: { text: 'no login', style: 'dim' },
};

const METHODS: Readonly<Record<CredentialStatus['method'], string>> = {
  environment: 'a local server: it gets secrets from its environment',
  header: 'a token set in the configuration',
  none: 'nothing is sent',
  oauth: '',
};

function describe(each: CredentialStatus): string {
  const { serverId, method, state, grant, issuer, scopes, missingScopes, expiresAt, isRenewable } = each;
  const { text, style } = STATES[state];
  const facts = [
    METHODS[method],
    issuer === undefined ? undefined : `by ${issuer}`,
    grant === 'client_credentials' ? 'for the client itself' : undefined,
    scopes === undefined || scopes.length === 0 ? undefined : `for ${scopes.join(' ')}`,
    missingScopes === undefined ? undefined : `without ${missingScopes.join(' ')}`,
    expiresAt === undefined
      ? undefined
      : `until ${expiresAt.toISOString()}${isRenewable === true ? ', renewed automatically' : ''}`,
  ].filter((fact) => fact !== undefined && fact !== '');
  const head = `${styled('bold', plainLine(serverId))}: ${styled(style, text)}`;
  const needsLogin =
    state === 'expired' ||
    state === 'withdrawn' ||
    (method === 'oauth' && state === 'not_logged_in') ||
    missingScopes !== undefined;
  const advice = needsLogin ? `\n  codemode auth login ${plainLine(serverId)}` : '';
  return `${head}${facts.length === 0 ? '' : `, ${plainLine(facts.join(', '))}`}${advice}`;
}
