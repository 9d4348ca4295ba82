import type { RunView } from '../../../host/host.js';
import { engineIn } from '../../../host/recordings/recording.js';
import { type CommandContext, EXIT, type Register, withRecords } from '../command.js';
import type { OutputFlags } from '../runs/print-run.js';
import { headOf, printRunView, STATE_STYLES } from '../runs/print-run-view.js';
import { isWholeId, shortIds } from '../runs/resolve-id.js';
import { RUN_ARGUMENT, runIdOf, usersRuns } from '../runs/run-id.js';
import { interruption } from '../runs/run-program.js';
import { askerOnTerminal } from '../terminal/ask-on-terminal.js';
import { duration, timeAgo } from '../terminal/durations.js';
import { waitFor } from '../terminal/progress.js';
import { type Column, type Row, renderTable } from '../terminal/table.js';
import { plainLine, printableJson, terminalWidth } from '../terminal/terminal.js';
import { registerUndo } from './runs-undo.js';
import { registerWait } from './runs-wait.js';

export const register: Register = (program, context) => {
  const runs = program
    .command('runs')
    .description('show, resume, cancel or undo runs that are suspended or have ended')
    .addHelpText('after', HELP);
  runs
    .command('list', { isDefault: true })
    .description('the latest ones: state, caller, duration, and a line of the program')
    .option('--limit <count>', 'how many', '20')
    .option('--all', 'include the runs of demo, measure and doctor')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS)
    .action(async (flags: ListFlags) => {
      context.exitWith(await list(context, flags));
    });
  runs
    .command('show')
    .argument('<run>', RUN_ARGUMENT)
    .description('the state of one of them, and its response')
    .option('--json', 'as JSON, also on a terminal')
    .addHelpText('after', STATUS)
    .action(async (runId: string, flags: OutputFlags) => {
      context.exitWith(
        await withRecords(context, async ({ suspended }) => {
          const id = await runIdOf(suspended, runId);
          return printRunView(await suspended.show(id), flags, engineIn(await suspended.keptRecording(id)));
        }),
      );
    });
  runs
    .command('resume')
    .argument('<run>', RUN_ARGUMENT)
    .description('resume a suspended run now, in this process; its approvals must be decided')
    .option('--json', 'as JSON, also on a terminal')
    .addHelpText('after', STATUS)
    .action(async (runId: string, flags: OutputFlags) => {
      context.exitWith(await resume(context, runId, flags));
    });
  registerWait(runs, context);
  registerUndo(runs, context);
  runs
    .command('cancel')
    .argument('<run>', RUN_ARGUMENT)
    .description('cancel a suspended run')
    .option('--json', 'as JSON, also on a terminal')
    .addHelpText('after', STATUS)
    .action(async (runId: string, flags: OutputFlags) => {
      context.exitWith(
        await withRecords(context, async ({ suspended }) =>
          printRunView(await suspended.cancel(await runIdOf(suspended, runId, 'suspended')), flags),
        ),
      );
    });
};

const HELP = `
list --json prints [{ "runId", "state", "caller", "profile", "createdAt", "updatedAt", "durationMs", "program" }]; the
program is its first line that is neither an import nor a comment. show, resume, wait and cancel print the same of one run,
with "response" and "approvals" (show also with the "engine" in which it ended): on a terminal in a few lines, else or with --json as JSON. States: suspended (until a person has decided), running, succeeded,
failed, cancelled. The response is what the agent's client would have been given.

Exit status: 0, 1 the run has failed, 2 no such run, or it cannot be resumed yet, 69 no jail, 75 another
process has it.
`;

const STATUS = '\nExit status: 0, 1 the run has failed, 2 bad input; see codemode runs --help.\n';

interface ListFlags {
  readonly limit: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

const MAX_LISTED = 1_000;

function list(context: CommandContext, flags: ListFlags): Promise<number> {
  const limit = Math.min(MAX_LISTED, Math.max(1, Number(flags.limit) || 20));
  return withRecords(context, async ({ suspended }) => {
    const shown = flags.all === true ? await suspended.list(limit) : await usersRuns(suspended);
    const runs = shown.slice(0, limit);
    if (flags.json === true) process.stdout.write(`${printableJson(runs.map(headOf), true)}\n`);
    else if (runs.length === 0) process.stderr.write('no runs have been recorded yet\n');
    else process.stdout.write(`${renderList(waitingFirst(shown).slice(0, limit))}\n`);
    return EXIT.ok;
  });
}

/** For people: runs that wait for a decision come before runs that are over. */
function waitingFirst(runs: readonly RunView[]): RunView[] {
  const isWaiting = ({ state }: RunView) => state === 'suspended';
  return [...runs.filter(isWaiting), ...runs.filter((run) => !isWaiting(run))];
}

async function resume(context: CommandContext, given: string, flags: OutputFlags): Promise<number> {
  // Looked up first, so that a mistyped id does not wait for a jail. A whole id needs no lookup.
  const lookUp = () => withRecords(context, ({ suspended }) => runIdOf(suspended, given, 'suspended'));
  const runId = isWholeId(given) ? given : await lookUp();
  const { host } = await context.compose();
  await using _ = host;
  const asker = askerOnTerminal(host.approvals);
  if (asker === undefined) return printRunView(await waitFor('resuming the run', () => host.resume(runId)), flags);
  const { approvals } = await host.showRun(runId);
  await asker(
    approvals.filter(({ state }) => state === 'PENDING'),
    interruption(),
  );
  return printRunView(await host.resume(runId, asker), flags);
}

const COLUMNS: readonly Column[] = [
  { title: 'RUN' },
  { title: 'STATE' },
  { title: 'WHEN', cutFirst: 1 },
  { title: 'TOOK', isNumber: true },
  { title: 'CALLER', cutFirst: 2 },
  { title: 'PROGRAM', cutFirst: 3 },
];

/** For people: short ids and relative times. Without a terminal: whole ids and timestamps, for searching. */
function renderList(runs: readonly RunView[]): string {
  const width = terminalWidth();
  const isForPeople = width !== undefined;
  const short = isForPeople ? shortIds(runs.map(({ runId }) => runId)) : (id: string) => id;
  const nowMs = Date.now();
  const rows = runs.map(({ runId, state, createdAtMs, durationMs, caller, title, approvals }): Row => {
    const pending = approvals.filter((each) => each.state === 'PENDING').map(({ id }) => id);
    const when = isForPeople ? timeAgo(nowMs - createdAtMs) : new Date(createdAtMs).toISOString();
    const took = durationMs === undefined ? '-' : duration(durationMs);
    return {
      cells: [short(runId), { text: state, style: STATE_STYLES[state] }, when, took, caller, title ?? '-'],
      below: pending.length === 0 ? [] : [`  waits for ${plainLine(pending.join(', '))}: codemode approvals`],
    };
  });
  return renderTable(COLUMNS, rows, width);
}
