import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { codeModeOf } from '../../../config/code-mode.js';
import { size } from '../../../config/units.js';
import type { Approval } from '../../../domain/approval.js';
import { HostError, isHostError } from '../../../domain/errors.js';
import { MAX_SOURCE_BYTES } from '../../../domain/limits.js';
import { PROCESS_LANGUAGES, type ProcessLanguage } from '../../../domain/process-program.js';
import { limitsWith } from '../../../profiles/runner/contract.js';
import { type Envelope, lineOf, Ticket } from '../../../profiles/runner/envelope.js';
import { failed, hostError, INTERNAL, type RunnerError } from '../../../profiles/runner/errors.js';
import { runnerPresentation } from '../../../profiles/runner/presentation.js';
import { type RunnerAnswer, runProgram } from '../../../profiles/runner/run-program.js';
import { runnerSettings } from '../../../profiles/runner/settings.js';
import { COMMAND_LINE_CALLER } from '../caller.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import { exitWithin } from '../stop-signals.js';
import { plain } from '../terminal.js';

interface RunnerFlags {
  readonly timeout?: string | true;
  readonly memory?: string | true;
}

export const register: Register = (program, context) => {
  program
    .command('runner')
    .description('run one program on real Node or Python, its source on standard input; prints one line of JSON')
    .argument('[language]', `the interpreter: ${PROCESS_LANGUAGES.join(' or ')}`)
    .option('--timeout [ms]', 'stop it after this many milliseconds')
    .option('--memory [size]', 'the most memory it may use, such as 256MB')
    // What is wrong with the words is said on the one line, as everything is.
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', HELP)
    .action(async (_: string | undefined, flags: RunnerFlags, command: { readonly args: readonly string[] }) => {
      context.exitWith(await runner(command.args, flags, context));
    });
};

const HELP = `
Standard output is exactly one line, whatever happens: { "run_id", "trace_id", "tool_name", "tool_version", "input_digest",
"output_digest", "sandbox_image", "duration_ms", "approval_state", "result" }, where "result" is { "ok": true, "data",
"metrics" } or { "ok": false, "error": { "type", "message", "retryable" }, "metrics" }. Everything else, what the program
prints included, goes to standard error.

Exit status: 0 ok, 1 not ok, 2 bad arguments.

Examples:
  echo 'globalThis.result = [1, 2, 3].map((n) => n * n)' | codemode runner node
  echo 'result = sum(range(10))' | codemode runner python --timeout 5000 --memory 128MB
`;

/** A host that is told to stop and does not come to an end says so after this long. */
const STOP_GRACE_MS = 3_000;
/** The line is written by then; servers that do not close are not waited for. */
const CLOSE_GRACE_MS = 5_000;
/** More of it is not even read to the end. */
const MAX_STANDARD_INPUT_BYTES = 256 * 1024 * 1024;

async function runner(words: readonly string[], flags: RunnerFlags, context: CommandContext): Promise<number> {
  const language = PROCESS_LANGUAGES.find((each) => each === words[0]);
  const line = new OneLine(new Ticket(language));
  const stop = stopping();
  try {
    const asked = argumentsOf(words, language, flags);
    const answered = run(line.ticket, asked, stop.signal, context);
    const answer = await Promise.race([answered, stop.overdue]);
    if (answer.printed !== '') process.stderr.write(process.stderr.isTTY ? plain(answer.printed) : answer.printed);
    await line.write(answer.envelope);
    exitWithin(CLOSE_GRACE_MS);
    if ('close' in answer) await answer.close();
    return answer.envelope.result.ok ? EXIT.ok : EXIT.failed;
  } catch (error) {
    const isBadWord = error instanceof BadArguments;
    const refusal = isBadWord ? error.error : isHostError(error) ? hostError(error) : INTERNAL;
    const said = error instanceof Error ? (refusal === INTERNAL ? error.stack : error.message) : String(error);
    process.stderr.write(`codemode: ${plain(said ?? refusal.message)}\n`);
    await line.write(line.ticket.refused(refusal));
    return isBadWord ? EXIT.badInput : EXIT.failed;
  }
}

interface Asked {
  readonly language: ProcessLanguage;
  readonly timeoutMs: number | undefined;
  readonly maxMemoryBytes: number | undefined;
}

type Answer = Omit<RunnerAnswer, 'isRefused'>;

async function run(
  ticket: Ticket,
  asked: Asked,
  signal: AbortSignal,
  context: CommandContext,
): Promise<Answer & { close(): Promise<void> }> {
  const { language } = asked;
  const code = await readProgram(ticket);
  const settings = runnerSettings((await context.config({ profile: 'runner' })).config);
  let limits: ReturnType<typeof limitsWith>;
  try {
    limits = limitsWith(asked, settings, ['--timeout', '--memory']);
  } catch (error) {
    throw isHostError(error) ? new BadArguments(error.message) : error;
  }
  const { host, config } = await context.compose({ profile: 'runner' });
  const session = host.openSession({
    caller: COMMAND_LINE_CALLER,
    profile: 'runner',
    presentation: runnerPresentation,
    codeMode: codeModeOf(config),
    reservedNames: [],
    maxResultBytes: settings.maxLineBytes,
  });
  // Standard input is the program, so nobody can be asked here; but whoever reads this may answer elsewhere.
  const askPerson = process.stderr.isTTY
    ? { askPerson: async (approvals: readonly Approval[]) => tellOf(approvals) }
    : {};
  const answer = await runProgram(session, ticket, language, { code, limits }, settings, { signal, ...askPerson });
  return { ...answer, close: () => host.close() };
}

