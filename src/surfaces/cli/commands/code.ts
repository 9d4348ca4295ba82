import { codeModeOf } from '../../../config/schema/code-mode.js';
import { readEnvironment, traceOfCaller } from '../../../config/variables/environment.js';
import type { Approval } from '../../../domain/approval.js';
import { ERRORS, HostError } from '../../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../../domain/json.js';
import { LOG_LEVELS, type Log } from '../../../domain/log.js';
import { ifDefined, omitUndefined } from '../../../lib/omit-undefined.js';
import { MAX_TIMEOUT_MS, parseScriptRun } from '../../../profiles/code-execution/contract.js';
import { codeExecutionPresentation } from '../../../profiles/code-execution/presentation.js';
import { runScript } from '../../../profiles/code-execution/run-script.js';
import { scriptDefaults } from '../../../profiles/code-execution/settings.js';
import { COMMAND_LINE_CALLER } from '../caller.js';
import { type CommandContext, EXIT, type Register } from '../command.js';
import { openLog } from '../log.js';
import { oneOf } from '../options.js';
import { readSource, type TextKind } from '../runs/read-source.js';
import { interruption } from '../runs/run-program.js';
import { askerOnTerminal } from '../terminal/ask-on-terminal.js';
import { withProgress } from '../terminal/progress.js';
import { plainLine, printableJson } from '../terminal/terminal.js';

interface ExecFlags {
  readonly code?: string;
  readonly file?: string;
  readonly language?: string;
  readonly input?: string;
  readonly inputFile?: string;
  readonly timeout?: string;
  readonly maxToolCalls?: string;
  readonly allowedServers?: string;
  readonly logLevel?: string;
}

export const register: Register = (program, context) => {
  program
    .command('code')
    .description('run scripts of the code_execution contract')
    .command('exec')
    .description('run one script and print what it returned as JSON')
    .option('--code <source>', 'the script (or --file)')
    .option('--file <path>', 'file with the script; - reads stdin')
    .option('--language <name>', 'javascript or typescript (default: typescript for a .ts file, else javascript)')
    .option('--input <json>', 'the global `input`, a JSON object (default: {})')
    .option('--input-file <path>', 'file with the same')
    .option(
      '--timeout <ms>',
      `stop it after this many milliseconds, 1-${MAX_TIMEOUT_MS} (default: the configuration's)`,
    )
    .option('--max-tool-calls <count>', "the most tool calls, 0 for no limit (default: the configuration's)")
    .option('--allowed-servers <names>', 'the servers it may call, separated by commas (default: all)')
    .option('--log-level <level>', `lowest level that is written to stderr: ${LEVELS.join(', ')}`)
    .addHelpText('after', HELP)
    .action(async (flags: ExecFlags) => {
      context.exitWith(await exec(flags, context));
    });
};

const LEVELS = LOG_LEVELS.filter((level) => level !== 'silent');

const HELP = `
Prints { "ok": true, "value" } or { "ok": false, "error": { "code", "message", "stack" } }. What the script logs goes to
stderr. --config names the configuration file. Without it, and without a codemode file in the usual places,
~/.mcpproxy/mcp_config.json is read.

Exit status: 0 the script succeeded, 1 it failed, 2 bad input or configuration, or scripts are disabled,
  69 no jail available, 70 internal error in codemode, 75 busy, 130 interrupted.

Examples:
  codemode code exec --code '({ result: input.value * 2 })' --input '{"value": 21}'
  codemode code exec --file script.js --input-file params.json --timeout 60000 --max-tool-calls 10
`;

/** Runs one script and writes its response to stdout. */
async function exec(flags: ExecFlags, context: CommandContext): Promise<number> {
  if (flags.logLevel !== undefined) oneOf('--log-level', flags.logLevel, LEVELS);
  return runOne(context, await requestOf(flags), flags.logLevel);
}

