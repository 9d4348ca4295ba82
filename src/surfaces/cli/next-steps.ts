import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { clientFiles, discoverServers } from '../../config/files/discover.js';
import type { LoadedConfig } from '../../config/load.js';
import { ownCommand } from '../../config/own-command.js';
import { type Environment, readEnvironment } from '../../config/variables/environment.js';
import type { JsonValue } from '../../domain/json.js';
import { VERSION } from '../../domain/version.js';
import type { StateSummary } from './composed.js';
import { plainLine, styled } from './terminal/terminal.js';

/** The state of this machine, from files alone: no server is started and nothing is written. */
export interface MachineState {
  /** The configuration, or why it cannot be used. */
  readonly loaded: LoadedConfig | { readonly problem: string; readonly isUntrusted?: boolean };
  readonly stateSummary: StateSummary;
  /** Clients whose own file starts codemode. */
  readonly clients: readonly string[];
  readonly hasJail: boolean;
  /** The available commands. */
  readonly commands: readonly string[];
  /** How this program is started from here. */
  readonly command: string;
}

interface Step {
  readonly words: string;
  readonly why: string;
}

/** Reads the state of this machine. */
export async function machineState(
  loaded: MachineState['loaded'],
  stateSummary: StateSummary,
  commands: readonly string[],
): Promise<MachineState> {
  const environment = readEnvironment();
  const cwd = process.cwd();
  return {
    loaded,
    stateSummary,
    commands,
    clients: await connectedClients(environment, cwd),
    hasJail: !needsBubblewrap(loaded) || JAIL_FILES.some((file) => existsSync(file)),
    command: ownCommand(environment, cwd).shell,
  };
}

function needsBubblewrap(loaded: MachineState['loaded']): boolean {
  return 'config' in loaded && loaded.config.sandbox.isolation === 'strict';
}

/** The host looks for bubblewrap in the same places. */
const JAIL_FILES = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin', '/usr/local/bin'].map(
  (folder) => `${folder}/bwrap`,
);

/** How many disabled servers are named. */
const MAX_DISABLED = 3;

/** A few lines: the current state, and what to type next. */
export function describeNext(state: MachineState): string {
  const steps = nextSteps(state);
  const typed = steps.map(({ words }) => `${state.command} ${words}`.trimEnd());
  const width = Math.max(...typed.map(({ length }) => length));
  return [
    `codemode ${VERSION}: ${factsOf(state)}`,
    '',
    ...steps.map(({ why }, index) => `  ${styled('bold', (typed[index] ?? '').padEnd(width))}  ${why}`),
    '',
    `All commands: ${state.command} --help`,
  ].join('\n');
}

function factsOf({ loaded, stateSummary, hasJail }: MachineState): string {
  if ('problem' in loaded) return `the configuration cannot be used.\n${plainLine(loaded.problem)}`;
  const { file } = loaded;
  if (file === undefined && loaded.upstreams.length === 0) return 'no servers are configured yet.';
  const count = loaded.upstreams.length;
  const servers = count === 0 ? 'no servers' : count === 1 ? '1 server' : `${count} servers`;
  const lines = [`${servers}${file === undefined ? '' : ` in ${plainLine(shortened(file))}`}.`];
  for (const { place, reason } of loaded.disabledServers.slice(0, MAX_DISABLED))
    lines.push(`${plainLine(reason.replace(/^s/, 'S'))} (${plainLine(shortened(place))}).`);
  const unnamed = loaded.disabledServers.length - MAX_DISABLED;
  if (unnamed > 0) lines.push(`${counted(unnamed, 'more is', 'more are')} disabled.`);
  if (stateSummary.problem !== undefined)
    lines.push(`The state folder cannot be read: ${plainLine(stateSummary.problem)}.`);
  if (!hasJail) lines.push('Programs cannot be run at isolation level strict: bubblewrap is not installed.');
  if (stateSummary.pendingApprovals > 0)
    lines.push(`${counted(stateSummary.pendingApprovals, 'call waits', 'calls wait')} for your approval.`);
  return lines.join('\n');
}

/** At most four, the most urgent first. */
function nextSteps({ loaded, stateSummary, clients, hasJail, commands }: MachineState): Step[] {
  const has = (name: string) => commands.includes(name);
  if ('problem' in loaded && loaded.isUntrusted === true)
    return [{ words: 'trust', why: 'shows what the file would start, and asks whether you agree' }];
  if ('problem' in loaded)
    return [
      { words: 'doctor', why: 'says what is wrong, and what to do' },
      { words: 'config explain', why: 'shows each setting and where it comes from' },
    ];
  const isEmpty = loaded.upstreams.length === 0;
  const steps: Step[] = [];
  if (stateSummary.pendingApprovals > 0) steps.push({ words: 'approvals', why: 'shows what waits, and how to decide' });
  if (stateSummary.suspendedRuns > 0 && stateSummary.pendingApprovals === 0)
    steps.push({ words: 'runs', why: `${counted(stateSummary.suspendedRuns, 'run is', 'runs are')} suspended` });
  if (!hasJail || stateSummary.problem !== undefined)
    steps.push({ words: 'doctor', why: 'says what is missing, and what to do' });
  if (isEmpty) {
    steps.push({ words: 'init', why: 'imports the servers of your other clients' });
    if (has('add')) steps.push({ words: 'add NAME -- COMMAND', why: 'adds one server' });
    steps.push({ words: 'demo', why: 'shows it at work, without any server of yours' });
  } else if (clients.length === 0) {
    steps.push({ words: 'servers', why: 'says whether your servers answer' });
    steps.push(
      has('install')
        ? { words: 'install CLIENT', why: 'connects a client: claude-code, cursor, vscode, ...' }
        : { words: 'mcp', why: 'is what your client starts: add it to the MCP servers of your client' },
    );
  } else {
    steps.push({ words: 'tools', why: `lists what programs can call; connected: ${plainLine(clients.join(', '))}` });
    if (stateSummary.suspendedRuns === 0) steps.push({ words: 'runs', why: 'shows what ran' });
  }
  return steps.slice(0, 4);
}

/** Clients whose own files have an entry that starts codemode. */
async function connectedClients(environment: Environment, cwd: string): Promise<string[]> {
  const found = await discoverServers(clientFiles(environment, cwd, process.platform));
  const connected = found.filter(({ servers }) => Object.entries(servers).some(([name, entry]) => isOurs(name, entry)));
  return [...new Set(connected.map(({ client }) => client))];
}

function isOurs(name: string, entry: JsonValue): boolean {
  if (name === 'codemode') return true;
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return false;
  const { command, args } = entry;
  const words = [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string');
  return words.includes('mcp') && words.some((word) => /(^|\/)codemode(@|$|\/)/.test(word));
}

function shortened(file: string): string {
  const home = homedir();
  return file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
