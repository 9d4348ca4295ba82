import type { RunView } from '../../../host/host.js';
import { askerOnTerminal } from '../ask-on-terminal.js';
import { type CommandContext, EXIT, type Register, withRecords } from '../command.js';
import { interruption } from '../run-program.js';
import { plain, printableJson } from '../terminal.js';
import { waitFor } from '../waiting.js';
import { registerWait } from './runs-wait.js';

export const register: Register = (program, context) => {
  const runs = program
    .command('runs')
    .description('runs that sleep or have ended: look at them, go on with them, cancel them')
    .addHelpText('after', HELP);
  runs
    .command('list', { isDefault: true })
    .description('the latest ones')
    .option('--limit <count>', 'how many', '20')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS)
    .action(async (flags: { limit: string; json?: boolean }) => {
      context.exitWith(
        await list(context, Math.min(1_000, Math.max(1, Number(flags.limit) || 20)), flags.json === true),
      );
    });
  runs
    .command('show')
    .argument('<run>')
    .description('how one of them stands, and its response')
    .option('--json', 'as JSON (it is JSON anyway)')
    .addHelpText('after', STATUS)
    .action(async (runId: string) => {
      context.exitWith(await withRecords(context, async ({ sleeping }) => print(await sleeping.show(runId))));
    });
  runs
    .command('resume')
    .argument('<run>')
    .description('go on with one that sleeps, now, in this process; its approvals must be decided')
    .option('--json', 'as JSON (it is JSON anyway)')
    .addHelpText('after', STATUS)
    .action(async (runId: string) => {
      context.exitWith(await resume(context, runId));
    });
  registerWait(runs, context, print);
  runs
    .command('cancel')
    .argument('<run>')
    .description('end one that sleeps')
    .addHelpText('after', STATUS)
    .action(async (runId: string) => {
      context.exitWith(await withRecords(context, async ({ sleeping }) => print(await sleeping.cancel(runId))));
    });
};

const HELP = `
show, resume and wait print { "runId", "state", "response", "approvals" }. States: waiting (for a person), running, finished,
failed, cancelled. The response is what the agent's client would have been given.

Exit status: 0, 1 the run has failed, 2 no such run, or it cannot be resumed yet, 69 no jail to be had, 75 another
process has it.
`;

const STATUS = '\nExit status: 0, 1 the run has failed, 2 bad input; see codemode runs --help.\n';

function list(context: CommandContext, limit: number, isJson: boolean): Promise<number> {
  return withRecords(context, async ({ sleeping }) => {
    const runs = await sleeping.list(limit);
    if (isJson) process.stdout.write(`${printableJson(runs.map(headOf), true)}\n`);
    else if (runs.length === 0) process.stderr.write('no runs have been recorded yet\n');
    else for (const run of runs) process.stdout.write(`${lineOf(run)}\n`);
    return EXIT.ok;
  });
}

async function resume(context: CommandContext, runId: string): Promise<number> {
  const { host } = await context.compose();
  await using _ = host;
  const asker = askerOnTerminal(host.approvals);
  if (asker === undefined) return print(await waitFor('resuming the run', () => host.resume(runId)));
  const { approvals } = await host.showRun(runId);
  await asker(
    approvals.filter(({ state }) => state === 'PENDING'),
    interruption(),
  );
  return print(await host.resume(runId, asker));
}

function print(run: RunView): number {
  const approvals = run.approvals.map(({ id, tool, state }) => ({
    id,
    tool: `${tool.serverId}/${tool.toolName}`,
    state,
  }));
  process.stdout.write(`${printableJson({ ...headOf(run), response: run.response, approvals }, true)}\n`);
  return run.state === 'failed' ? EXIT.failed : EXIT.ok;
}

function headOf({ runId, state, caller, profile, createdAtMs, updatedAtMs }: RunView) {
  const at = { createdAt: new Date(createdAtMs).toISOString(), updatedAt: new Date(updatedAtMs).toISOString() };
  return { runId, state, caller, profile, ...at };
}

function lineOf({ runId, state, createdAtMs, approvals }: RunView): string {
  const pending = approvals.filter((each) => each.state === 'PENDING').map(({ id }) => id);
  const waits = pending.length === 0 ? '' : `  waits for ${pending.join(', ')}`;
  return plain(`${runId}  ${state.padEnd(9)}  ${new Date(createdAtMs).toISOString()}${waits}`);
}
