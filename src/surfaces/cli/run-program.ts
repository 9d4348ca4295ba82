import { codeModeOf } from '../../config/schema/code-mode.js';
import { configuredLimits } from '../../config/schema/schema.js';
import { readEnvironment, traceOfCaller } from '../../config/variables/environment.js';
import { ERRORS, HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import { type Limits, MAXIMUM_LIMITS, type RequestedLimits } from '../../domain/limits.js';
import type { SourceLanguage } from '../../domain/run.js';
import { parseRunRequest } from '../../profiles/codemode/contract.js';
import { codemodePresentation } from '../../profiles/codemode/presentation.js';
import { LIBRARY_DECLARATIONS } from '../../profiles/codemode/prompt/library-declarations.js';
import { renderLeftSuspended, renderResponse } from '../../profiles/codemode/render.js';
import { askerOnTerminal } from './ask-on-terminal.js';
import { COMMAND_LINE_CALLER } from './caller.js';
import type { Composed } from './composed.js';
import { isForPeople, type OutputFlags, writeResponse, writeSuspended } from './print-run.js';
import { withProgress } from './progress.js';

export interface ProgramToRun {
  readonly source: string;
  readonly language: SourceLanguage;
  /** Of a stored script. */
  readonly input?: JsonObject;
}

export interface RunOptions {
  readonly given: Partial<Limits>;
  readonly output: OutputFlags;
  readonly signal: AbortSignal;
}

/** Exit status of a suspended run: it has neither succeeded nor failed. */
const SUSPENDED = 3;

/** Runs one program of profile codemode and writes its response to stdout. Returns the exit status. */
export async function runProgram(
  { host, config }: Composed,
  { source, language, input }: ProgramToRun,
  { given, output, signal }: RunOptions,
): Promise<number> {
  const { limits, requestedCapabilities } = parseRunRequest({ code: source, limits: given }, configuredLimits(config));
  const session = host.openSession({
    caller: COMMAND_LINE_CALLER,
    profile: 'codemode',
    presentation: codemodePresentation,
    codeMode: codeModeOf(config),
    reservedNames: [],
    checkedLibrary: LIBRARY_DECLARATIONS,
    // stdout has no size limit.
    maxResultBytes: Number.POSITIVE_INFINITY,
  });
  const trace = traceOfCaller(readEnvironment());
  const asker = askerOnTerminal(host.approvals);
  const answer = await withProgress('running the program', ({ hold, onStep }) =>
    session.run({
      ...(trace === undefined ? {} : { trace }),
      source,
      language,
      limits,
      requestedServers: requestedCapabilities,
      signal,
      onStep,
      ...(asker === undefined ? {} : { askPerson: (asked, stop) => hold(() => asker(asked, stop)) }),
      ...(input === undefined ? {} : { input }),
    }),
  );
  if (answer.state === 'running') return 1;
  if (answer.state === 'suspended') {
    if (isForPeople(output)) writeSuspended(answer.summary);
    else writeResponse(renderLeftSuspended(answer.summary), output, { source });
    return SUSPENDED;
  }
  const { durationMs } = answer.summary;
  writeResponse(renderResponse(answer.summary), output, { source, durationMs });
  if (signal.aborted) return ERRORS.cancelled.exit;
  return answer.summary.outcome.status === 'completed' ? 0 : 1;
}

/** Aborted by the first SIGINT or SIGTERM. A second one of the same kind ends the process. */
export function interruption(): AbortSignal {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  return interrupted.signal;
}

/** A limit as it was typed: digits and nothing else, within what may be asked for. */
export function wholeNumber(flag: string, limit: keyof RequestedLimits, text: string | undefined): Partial<Limits> {
  if (text === undefined) return {};
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAXIMUM_LIMITS[limit]) return { [limit]: value };
  throw new HostError(
    'bad_input',
    `--${flag}: expected a whole number from 1 to ${MAXIMUM_LIMITS[limit]}, found ${JSON.stringify(text.slice(0, 60))}`,
  );
}
