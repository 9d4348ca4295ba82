import { readEnvironment } from '../../../config/variables/environment.js';
import { consoleLink } from '../../../domain/console/api.js';
import { HostError } from '../../../domain/errors.js';
import { type CommandContext, EXIT, type Register, withRecords } from '../command.js';
import type { ComposedRecords, LinkMaker } from '../composed.js';
import { openLog } from '../log.js';
import { openBrowser } from '../open-browser.js';
import { exitWithin, stopSignal } from '../stop-signals.js';
import { plainLine } from '../terminal/terminal.js';
import { askHiddenLine, hasPersonAtTerminal } from '../terminal/terminal-line.js';
import { userName } from '../user-name.js';

interface ConsoleFlags {
  readonly open: boolean;
  readonly port?: string;
  readonly approver?: boolean;
  readonly url?: string;
}

const EXIT_MS = 30_000;
/** Its process is known to be running. If it is busy we wait for it rather than start a second one. An unused port refuses at once. */
const ANSWER_MS = 15_000;

export const register: Register = (program, context) => {
  program
    .command('console')
    .description('look at runs, approvals, tools and rules in a browser')
    .option('--no-open', 'only print the link')
    .option('--port <number>', 'the port, where no host serves yet (default: a free one, another one each time)')
    .option('--approver', 'a link for somebody who may look and decide, and nothing else')
    .option('--url <address>', 'where browsers reach the hosts that serve, such as the address of a balancer')
    .addHelpText('after', HELP)
    .action(async (flags: ConsoleFlags) => context.exitWith(await openConsole(flags, context)));
};

const HELP = `
Prints a link that opens the console once, within 10 minutes, and opens it in your browser. Where a host of the same state folder
serves already (codemode serve, another codemode console), the link is for that one and the command ends. Otherwise it serves the
console itself, on this machine only, until it is stopped.

The link is printed to stdout, also without a terminal. The person who opens it may approve calls. Where you have made an approver's
secret (codemode approvals secret), it is asked for before a link is printed: on the terminal, or in CODEMODE_APPROVER_SECRET.

Exit status: 0 the link was printed, or it was stopped; 2 bad configuration or state folder, 69 no jail available.

Examples:
  codemode console
  codemode console --no-open --port 0
  codemode console --no-open --url https://codemode.example.com
`;

async function openConsole(flags: ConsoleFlags, context: CommandContext): Promise<number> {
  const port = portOf(flags.port);
  const address = addressOf(flags.url);
  const { maker, link } = await withRecords(context, async (records) => {
    const made = await makerOf(records, flags.approver === true);
    return { maker: made, link: await linkToRunning(records, made, address) };
  });
  if (link !== undefined) {
    await show(link, flags);
    return EXIT.ok;
  }
  if (address !== undefined)
    throw new HostError('bad_input', `--url ${address}: no host serves; start one with: codemode serve`);
  const stop = stopSignal();
  const composed = await context.compose({ surface: 'http' });
  await using _ = composed.host;
  const log = openLog(composed.config.logging);
  const service = await composed.serveConsole({ log, port });
  // However it ends, the listener is closed: an open one would keep a process alive that serves nobody.
  try {
    await show(await service.consoleLink(maker), flags);
    log('the console is served until you stop this command (Ctrl-C)');
    await new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      else stop.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    exitWithin(EXIT_MS);
    await service.close();
  }
  return EXIT.ok;
}

async function show(link: string, { open }: ConsoleFlags): Promise<void> {
  process.stdout.write(`${link}\n`);
  if (!open) return;
  const isOpen = await openBrowser(new URL(link), readEnvironment(), process.platform);
  if (!isOpen) process.stderr.write('codemode: no browser could be opened; open the link yourself. It works once.\n');
}

/** A link to a host that already serves the console; undefined if there is none. */
async function linkToRunning(
  records: ComposedRecords,
  maker: LinkMaker,
  address: string | undefined,
): Promise<string | undefined> {
  const access = await records.consoleAccess();
  for (const { url, holder } of await access.hosts()) {
    if (!(await answers(url))) continue;
    process.stderr.write(`codemode: the host at ${plainLine(url)} serves the console already\n`);
    return consoleLink(address ?? url, await access.makeLink(maker, holder));
  }
  return undefined;
}

async function answers(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(`${url}/`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: 'error' });
    return status === 200 || status === 503;
  } catch {
    return false;
  }
}

/**
 * Who makes the link, and its role. If an approver's secret exists, every link needs it: a program can open its own terminal, but
 * does not know the secret.
 */
async function makerOf({ approverSecret }: ComposedRecords, isApprover: boolean): Promise<LinkMaker> {
  const role = isApprover ? 'approver' : 'owner';
  const isGiven = await approverSecret.isGiven();
  if (isGiven === true) return { role, name: `${userName()} (console, secret)` };
  if (isGiven === false)
    throw new HostError(
      'bad_input',
      "CODEMODE_APPROVER_SECRET is not the approver's secret; make one with: codemode approvals secret",
    );
  const isAtTerminal = hasPersonAtTerminal();
  if (await approverSecret.isMade()) {
    if (!isAtTerminal)
      throw new HostError(
        'bad_input',
        "a link needs the approver's secret in CODEMODE_APPROVER_SECRET, or typed on a terminal (codemode approvals secret made one)",
      );
    await askForSecret(approverSecret);
    return { role, name: `${userName()} (console, secret)` };
  }
  return { role, name: `${userName()} (console${isAtTerminal ? '' : ', no terminal'})` };
}

async function askForSecret({ isRight }: ComposedRecords['approverSecret']): Promise<void> {
  const typed = await askHiddenLine("Approver's secret: ", new AbortController().signal);
  if (typeof typed === 'object' && (await isRight(typed.text.trim()))) return;
  throw new HostError(
    'bad_input',
    "that is not the approver's secret; no link was made. Make a new secret with: codemode approvals secret",
  );
}

/** Only its origin: the page is at `/`. */
function addressOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url !== undefined && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (isPlain && (url.protocol === 'http:' || url.protocol === 'https:')) return url.origin;
  throw new HostError(
    'bad_input',
    `--url: expected an address such as https://codemode.example.com, found ${JSON.stringify(text.slice(0, 80))}`,
  );
}

function portOf(text: string | undefined): number {
  // A different port each time: the browser then does not use what it cached from another program on the same port.
  if (text === undefined) return 0;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new HostError(
    'bad_input',
    `--port: expected a number from 0 to 65535, found ${JSON.stringify(text.slice(0, 40))}`,
  );
}
