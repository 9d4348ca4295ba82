import type { Command } from 'commander';
import type { AuditFilter, AuditRecord, ChainHead, ChainReport } from '../../../domain/audit.js';
import { HostError } from '../../../domain/errors.js';
import type { AuditLog } from '../../../host/admin/audit-log.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import { countFrom1 } from '../options.js';
import { findId, shortIds } from '../runs/resolve-id.js';
import { duration } from '../terminal/durations.js';
import { isOpen, whenWritable } from '../terminal/output.js';
import { type Column, type Row, renderTable } from '../terminal/table.js';
import { plainLine, printableJson, styled, terminalWidth } from '../terminal/terminal.js';

interface FilterFlags {
  readonly run?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly since?: string;
}

interface ListFlags extends FilterFlags {
  readonly limit: string;
  readonly json?: boolean;
}

export const register: Register = (program, context) => {
  const audit = program.command('audit').description('show the recorded tool calls, newest last');
  withFilters(audit)
    .option('--limit <count>', 'the most entries to show', '20')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (flags: ListFlags) => context.exitWith(await list(flags, context)));
  audit
    .command('verify')
    .description('check that no record was changed, added or removed')
    .option('--head <count:hash>', 'a head that an earlier check printed: it must still be part of the chain')
    .option('--json', 'as JSON')
    .addHelpText('after', VERIFY_HELP)
    .action(async (flags: { head?: string }, { parent }: Command) =>
      context.exitWith(await verify(flags, parent?.opts<ListFlags>().json === true, context)),
    );
  const exported = audit
    .command('export')
    .description('print all records as JSON lines, oldest first')
    .addHelpText('after', EXPORT_HELP);
  withFilters(exported).action(async (_: FilterFlags, command: Command) =>
    context.exitWith(await exportAll(command.optsWithGlobals<FilterFlags>(), context)),
  );
  audit
    .command('restart')
    .description('drop a chain that was changed, and begin a new one that records it')
    .requiredOption('--reason <text>', 'why; it stays on record')
    .addHelpText('after', '\nExit status: 0 a new chain was started, 2 bad input.\n')
    .action(async ({ reason }: { reason: string }) => context.exitWith(await restart(reason, context)));
};

function withFilters(command: Command): Command {
  return command
    .option('--run <id>', 'only calls of this run: its id, the first 4 or more characters of it, or last')
    .option('--server <id>', 'only calls of this server, by its name in the configuration')
    .option('--tool <name>', 'only calls of this tool')
    .option('--since <time>', 'only calls since then: 2h, 7d, or a date such as 2026-05-01T10:00:00Z');
}

const HELP = `
One line for each call: NUMBER of the record, TIME, TOOL (server/tool), VERDICT, TOOK (duration), BYTES of the answer, RUN,
and NOTES: approval, and what was redacted. A narrow terminal shows fewer. --json has also callId, caller, profile,
codeDigest (of the program), argumentsDigest and hash. Never arguments or answers.
"decided" is a person's decision about a call, "output" what was redacted from what a program printed and returned.
"sent" is in flight; "outcome_unknown" was in flight when its host was killed, and may have taken effect. See
docs/guides/audit.md.

Exit status: 0 also where nothing matches, 2 bad input.

Examples:
  codemode audit --since 1h --server github
  codemode audit --json --limit 100
`;

const VERIFY_HELP = `
Exit status: 0 the chain is whole, 1 it is not, and the first bad record and the reason are printed.
`;

const EXPORT_HELP = `
Each line has the record's hash; it is the SHA-256 of a JSON array of the record and the hash before it: see
docs/guides/audit.md.

Exit status: 0 all was printed, 2 bad input.
`;

async function list(flags: ListFlags, context: CommandContext): Promise<number> {
  const [filter, limit] = [filterOf(flags), countFrom1('--limit', flags.limit)];
  await using log = await context.audit();
  const records = await log.records(await ofRun(filter, log), limit);
  if (flags.json === true) process.stdout.write(`${printableJson({ records: records.map(outward) }, true)}\n`);
  else if (records.length > 0) process.stdout.write(`${renderList(records)}\n`);
  if (records.length === 0 && flags.json !== true) process.stderr.write('no recorded call matches\n');
  return EXIT.ok;
}

async function verify(flags: { head?: string }, isJson: boolean, context: CommandContext): Promise<number> {
  const expected = flags.head === undefined ? undefined : headOf(flags.head);
  await using log = await context.audit();
  const report = await log.verify(expected);
  process.stdout.write(isJson ? `${printableJson(report, true)}\n` : `${explain(report)}\n`);
  return report.isIntact ? EXIT.ok : EXIT.failed;
}

async function exportAll(flags: FilterFlags, context: CommandContext): Promise<number> {
  const filter = filterOf(flags);
  await using log = await context.audit();
  for await (const record of log.each(await ofRun(filter, log))) {
    if (!isOpen(process.stdout)) break;
    // Backpressure: a slow reader must not make us buffer everything.
    if (!process.stdout.write(`${printableJson(outward(record))}\n`)) await whenWritable(process.stdout);
  }
  return EXIT.ok;
}

async function restart(reason: string, context: CommandContext): Promise<number> {
  await using log = await context.audit();
  const { count } = await log.restart(reason);
  process.stdout.write(`a new chain starts after record ${count}\n`);
  return EXIT.ok;
}

