import { codeModeOf } from '../../../config/code-mode.js';
import { configuredLimits } from '../../../config/schema.js';
import { ERRORS, HostError } from '../../../domain/errors.js';
import { type Limits, MAXIMUM_LIMITS } from '../../../domain/limits.js';
import { parseRunRequest } from '../../../profiles/codemode/contract.js';
import { codemodePresentation } from '../../../profiles/codemode/presentation.js';
import { renderResponse, renderSleeping } from '../../../profiles/codemode/render.js';
import { COMMAND_LINE_CALLER } from '../caller.js';
import type { Register } from '../command.js';
import type { Composed } from '../composed.js';
import { readSource } from '../read-source.js';
import { printableJson } from '../terminal.js';

interface RunFlags {
  readonly timeout?: string;
  readonly memory?: string;
  readonly pretty?: boolean;
}

export const register: Register = (program, context) => {
  program
    .command('run')
    .description('run one program and print its response as JSON')
    .argument('[file]', 'JavaScript or TypeScript source; - reads standard input', '-')
    .option('--timeout <ms>', 'stop it after this many milliseconds')
    .option('--memory <bytes>', 'the most memory it may use')
    .option('--pretty', 'indent the JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: RunFlags) => {
      context.exitWith(await run(file, options, () => context.compose()));
    });
};

const HELP = `
Exit status: 0 the program came to its end, 1 it failed (see "diagnostics"), 2 bad input or configuration,
  3 it sleeps until a person has decided about a call (see "diagnostics", and codemode approvals),
  69 no jail to be had, 70 a fault of codemode's own, 75 busy, 130 interrupted.

Example:
  echo 'globalThis.__codemode_result__ = [1, 2, 3].map((n) => n * n)' | codemode run -
`;

/** Neither an end nor a failure. */
const ASLEEP = 3;

/** One program of profile codemode, its response on standard output. */
async function run(file: string, flags: RunFlags, compose: () => Promise<Composed>): Promise<number> {
  const given = {
    ...wholeNumber('timeout', 'timeoutMs', flags.timeout),
    ...wholeNumber('memory', 'maxMemoryBytes', flags.memory),
  };
  const code = await readSource(file);
  const interrupted = new AbortController();
  // Once each: whoever asks a second time is not made to wait.
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  const { host, config } = await compose();
  await using _ = host;
  const { limits, requestedCapabilities } = parseRunRequest({ code, limits: given }, configuredLimits(config));
  const session = host.openSession({
    caller: COMMAND_LINE_CALLER,
    profile: 'codemode',
    presentation: codemodePresentation,
    codeMode: codeModeOf(config),
    reservedNames: [],
    // Standard output takes everything.
    maxResultBytes: Number.POSITIVE_INFINITY,
  });
  const answer = await session.run({
    source: code,
    language: 'typescript',
    limits,
    requestedServers: requestedCapabilities,
    signal: interrupted.signal,
  });
  if (answer.state === 'running') return 1;
  if (answer.state === 'asleep') {
    process.stdout.write(`${printableJson(renderSleeping(answer.summary), flags.pretty === true)}\n`);
    return ASLEEP;
  }
  process.stdout.write(`${printableJson(renderResponse(answer.summary), flags.pretty === true)}\n`);
  if (interrupted.signal.aborted) return ERRORS.cancelled.exit;
  return answer.summary.outcome.status === 'completed' ? 0 : 1;
}

/** A limit as it was typed: digits and nothing else, within what may be asked for. */
function wholeNumber(flag: string, limit: keyof Limits, text: string | undefined): Partial<Limits> {
  if (text === undefined) return {};
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAXIMUM_LIMITS[limit]) return { [limit]: value };
  throw new HostError(
    'bad_input',
    `--${flag}: expected a whole number from 1 to ${MAXIMUM_LIMITS[limit]}, found ${JSON.stringify(text.slice(0, 60))}`,
  );
}
