import type { Command } from 'commander';
import type { Approval, Grant, GrantScope } from '../../../domain/approval.js';
import { timeOf } from '../../../domain/format-approval.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { type CommandContext, EXIT, withRecords } from '../command.js';
import type { ComposedRecords } from '../composed.js';
import { personOf } from '../person-of.js';
import { resolveId, shortIds } from '../runs/resolve-id.js';
import { type Column, type Row, renderTable } from '../terminal/table.js';
import { plainLine, printableJson, terminalWidth } from '../terminal/terminal.js';

/** `approvals grants` and `approvals revoke`: the decisions with the scope run or hour that are in force, and their end. */
export function registerGrants(approvals: Command, context: CommandContext): void {
  approvals
    .command('grants')
    .description('list grants: decisions with the scope run or hour, which let a tool be called without asking')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExit status: 0, 2 bad input; see codemode approvals --help.\n')
    .action(async (flags: { json?: boolean }) => {
      context.exitWith(await withRecords(context, (records) => list(records, flags)));
    });
  approvals
    .command('revoke')
    .argument('<id>', 'id of the grant, or the first 4 or more characters of it, or last')
    .description('end a grant: the next call of the tool asks again')
    .option('--reason <text>', 'why; it is recorded')
    .addHelpText(
      'after',
      "\nIt needs a terminal or the approver's secret, as a decision does.\n\nExit status: 0, 2 no such grant, or neither a terminal nor the right secret.\n",
    )
    .action(async (id: string, flags: { reason?: string }) => {
      context.exitWith(await withRecords(context, (records) => revoke(records, id, flags)));
    });
}

/** Where people look for what waits, they learn what does not wait. */
export async function sayGrants(approvals: ComposedRecords['approvals']): Promise<void> {
  const { length } = await approvals.grants();
  if (length === 0) return;
  const what = length === 1 ? '1 grant lets' : `${length} grants let`;
  process.stderr.write(`${what} calls through without asking: codemode approvals grants\n`);
}

/** After a yes for more than one call: how it is taken back. */
export function sayGrant({ id, tool }: Approval, scope: GrantScope): void {
  if (scope !== 'run' && scope !== 'hour') return;
  const name = plainLine(`${tool.serverId}/${tool.toolName}`);
  const until = scope === 'run' ? 'until the run ends' : 'for an hour';
  process.stdout.write(`${name} is called without asking ${until}; to end that: codemode approvals revoke ${id}\n`);
}

async function list({ approvals }: ComposedRecords, flags: { json?: boolean }): Promise<number> {
  const grants = await approvals.grants();
  if (flags.json === true) process.stdout.write(`${printableJson(grants.map(grantJson), true)}\n`);
  else if (grants.length === 0) process.stderr.write('no grants: every call that needs a decision asks\n');
  else {
    process.stdout.write(`${renderGrants(grants)}\n`);
    process.stderr.write('To end one: codemode approvals revoke ID\n');
  }
  return EXIT.ok;
}

async function revoke(records: ComposedRecords, given: string, { reason }: { reason?: string }): Promise<number> {
  const { approvals } = records;
  const by = await personOf(records);
  const grants = await approvals.grants();
  const id = await resolveId(given, {
    noun: 'grant',
    listedBy: 'codemode approvals grants',
    idsWith: (prefix, limit) =>
      idsOf(grants)
        .filter((each) => each.startsWith(prefix))
        .slice(0, limit),
    latest: () => newestOf(grants)?.approval.id,
  });
  const { approval } = await approvals.revoke(id, { by, ...omitUndefined({ reason }) });
  const name = `${approval.tool.serverId}/${approval.tool.toolName}`;
  process.stdout.write(`${plainLine(`revoked: ${id}; the next call of ${name} asks again`)}\n`);
  return EXIT.ok;
}

const COLUMNS: readonly Column[] = [
  { title: 'GRANT' },
  { title: 'TOOL', cutFirst: 1 },
  { title: 'FOR', cutFirst: 2 },
  { title: 'UNTIL', cutFirst: 3 },
];

function renderGrants(grants: readonly Grant[]): string {
  const width = terminalWidth();
  const short = width === undefined ? (id: string) => id : shortIds(idsOf(grants));
  const rows = grants.map(({ approval, scope, expiresAtMs }): Row => {
    const { id, tool, runId, caller, reason, decision } = approval;
    return {
      cells: [
        short(id),
        `${tool.serverId}/${tool.toolName}`,
        scope === 'run' ? `run ${runId}` : `caller ${caller}`,
        scope === 'run' ? 'the run ends' : timeOf(expiresAtMs),
      ],
      below: [`  ${plainLine(`by ${decision?.by ?? 'unknown'}; ${reason}`)}`],
    };
  });
  return renderTable(COLUMNS, rows, width);
}

function grantJson({ approval, scope, expiresAtMs }: Grant) {
  const { id, runId, caller, tool, reason, decision } = approval;
  return {
    id,
    scope,
    ...(scope === 'run' ? { runId } : {}),
    caller,
    serverId: tool.serverId,
    toolName: tool.toolName,
    reason,
    expiresAt: new Date(expiresAtMs).toISOString(),
    ...omitUndefined({
      decision: ifDefined(decision, (decision) => ({ by: decision.by, at: new Date(decision.atMs).toISOString() })),
    }),
  };
}

function idsOf(grants: readonly Grant[]): string[] {
  return grants.map(({ approval }) => approval.id);
}

function newestOf(grants: readonly Grant[]): Grant | undefined {
  return grants.toSorted((a, b) => (a.approval.decision?.atMs ?? 0) - (b.approval.decision?.atMs ?? 0)).at(-1);
}
