import { writeSync } from 'node:fs';
import { codeModeOf } from '../../../config/schema/code-mode.js';
import { readEnvironment, traceOfCaller } from '../../../config/variables/environment.js';
import type { Approval } from '../../../domain/approval.js';
import { HostError, isHostError } from '../../../domain/errors.js';
import { PROCESS_LANGUAGES } from '../../../domain/process-program.js';
import type { AskPerson } from '../../../host/runs/run.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { limitsWith } from '../../../profiles/runner/contract.js';
import { type Answer, Ticket } from '../../../profiles/runner/envelope.js';
import { hostError, INTERNAL } from '../../../profiles/runner/errors.js';
import { runnerPresentation } from '../../../profiles/runner/presentation.js';
import { type RunnerAnswer, runProgram } from '../../../profiles/runner/run-program.js';
import { runnerSettings } from '../../../profiles/runner/settings.js';
import { COMMAND_LINE_CALLER } from '../caller.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import type { EarlySignals } from '../early-signals.js';
import { type Asked, argumentsOf, BadArguments, type RunnerFlags, readProgram } from '../runs/runner-request.js';
import { askerOnTerminal } from '../terminal/ask-on-terminal.js';
import { withProgress } from '../terminal/progress.js';
import { plain, plainLine } from '../terminal/terminal.js';

export const register: Register = (program, context) => {
  program
    .command('runner')
    .description('run one program from stdin on real Node or Python; prints one line of JSON')
    .argument('[language]', `the interpreter: ${PROCESS_LANGUAGES.join(' or ')}`)
    .option('--timeout [ms]', 'stop it after this many milliseconds')
    .option('--memory [size]', 'the most memory it may use, such as 256MB')
    // Wrong arguments are reported on the one line of output, like everything else.
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', HELP)
    .action(async (_: string | undefined, flags: RunnerFlags, command: { readonly args: readonly string[] }) => {
      context.exitWith(await runner(command.args, flags, context));
    });
};

const HELP = `
stdout is always exactly one line: { "run_id", "trace_id", "tool_name", "tool_version", "input_digest",
"output_digest", "sandbox_image", "duration_ms", "approval_state", "result" }, where "result" is { "ok": true, "data",
"metrics" } or { "ok": false, "error": { "type", "message", "retryable" }, "metrics" }. Everything else,
including what the program prints, goes to stderr.

Exit status: 0 "ok" is true; 1 it is false: the program failed, was stopped by a signal, or could not be run ("error.type" says
which); 2 bad arguments. The line is there in each case.

Examples:
  echo 'globalThis.result = [1, 2, 3].map((n) => n * n)' | codemode runner node
  echo 'result = sum(range(10))' | codemode runner python --timeout 5000 --memory 128MB
`;

/** If the host does not stop within this time after a signal, the line says so. */
const STOP_GRACE_MS = 3_000;
/** The line is already written, so servers that do not close are not waited for any longer. */
const CLOSE_GRACE_MS = 5_000;
async function runner(words: readonly string[], flags: RunnerFlags, context: CommandContext): Promise<number> {
  const language = PROCESS_LANGUAGES.find((each) => each === words[0]);
  const trace = traceOfCaller(readEnvironment());
  const line = new OneLine(new Ticket(language, trace?.traceId));
  const stop = stopping(context.early);
  try {
    const asked = argumentsOf(words, language, flags);
    const answered = run(line.ticket, asked, stop, context);
    const answer = await Promise.race([answered, stop.overdue]);
    // Notes first: the program's output ends with a mark if it was cut.
    for (const note of answer.notes) process.stderr.write(`codemode: ${plain(note)}\n`);
    if (answer.printed !== '') process.stderr.write(process.stderr.isTTY ? plain(answer.printed) : answer.printed);
    await line.write(answer);
    const status = answer.envelope.result.ok ? EXIT.ok : EXIT.failed;
    exitAfter(CLOSE_GRACE_MS, status);
    await answer.close();
    return status;
  } catch (error) {
    const isBadWord = error instanceof BadArguments;
    const refusal = isBadWord ? error.error : isHostError(error) ? hostError(error) : INTERNAL;
    const said = error instanceof Error ? (refusal === INTERNAL ? error.stack : error.message) : String(error);
    process.stderr.write(`codemode: ${plain(said ?? refusal.message)}\n`);
    await line.write(line.ticket.refused(refusal));
    const status = isBadWord ? EXIT.badInput : EXIT.failed;
    // Anything opened in the meantime has no owner, and ends with this process.
    exitAfter(0, status);
    return status;
  }
}

