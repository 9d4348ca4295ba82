import type { Command } from 'commander';
import { HostError } from '../../../domain/errors.js';
import { LOCAL_CALLER } from '../../../domain/run.js';
import type { UndoStep } from '../../../host/undo/undo-plan.js';
import type { UndoneStep } from '../../../host/undo/undo-run.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { COMMAND_LINE_CALLER } from '../caller.js';
import { type CommandContext, EXIT, withRecords } from '../command.js';
import { RUN_ARGUMENT, runIdOf } from '../runs/run-id.js';
import { interruption } from '../runs/run-program.js';
import { askerOnTerminal } from '../terminal/ask-on-terminal.js';
import { askYesNo } from '../terminal/ask-yes-no.js';
import { waitFor } from '../terminal/progress.js';
import { plainLine, printableJson } from '../terminal/terminal.js';
import { hasPersonAtTerminal } from '../terminal/terminal-line.js';

/** Runs of the person at this machine: their own, and those of agents that their clients start. */
const OWN = [COMMAND_LINE_CALLER, LOCAL_CALLER];
/** The exit status of a suspended run: nothing has failed, and a person has to decide. */
const WAITS = 3;

interface UndoFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `runs undo`: shows what can be undone in a run, then undoes it. */
export function registerUndo(runs: Command, context: CommandContext): void {
  runs
    .command('undo')
    .argument('<run>', RUN_ARGUMENT)
    .description('undo the calls of a run that ended, the last one first, by the rules of policy.undo')
    .option('--dry-run', 'only show what can be undone')
    .option('--yes', 'do not ask before')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (run: string, flags: UndoFlags) => {
      context.exitWith(await undo(context, run, flags));
    });
}

const HELP = `
Each call is undone by another call, which passes the policy like any other: it may ask you. Undoing stops at the first call that
is refused, waits for you or fails. The next time it continues there: no call is undone twice.

--json prints { "runId", "steps": [{ "call", "tool", "arguments", "state", "why", "inverse" }], "done": [{ "call", "outcome",
"message" }] }. States: ready, undone, nothing (it changed nothing), impossible. Outcomes: undone, waits, refused, failed, unknown.

Exit status: 0 nothing is left that can be undone, 1 a call could not be undone, 2 no such run or bad input, 3 a call waits for your decision (codemode approvals).

Example:
  codemode runs undo last --dry-run
`;

async function undo(context: CommandContext, given: string, flags: UndoFlags): Promise<number> {
  const runId = await withRecords(context, ({ suspended }) => runIdOf(suspended, given));
  const { host } = await context.compose();
  await using _ = host;
  const plan = await waitFor('looking at the run', () => host.planUndo(runId, OWN));
  const isJson = flags.json === true;
  if (!isJson) process.stdout.write(planText(plan.steps));
  const ready = plan.steps.filter(({ state }) => state === 'ready');
  const isWanted = flags.dryRun !== true && ready.length > 0 && (await isMeant(ready.length, flags));
  const onStep = (done: UndoneStep) => {
    if (!isJson) process.stdout.write(doneLine(done));
  };
  const asker = askerOnTerminal(host.approvals);
  const done = isWanted ? await plan.undo({ askPerson: asker, signal: interruption(), onStep }) : [];
  if (isWanted && !isJson) process.stdout.write(restText(runId, ready, done));
  if (isJson) process.stdout.write(`${printableJson(jsonOf(runId, plan.steps, done), true)}\n`);
  const last = done.at(-1)?.outcome ?? 'undone';
  if (last === 'waits') return WAITS;
  return last === 'undone' ? EXIT.ok : EXIT.failed;
}

async function isMeant(count: number, { yes }: UndoFlags): Promise<boolean> {
  if (yes === true) return true;
  if (!hasPersonAtTerminal(process.stdout))
    throw new HostError('bad_input', 'nobody can be asked; look with --dry-run, then undo with --yes');
  return askYesNo(`undo ${count} ${count === 1 ? 'call' : 'calls'}?`);
}

const SIGNS: Readonly<Record<UndoStep['state'], string>> = {
  ready: 'undo',
  undone: 'done',
  nothing: '-',
  impossible: 'cannot',
};

function planText(steps: readonly UndoStep[]): string {
  if (steps.length === 0) return 'the run called no tools: there is nothing to undo\n';
  const lines = steps.map(({ call, tool, state, why, inverse }) => {
    const sent = inverse === undefined ? '' : ` ${JSON.stringify(inverse.arguments)}`;
    return `${SIGNS[state].padEnd(6)}  ${call}  ${plainLine(tool)}: ${plainLine(`${why}${sent}`)}`;
  });
  return `${lines.join('\n')}\n`;
}

function doneLine({ step, outcome, message }: UndoneStep): string {
  return `${outcome}: ${step.call} ${plainLine(step.tool)}${message === undefined ? '' : `: ${plainLine(message)}`}\n`;
}

/** What is left after a call that stopped the undoing. One whose outcome is unknown is not tried again. */
function restText(runId: string, ready: readonly UndoStep[], done: readonly UndoneStep[]): string {
  const settled = done.filter(({ outcome }) => outcome === 'undone' || outcome === 'unknown').length;
  const left = ready.slice(settled).map(({ call }) => call);
  return left.length === 0 ? '' : `not undone: ${left.join(', ')}. To continue: codemode runs undo ${runId}\n`;
}

function jsonOf(runId: string, steps: readonly UndoStep[], done: readonly UndoneStep[]) {
  return {
    runId,
    steps: steps.map(({ inverse, ...step }) => ({
      ...step,
      ...omitUndefined({
        inverse: ifDefined(inverse, (inverse) => ({ tool: inverse.tool, arguments: inverse.arguments })),
      }),
    })),
    done: done.map(({ step, ...each }) => ({ call: step.call, ...each })),
  };
}
