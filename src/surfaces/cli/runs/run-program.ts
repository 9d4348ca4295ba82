import { configuredLimits } from '../../../config/schema/schema.js';
import { readEnvironment, traceOfCaller } from '../../../config/variables/environment.js';
import { ERRORS, HostError } from '../../../domain/errors.js';
import type { JsonObject } from '../../../domain/json.js';
import { type Limits, MAXIMUM_LIMITS, type RequestedLimits } from '../../../domain/limits.js';
import type { SourceLanguage } from '../../../domain/run.js';
import type { StoredScript } from '../../../domain/script.js';
import type { AskPerson } from '../../../host/runs/run-client.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { parseRunRequest } from '../../../profiles/codemode/contract.js';
import { renderLeftSuspended, renderResponse } from '../../../profiles/codemode/render.js';
import { openCommandSession } from '../command-session.js';
import type { Composed } from '../composed.js';
import { askerOnTerminal } from '../terminal/ask-on-terminal.js';
import { withProgress } from '../terminal/progress.js';
import { isForPeople, type OutputFlags, writeResponse, writeSuspended } from './print-run.js';

export interface ProgramToRun {
  readonly source: string;
  /** Absent for a stored script, which has its own language. */
  readonly language?: SourceLanguage;
  /** Input of a stored script. */
  readonly input?: JsonObject;
  /** The stored script, if the program is one. */
  readonly script?: StoredScript;
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
  { source, language = 'typescript', input, script }: ProgramToRun,
  { given, output, signal }: RunOptions,
): Promise<number> {
  const { limits, requestedCapabilities } = parseRunRequest({ code: source, limits: given }, configuredLimits(config));
  const session = openCommandSession({ host, config });
  const trace = traceOfCaller(readEnvironment());
  const asker = askerOnTerminal(host.approvals);
  const answer = await withProgress('running the program', ({ hold, onStep }) => {
    const ask: AskPerson | undefined = asker && ((asked, stop) => hold(() => asker(asked, stop)));
    const request = {
      ...omitUndefined({ trace }),
      limits,
      requestedServers: requestedCapabilities,
      signal,
      onStep,
      ...omitUndefined({ askPerson: ask }),
    };
    if (script !== undefined) return session.runScript(script, input ?? {}, request);
    return session.run({ ...request, source, language });
  });
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

/** A numeric limit as typed: digits only, within the allowed range. */
export function wholeNumber(flag: string, limit: keyof RequestedLimits, text: string | undefined): Partial<Limits> {
  if (text === undefined) return {};
  const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= MAXIMUM_LIMITS[limit]) return { [limit]: value };
  throw new HostError(
    'bad_input',
    `--${flag}: expected a whole number from 1 to ${MAXIMUM_LIMITS[limit]}, found ${JSON.stringify(text.slice(0, 60))}`,
  );
}