/** Reports wrong arguments before `runner`, on the one line of output. */
export function refuseWords(words: readonly string[], problem: string): void {
  const language = PROCESS_LANGUAGES.find((each) => words.includes(each));
  const { error } = new BadArguments(problem.replace(/^error: /, ''));
  process.stdout.write(`${new Ticket(language).refused(error).line}\n`);
}

function exitAfter(graceMs: number, status: number): void {
  setTimeout(() => process.exit(status), graceMs).unref();
}

async function run(
  ticket: Ticket,
  asked: Asked,
  stop: Stopping,
  context: CommandContext,
): Promise<RunnerAnswer & { close(): Promise<void> }> {
  const { language } = asked;
  const trace = traceOfCaller(readEnvironment());
  const code = await Promise.race([readProgram(ticket), stop.interrupted]);
  const settings = runnerSettings((await context.config({ profile: 'runner' })).config);
  let limits: ReturnType<typeof limitsWith>;
  try {
    limits = limitsWith(asked, settings, ['--timeout', '--memory']);
  } catch (error) {
    throw isHostError(error) ? new BadArguments(error.message) : error;
  }
  // If a signal comes before the program runs, the line reports it.
  const { host, config } = await Promise.race([context.compose({ profile: 'runner' }), stop.interrupted]);
  if (stop.signal.aborted) await stop.interrupted;
  const session = host.openSession({
    caller: COMMAND_LINE_CALLER,
    profile: 'runner',
    presentation: runnerPresentation,
    codeMode: codeModeOf(config),
    reservedNames: [],
    maxResultBytes: settings.maxLineBytes,
  });
  // stdin holds the program, so nobody can be asked here. A person who reads stderr can decide on another terminal.
  const asker = askerOnTerminal(host.approvals) ?? (process.stderr.isTTY ? tellOf : undefined);
  const answer = await withProgress('running the program', ({ hold, onStep }) => {
    const askPerson: AskPerson | undefined = asker && ((asked, over) => hold(() => asker(asked, over)));
    return runProgram(session, ticket, language, { code, limits }, settings, {
      signal: stop.signal,
      onStep,
      onNotice: (text) => void process.stderr.write(`codemode: ${plain(text)}\n`),
      ...omitUndefined({ trace, askPerson }),
    });
  });
  return { ...answer, close: () => host.close() };
}

/** The only writer of stdout: exactly one line, even if the process ends unexpectedly. */
class OneLine {
  readonly ticket: Ticket;
  #isWritten = false;

  constructor(ticket: Ticket) {
    this.ticket = ticket;
    process.on('exit', () => {
      if (this.#isWritten) return;
      try {
        writeSync(1, `${ticket.refused(INTERNAL).line}\n`);
      } catch {
        // The reader is gone.
      }
    });
  }

  async write({ line }: Answer): Promise<void> {
    if (this.#isWritten) return;
    this.#isWritten = true;
    await new Promise<void>((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
  }
}

interface Stopping {
  /** Cancels the program. */
  readonly signal: AbortSignal;
  /** Rejects at once. */
  readonly interrupted: Promise<never>;
  /** Rejects if the run has not stopped in time. */
  readonly overdue: Promise<never>;
}

/** How signals to this process are handled. Only the first counts: sending two does not prevent the line from being written. */
function stopping(early: EarlySignals | undefined): Stopping {
  const stop = new AbortController();
  const interrupted = new Promise<never>((_, reject) => {
    const end = (name: NodeJS.Signals) => {
      stop.abort();
      reject(new HostError('cancelled', `codemode was stopped by ${name} before the program had ended`));
    };
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.on(name, end);
    early?.release();
    if (early?.caught !== undefined) end(early.caught);
  });
  const overdue = interrupted.catch(
    (error: unknown) =>
      new Promise<never>((_, reject) => void setTimeout(() => reject(error as Error), STOP_GRACE_MS).unref()),
  );
  overdue.catch(() => {});
  return { signal: stop.signal, interrupted, overdue };
}

async function tellOf(approvals: readonly Approval[]): Promise<void> {
  for (const { id, tool, reason } of approvals)
    process.stderr.write(
      `codemode: ${plainLine(`${tool.serverId}/${tool.toolName} waits for approval (${reason}); type elsewhere: codemode approvals approve ${id}`)}\n`,
    );
}
