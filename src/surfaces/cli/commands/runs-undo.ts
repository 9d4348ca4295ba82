import type { Command } from 'commander';
import { callName } from '../../../domain/call-number.js';
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
  readonly skip?: string;
}

/** `runs undo`: shows what can be undone in a run, then undoes it. */
export function registerUndo(runs: Command, context: CommandContext): void {
  runs
    .command('undo')
    .argument('<run>', RUN_ARGUMENT)
    .description('undo the calls of a run that ended, the last one first, by the rules of policy.undo')
    .option('--dry-run', 'only show what can be undone')
    .option('--yes', 'do not ask before')
    .option('--skip <calls>', 'leave these calls as they are: numbers, separated by commas')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(async (run: string, flags: UndoFlags) => {
      context.exitWith(await undo(context, run, flags));
    });
}

const HELP = `
Each call is undone by another call, which passes the policy like any other: it may ask you. Undoing stops at the first call that
is refused, waits for you or fails. The next time it continues there: no call is undone twice. What was done before a call may depend
on it; if you know that it does not, --skip leaves the call as it is. Calls of a script have two numbers, as in 1.2.

--json prints { "runId", "steps": [{ "call", "tool", "arguments", "state", "why", "inverse" }], "done": [{ "call", "outcome",
"message" }] }. States: ready, undone, nothing (it changed nothing), impossible. Outcomes: undone, waits, refused, failed, unknown.

Exit status: 0 nothing is left that can be undone, 1 a call could not be undone, 2 no such run or bad input, 3 a call waits for your decision (codemode approvals).

Example:
  codemode runs undo last --dry-run
  codemode runs undo last --skip 3
`;

async function undo(context: CommandContext, given: string, flags: UndoFlags): Promise<number> {
  const runId = await withRecords(context, ({ suspended }) => runIdOf(suspended, given));
  const { host } = await context.compose();
  await using _ = host;
  const plan = await waitFor('looking at the run', () => host.planUndo(runId, OWN));
  const isJson = flags.json === true;
  const skipped = skippedCalls(flags.skip, plan.steps);
  if (!isJson) process.stdout.write(planText(plan.steps, skipped));
  const ready = plan.steps.filter(({ state, call }) => state === 'ready' && !skipped.has(call));
  const isWanted = flags.dryRun !== true && ready.length > 0 && (await isMeant(ready.length, flags));
  const onStep = (done: UndoneStep) => {
    if (!isJson) process.stdout.write(doneLine(done));
  };
  const asker = askerOnTerminal(host.approvals);
  const done = isWanted ? await plan.undo({ askPerson: asker, signal: interruption(), onStep, skipped }) : [];
  if (isWanted && !isJson) process.stdout.write(restText(runId, ready, done, skipped));
  if (isJson) process.stdout.write(`${printableJson(jsonOf(runId, plan.steps, done), true)}\n`);
  const last = done.at(-1)?.outcome ?? 'undone';
  if (last === 'waits') return WAITS;
  return last === 'undone' ? EXIT.ok : EXIT.failed;
}

/** The calls that `--skip` names. */
function skippedCalls(given: string | undefined, steps: readonly UndoStep[]): ReadonlySet<number> {
  const named = given?.split(',').map((each) => each.trim()) ?? [];
  const calls = new Map(steps.map(({ call }) => [callName(call), call]));
  return new Set(
    named.map((name) => {
      const call = calls.get(name);
      if (call !== undefined) return call;
      throw new HostError('bad_input', `--skip: the run has no call ${JSON.stringify(name)}; --dry-run shows them`);
    }),
  );
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

function planText(steps: readonly UndoStep[], skipped: ReadonlySet<number>): string {
  if (steps.length === 0) return 'the run called no tools: there is nothing to undo\n';
  const lines = steps.map(({ call, tool, state, why, inverse }) => {
    const sent = inverse === undefined ? '' : ` ${JSON.stringify(inverse.arguments)}`;
    const sign = state === 'ready' && skipped.has(call) ? 'skip' : SIGNS[state];
    return `${sign.padEnd(6)}  ${callName(call)}  ${plainLine(tool)}: ${plainLine(`${why}${sent}`)}`;
  });
  return `${lines.join('\n')}\n`;
}

function doneLine({ step, outcome, message }: UndoneStep): string {
  return `${outcome}: ${callName(step.call)} ${plainLine(step.tool)}${message === undefined ? '' : `: ${plainLine(message)}`}\n`;
}

/** What is left after a call that stopped the undoing. One whose outcome is unknown is not tried again. */
function restText(
  runId: string,
  ready: readonly UndoStep[],
  done: readonly UndoneStep[],
  skipped: ReadonlySet<number>,
): string {
  const settled = done.filter(({ outcome }) => outcome === 'undone' || outcome === 'unknown').length;
  const left = ready.slice(settled).map(({ call }) => callName(call));
  if (left.length === 0) return '';
  const command = `codemode runs undo ${runId}`;
  const last = done.at(-1);
  // A call that fails each time, because somebody else has undone it, must not stand in the way of all before it.
  const without =
    last?.outcome === 'failed' && left.length > 1
      ? `, or without call ${left[0]}: ${command} --skip ${[...skipped, last.step.call].map(callName).join(',')}`
      : '';
  return `not undone: ${left.join(', ')}. To continue: ${command}${without}\n`;
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
