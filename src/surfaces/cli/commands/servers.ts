import type { LoadedConfig } from '../../../config/load.js';
import { readEnvironment } from '../../../config/variables/environment.js';
import { unpassedVariables } from '../../../config/variables/unpassed-variables.js';
import type { Quarantine } from '../../../host/servers/quarantine.js';
import type { ServerReport } from '../../../host/tools/inventory.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { CommandContext, Register } from '../command.js';
import { adviceFor } from '../findings/server-advice.js';
import { asking, waitFor } from '../terminal/progress.js';
import { type Column, type Row, renderTable } from '../terminal/table.js';
import { plainBlock, plainLine, printableJson, type Style, styled, terminalWidth } from '../terminal/terminal.js';
import { wrapLines } from '../terminal/wrap.js';
import { noteOnVariables } from '../trust/file-notes.js';

interface ServersFlags {
  readonly refresh?: boolean;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('servers')
    .description('connect every server and show its state, transport, tools, warnings, and what to do')
    .option('--refresh', 'discard the catalog on disk first')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: ServersFlags) => {
      context.exitWith(await servers(flags, context));
    });
};

const HELP = `
Tools of a server that does not answer stay in the catalog, as they were; with --refresh they are dropped.
A running codemode has separate connections. A server that it has quarantined is marked here; GET /api/v1/servers of a running
codemode serve shows the state of all its connections.
--json prints { "ok", "servers": [{ "id", "serverId", "state", "transport", "tools", "toolsAreFromCache", "warnings",
"name", "version", "protocolVersion", "reason", "fix", "notPassedOn", "quarantinedBy": [{ "pid", "reason", "until" }] }] };
the last seven only where they are known.
"notPassedOn" are variables that such a server usually reads and that are set here, but are not passed on to it.

Exit status: 0 every server answered, 1 one did not, 2 bad input.
`;

async function servers(flags: ServersFlags, context: CommandContext): Promise<number> {
  const { inventory, loaded, quarantinesElsewhere } = await context.inventory();
  await using _ = inventory;
  if (flags.refresh === true) await inventory.forget();
  await waitFor('connecting servers', (say) => inventory.ask('all', { onProgress: asking(say) }));
  const reports = inventory.servers();
  const quarantines = await quarantinesElsewhere();
  const isOk = reports.every((report) => !isDown(report));
  if (flags.json === true) {
    process.stdout.write(
      `${printableJson({ ok: isOk, servers: reports.map((each) => asJson(each, loaded, quarantines)) }, true)}\n`,
    );
  } else {
    if (reports.length > 0) process.stdout.write(`${render(reports, loaded, quarantines)}\n`);
  }
  return isOk ? 0 : 1;
}

/** A server that was switched off is not down. A server that is disabled by a mistake is. */
export function isDown({ state, reason }: ServerReport): boolean {
  return state === 'disabled' ? reason !== undefined : state !== 'ready';
}

function asJson(report: ServerReport, loaded: LoadedConfig, quarantines: readonly Quarantine[]) {
  const { id, path, state, transport, toolCount, isFromCache, warnings, name, version, protocolVersion, reason } =
    report;
  const missing = unpassed(id, loaded);
  const elsewhere = quarantines.filter(({ serverId }) => serverId === id);
  return {
    id,
    serverId: path,
    state,
    transport,
    tools: toolCount,
    toolsAreFromCache: isFromCache,
    warnings,
    ...omitUndefined({ name, version, protocolVersion, reason }),
    ...(isDown(report) ? { fix: adviceFor(report, loaded) } : {}),
    ...(missing.length === 0 ? {} : { notPassedOn: missing }),
    ...(elsewhere.length === 0
      ? {}
      : {
          quarantinedBy: elsewhere.map(({ pid, reason: why, untilMs }) => ({
            ...{ pid, reason: why, until: new Date(untilMs).toISOString() },
          })),
        }),
  };
}

/** The server's usual variables that are set here but not passed to its process. */
function unpassed(id: string, { config }: LoadedConfig): string[] {
  const server = config.mcpServers[id];
  return server === undefined ? [] : unpassedVariables(id, server, readEnvironment());
}

const COLUMNS: readonly Column[] = [
  { title: 'STATE' },
  { title: 'SERVER', cutFirst: 1 },
  { title: 'TOOLS, TRANSPORT, VERSION', cutFirst: 2 },
];

/** On a terminal, the last lines of a crashed process are shown on separate lines, as it wrote them. */
function whyDown({ reason = 'it did not answer', crash }: ServerReport): string[] {
  if (crash === undefined || terminalWidth() === undefined) return [wrapLines(plainBlock(reason, INDENT))];
  const title = `${crash.summary}. The last lines of its stderr:`;
  return [wrapLines(plainBlock(title, INDENT)), ...crash.lines.map((line) => plainBlock(line, `${INDENT}  `))];
}

/** A command in the advice stays on one line, to be copied. */
function advice(text: string): string[] {
  const [first = '', ...commands] = text.split('\n');
  return [wrapLines(plainBlock(first, INDENT)), ...commands.map((line) => plainBlock(line, INDENT))];
}

const INDENT = ' '.repeat(10);

function render(reports: readonly ServerReport[], loaded: LoadedConfig, quarantines: readonly Quarantine[]): string {
  const rows = reports.map((report): Row => {
    const { id, path, state, transport, name, version, toolCount, isFromCache, warnings } = report;
    const style: Style = state === 'ready' ? 'green' : isDown(report) ? 'red' : 'dim';
    const facts = [
      transport === 'none' ? undefined : transport,
      name === undefined ? undefined : [name, version].filter((part) => part !== undefined).join(' '),
      state === 'disabled'
        ? undefined
        : `${toolCount} ${toolCount === 1 ? 'tool' : 'tools'}${isFromCache ? ' (as they were)' : ''}`,
      path === id ? undefined : `imported as ${path}`,
    ].filter((fact) => fact !== undefined);
    const below = isDown(report) ? [...whyDown(report), ...advice(adviceFor(report, loaded))] : [];
    const missing = unpassed(id, loaded);
    if (missing.length > 0)
      below.push(`${INDENT}${styled('yellow', 'note')}: ${plainLine(noteOnVariables(id, missing))}`);
    for (const { serverId, pid, reason } of quarantines)
      if (serverId === id)
        below.push(
          `${INDENT}${styled('yellow', 'warning')}: ${plainLine(`quarantined by the running codemode with process id ${pid}: ${reason}`)}`,
        );
    for (const warning of warnings) below.push(`${INDENT}${styled('yellow', 'warning')}: ${plainLine(warning)}`);
    return { cells: [{ text: state.padEnd(8), style }, { text: id, style: 'bold' }, facts.join(', ')], below };
  });
  return renderTable(COLUMNS, rows);
}