/** Standard output has one line, and nobody but this writes it: also when the process ends where nobody expected it. */
class OneLine {
  readonly ticket: Ticket;
  #isWritten = false;

  constructor(ticket: Ticket) {
    this.ticket = ticket;
    process.on('exit', () => {
      if (this.#isWritten) return;
      try {
        writeSync(1, `${lineOf(ticket.refused(INTERNAL))}\n`);
      } catch {
        // Nobody reads it.
      }
    });
  }

  async write(envelope: Envelope): Promise<void> {
    if (this.#isWritten) return;
    this.#isWritten = true;
    await new Promise<void>((resolve) => process.stdout.write(`${lineOf(envelope)}\n`, () => resolve()));
  }
}

/** The first signal ends the program. `overdue`: nothing came of that in time. */
function stopping(): { readonly signal: AbortSignal; readonly overdue: Promise<never> } {
  const stop = new AbortController();
  const overdue = new Promise<never>((_, reject) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(name, () => {
        if (stop.signal.aborted) return;
        stop.abort();
        const stopped = new HostError('cancelled', `codemode was stopped by ${name} before the program had ended`);
        setTimeout(() => reject(stopped), STOP_GRACE_MS).unref();
      });
  });
  overdue.catch(() => {});
  return { signal: stop.signal, overdue };
}

class BadArguments extends Error {
  readonly error: RunnerError;
  constructor(message: string) {
    super(message);
    this.error = failed('InvalidArguments', message);
  }
}

function argumentsOf(
  words: readonly string[],
  language: ProcessLanguage | undefined,
  { timeout, memory }: RunnerFlags,
): Asked {
  const [first, ...more] = words;
  if (first === undefined) throw new BadArguments(`name the interpreter: ${PROCESS_LANGUAGES.join(' or ')}`);
  if (language === undefined)
    throw new BadArguments(`there is no interpreter ${shown(first)}; use ${PROCESS_LANGUAGES.join(' or ')}`);
  if (more[0] !== undefined) throw new BadArguments(`${shown(more[0])} is not known; use --timeout and --memory`);
  return { language, timeoutMs: milliseconds(timeout), maxMemoryBytes: bytes(memory) };
}

function milliseconds(given: string | true | undefined): number | undefined {
  if (given === undefined) return undefined;
  const value = given !== true && /^\d{1,15}$/.test(given) ? Number(given) : 0;
  if (value >= 1) return value;
  throw new BadArguments(`--timeout: expected a whole number of milliseconds, found ${shown(given)}`);
}

function bytes(given: string | true | undefined): number | undefined {
  if (given === undefined) return undefined;
  const parsed = size({ minBytes: 1 }).safeParse(given);
  if (parsed.success) return parsed.data;
  throw new BadArguments(`--memory: expected a size such as 128MB, found ${shown(given)}`);
}

function shown(word: string | true): string {
  return word === true ? 'nothing' : JSON.stringify(word.slice(0, 60));
}

/** The source, exactly as it came; its digest is known even where it cannot be run. */
async function readProgram(ticket: Ticket): Promise<string> {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  let count = 0;
  if (process.stdin.isTTY) process.stderr.write('reading the program from standard input; end it with Ctrl-D\n');
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    count += chunk.length;
    hash.update(chunk);
    if (count <= MAX_SOURCE_BYTES) chunks.push(chunk);
    if (count > MAX_STANDARD_INPUT_BYTES) break;
  }
  if (count <= MAX_STANDARD_INPUT_BYTES) ticket.inputDigest = `sha256:${hash.digest('hex')}`;
  if (count > MAX_SOURCE_BYTES)
    throw new HostError(
      'bad_input',
      `standard input has more than ${MAX_SOURCE_BYTES} bytes, the most a program may have; keep data out of the source`,
    );
  const source = Buffer.concat(chunks);
  if (source.includes(0)) throw new HostError('bad_input', 'standard input has a NUL character; send source text');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(source);
  } catch {
    throw new HostError('bad_input', 'standard input is not valid UTF-8; save the program as UTF-8 and try again');
  }
  if (text.trim() === '') throw new HostError('bad_input', 'standard input is empty; send a program');
  return text;
}

function tellOf(approvals: readonly Approval[]): void {
  for (const { id, tool, reason } of approvals)
    process.stderr.write(
      plain(
        `codemode: ${tool.serverId}/${tool.toolName} waits for approval (${reason}); type elsewhere: codemode approvals approve ${id}\n`,
      ),
    );
}