function outward({ number, atMs, ...record }: AuditRecord) {
  return { number, timestamp: new Date(atMs).toISOString(), ...record };
}

const COLUMNS: readonly Column[] = [
  { title: 'NUMBER', isNumber: true },
  { title: 'TIME', cutFirst: 2 },
  { title: 'TOOL' },
  { title: 'VERDICT', cutFirst: 1 },
  { title: 'TOOK', isNumber: true },
  { title: 'BYTES', isNumber: true, cutFirst: 3 },
  { title: 'RUN', cutFirst: 4 },
  { title: 'NOTES', cutFirst: 5 },
];

const GREEN: ReadonlySet<AuditRecord['verdict']> = new Set(['ok', 'decided', 'revoked', 'output']);
/** Records without a duration. */
const MOMENTS: ReadonlySet<AuditRecord['verdict']> = new Set(['decided', 'revoked', 'output']);

function renderList(records: readonly AuditRecord[]): string {
  const width = terminalWidth();
  const short = width === undefined ? (id: string) => id : shortIds(records.map(({ runId }) => runId));
  const rows = records.map((record): Row => {
    const { number, atMs, serverId, toolName, verdict, durationMs, resultBytes, runId } = record;
    const time = new Date(atMs).toISOString();
    return {
      cells: [
        { text: `${number}`, style: 'dim' },
        width === undefined ? time : `${time.slice(0, 19).replace('T', ' ')}Z`,
        { text: serverId === '' ? '(program output)' : `${serverId}/${toolName}`, style: 'bold' },
        { text: verdict, style: GREEN.has(verdict) ? 'green' : 'yellow' },
        MOMENTS.has(verdict) ? '-' : duration(durationMs),
        resultBytes === null ? '-' : `${resultBytes}`,
        { text: short(runId), style: 'dim' },
        notesOf(record),
      ],
    };
  });
  return renderTable(COLUMNS, rows, width);
}

function notesOf({ verdict, approval, redactions }: AuditRecord): string {
  const what = verdict === 'revoked' ? verdict : approval.state.toLowerCase();
  const decided =
    approval.state === 'NOT_REQUIRED' ? [] : [`${what}${approval.by === undefined ? '' : ` by ${approval.by}`}`];
  return [...decided, ...Object.entries(redactions).map(([kind, count]) => `${count} ${kind} redacted`)].join(', ');
}

const REFUSED =
  'Calls are refused until this is settled. Export what is there (codemode audit export), then: codemode audit restart --reason ...';
const NOT_REFUSED =
  'Calls are still made: before each only the end of the chain is checked. Export what is there (codemode audit export), then: codemode audit restart --reason ...';

function explain(report: ChainReport): string {
  const { isIntact, records, head, problem, cut, callsRefused } = report;
  const lines = [
    isIntact
      ? `${styled('green', 'whole')}: ${records} records, ${extentOf(report)}`
      : `${styled('red', 'changed')}: record ${problem?.record}: ${plainLine(problem?.reason ?? '')}`,
    ...(cut === undefined
      ? []
      : [`records up to ${cut.count} were removed on ${new Date(cut.atMs).toISOString()}: ${plainLine(cut.reason)}`]),
    `head ${head.count}:${head.hash}`,
    ...(isIntact ? [] : [callsRefused === true ? REFUSED : NOT_REFUSED]),
  ];
  return lines.join('\n');
}

function extentOf({ records, first, head, chains }: ChainReport): string {
  if (chains !== undefined) return `${chains} ${chains === 1 ? 'chain' : 'chains'}, anchored ${head.count} times`;
  return records === 0 ? 'none' : `${first} to ${head.count}`;
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function filterOf({ run, server, tool, since }: FilterFlags): AuditFilter {
  return {
    ...omitUndefined({ runId: run, serverId: server, toolName: tool, sinceMs: ifDefined(since, timeOf) }),
  };
}

/** `--run` may be a prefix of an id, or `last`: the run of the newest record. */
async function ofRun(filter: AuditFilter, log: AuditLog): Promise<AuditFilter> {
  if (filter.runId === undefined) return filter;
  const runId = await findId(filter.runId, {
    noun: 'run',
    listedBy: 'codemode audit',
    idsWith: (prefix, limit) => log.runIdsWith(prefix, limit),
    latest: async () => (await log.records({}, 1))[0]?.runId,
  });
  // A run that made no calls has no record. That is not an error.
  return { ...filter, runId: runId ?? filter.runId };
}

function timeOf(text: string): number {
  const ago = /^(\d{1,6})([smhd])$/.exec(text);
  if (ago !== null) return Date.now() - Number(ago[1]) * (UNITS_MS[ago[2] as string] as number);
  const time = Date.parse(text);
  if (Number.isFinite(time)) return time;
  throw new HostError('bad_input', `--since is ${JSON.stringify(text)}; give 30m, 2h, 7d or a date such as 2026-05-01`);
}

function headOf(text: string): ChainHead {
  const [, count, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (count === undefined || hash === undefined)
    throw new HostError('bad_input', '--head is malformed; give it as an earlier check printed it: 120:9f86d0...');
  return { count: Number(count), hash };
}