/** Runs one request of the contract and writes its response to stdout. Returns the exit status. */
export async function runOne(context: CommandContext, request: JsonObject, logLevel?: string): Promise<number> {
  const signal = interruption();
  const own = {
    profile: 'code_execution',
    takesProxyFile: true,
    ...omitUndefined({ logLevel }),
  };
  // Before anything is started: refusing a script, or a feature that is off, needs no jail.
  const defaults = scriptDefaults((await context.config(own)).config);
  const script = parseScriptRun(request, defaults);
  const { host, config } = await context.compose(own);
  await using _ = host;
  const log = openLog(config.logging);
  const session = host.openSession({
    caller: COMMAND_LINE_CALLER,
    profile: 'code_execution',
    presentation: codeExecutionPresentation,
    codeMode: codeModeOf(config),
    reservedNames: [],
    // stdout has no size limit.
    maxResultBytes: Number.POSITIVE_INFINITY,
  });
  const trace = traceOfCaller(readEnvironment());
  const asker = askerOnTerminal(host.approvals);
  const response = await withProgress('running the script', ({ hold, onStep }) =>
    runScript(session, script, {
      signal,
      log,
      onStep,
      onNotice: (text) => log(text.replace(/^warning: /, ''), 'warn'),
      ...omitUndefined({ trace }),
      askPerson: (asked, stop) => (asker === undefined ? tellOf(asked, log) : hold(() => asker(asked, stop))),
    }),
  );
  for (const { id, state, reason } of host.health())
    if (state === 'failed')
      log(`server ${id} is not available: ${reason ?? state}; what to do about it: codemode servers`, 'warn');
  process.stdout.write(`${printableJson(response, true)}\n`);
  if (signal.aborted) return ERRORS.cancelled.exit;
  return response.ok ? EXIT.ok : EXIT.failed;
}

/** The flags as a request of the contract. Wrong values are reported by the names of their flags. */
async function requestOf(flags: ExecFlags): Promise<JsonObject> {
  const options = {
    ...wholeNumber('--timeout', 'timeout_ms', flags.timeout, 1, MAX_TIMEOUT_MS),
    ...wholeNumber('--max-tool-calls', 'max_tool_calls', flags.maxToolCalls, 0, Number.MAX_SAFE_INTEGER),
    ...omitUndefined({ allowed_servers: ifDefined(flags.allowedServers, namesIn) }),
  };
  const language = languageOf(flags);
  return { code: await codeOf(flags), language, input: await inputOf(flags), options };
}

async function codeOf({ code, file }: ExecFlags): Promise<string> {
  if (code !== undefined && file !== undefined) throw bad('give either --code or --file, not both');
  if (file !== undefined) return readSource(file);
  if (code === undefined) throw bad('no script was given; name it with --code or --file');
  if (code.trim() === '') throw bad('--code is empty; give the source of a script');
  return code;
}

function languageOf({ language, file }: ExecFlags): string {
  if (language !== undefined) return oneOf('--language', language, ['javascript', 'typescript']);
  return file !== undefined && /\.[cm]?ts$/.test(file) ? 'typescript' : 'javascript';
}

const INPUT: TextKind = { name: 'JSON object', maxBytes: 8 * 1024 * 1024, advice: 'fetch more with tools' };

async function inputOf({ input, inputFile }: ExecFlags): Promise<JsonValue> {
  if (input !== undefined && inputFile !== undefined) throw bad('give either --input or --input-file, not both');
  if (input === undefined && inputFile === undefined) return {};
  const name = inputFile ?? '--input';
  const text = input ?? (await readSource(inputFile as string, INPUT));
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    throw bad(`${name} is not JSON: ${(error as Error).message}`);
  }
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value;
  throw bad(`${name} must be a JSON object such as {"value": 21}, not ${kindOf(value)}`);
}

function wholeNumber(flag: string, key: string, text: string | undefined, least: number, most: number): JsonObject {
  if (text === undefined) return {};
  const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (value >= least && value <= most) return { [key]: value };
  const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `from ${least} to ${most}`;
  throw bad(`${flag}: expected a whole number, ${range}, found ${JSON.stringify(text.slice(0, 60))}`);
}

function namesIn(text: string): string[] {
  return text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}

function kindOf(value: JsonValue): string {
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

/** The script waits for the decision until its timeout. */
async function tellOf(approvals: readonly Approval[], log: Log): Promise<void> {
  for (const { id, tool, reason } of approvals)
    log(
      plainLine(
        `${tool.serverId}/${tool.toolName} waits for approval (${reason}); type: codemode approvals approve ${id}`,
      ),
      'warn',
    );
}

function bad(message: string): HostError {
  return new HostError('bad_input', message);
}
