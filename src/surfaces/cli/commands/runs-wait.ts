import type { Command } from 'commander';
import { HostError } from '../../../domain/errors.js';
import type { RunView } from '../../../host/host.js';
import { type CommandContext, EXIT, withRecords } from '../command.js';
import type { ComposedRecords } from '../composed.js';
import type { OutputFlags } from '../runs/print-run.js';
import { printRunView } from '../runs/print-run-view.js';
import { RUN_ARGUMENT, runIdOf } from '../runs/run-id.js';
import { waitFor } from '../terminal/progress.js';

const LOOK_EVERY_MS = 200;
/** Exit status if the timeout passed and the run is not over. */
const STILL_SUSPENDED = 3;
const STILL_RUNNING = 75;
const MAX_TIMEOUT_MS = 7 * 24 * 60 * 60 * 1_000;

/** `codemode runs wait`: for shell scripts whose run was suspended, or continues in another process. */
export function registerWait(runs: Command, context: CommandContext): void {
  runs
    .command('wait')
    .argument('<run>', RUN_ARGUMENT)
    .description('wait until one has ended, wherever it runs, and print it like show')
    .option('--timeout <ms>', 'wait no longer than this (default: as long as it takes)')
    .option('--json', 'as JSON, also on a terminal')
    .addHelpText('after', STATUS)
    .action(async (given: string, flags: OutputFlags & { timeout?: string }) => {
      const timeoutMs = timeoutOf(flags.timeout);
      context.exitWith(
        await withRecords(context, async (records) => {
          const runId = await runIdOf(records.suspended, given);
          const run = await waitFor(`waiting for run ${runId}`, (say) => untilEnded(records, runId, timeoutMs, say));
          printRunView(run, flags);
          return statusOf(run);
        }),
      );
    });
}

const STATUS = `
Exit status: 0 the run has succeeded, 1 it has failed or was cancelled, 2 no such run, ${STILL_SUSPENDED} the time ran out and it still waits
  for a person, ${STILL_RUNNING} the time ran out and it is still running, 130 interrupted.
`;

async function untilEnded(
  { suspended }: ComposedRecords,
  runId: string,
  timeoutMs: number,
  say: (more: string) => void,
): Promise<RunView> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    const run = await suspended.show(runId);
    if (run.state !== 'suspended' && run.state !== 'running') return run;
    if (performance.now() >= until) return run;
    say(standOf(run));
    await new Promise((resolve) =>
      setTimeout(resolve, Math.min(LOOK_EVERY_MS, Math.max(1, until - performance.now()))),
    );
  }
}

function standOf({ runId, state, approvals }: RunView): string {
  if (state === 'running') return 'it is running';
  const [pending, ...others] = approvals.filter((each) => each.state === 'PENDING');
  return pending === undefined
    ? `its calls are decided; resume it with: codemode runs resume ${runId}`
    : `it needs approval: codemode approvals approve ${pending.id}${others.length > 0 ? ' --scope calls' : ''}`;
}

function statusOf({ state }: RunView): number {
  if (state === 'suspended') return STILL_SUSPENDED;
  if (state === 'running') return STILL_RUNNING;
  return state === 'succeeded' ? EXIT.ok : EXIT.failed;
}

function timeoutOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAX_TIMEOUT_MS) return value;
  throw new HostError(
    'bad_input',
    `--timeout: expected milliseconds from 1 to ${MAX_TIMEOUT_MS}, found ${JSON.stringify(text.slice(0, 60))}`,
  );
}
