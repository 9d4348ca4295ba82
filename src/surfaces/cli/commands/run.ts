import { ERRORS, HostError } from '../../../domain/errors.js';
import type { CallerId } from '../../../domain/execution.js';
import { type Limits, MAXIMUM_LIMITS } from '../../../domain/limits.js';
import { parseRunRequest } from '../../../profiles/codemode/contract.js';
import { codemodePresentation } from '../../../profiles/codemode/presentation.js';
import { renderResponse } from '../../../profiles/codemode/render.js';
import type { Composed } from '../composed.js';
import { readSource } from '../read-source.js';
import { printableJson } from '../terminal.js';

export interface RunFlags {
  readonly timeout?: string;
  readonly memory?: string;
  readonly pretty?: boolean;
}

/** `codemode run`: one program of profile codemode, its response on standard output. */
export async function run(file: string, flags: RunFlags, compose: () => Promise<Composed>): Promise<number> {
  const given = {
    ...wholeNumber('timeout', 'timeoutMs', flags.timeout),
    ...wholeNumber('memory', 'maxMemoryBytes', flags.memory),
  };
  const code = await readSource(file);
  const { limits, requestedCapabilities } = parseRunRequest({ code, limits: given });
  const interrupted = new AbortController();
  // Once each: whoever asks a second time is not made to wait.
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  const { host, config } = await compose();
  await using _ = host;
  const session = host.openSession({
    caller: 'command line' as CallerId,
    presentation: codemodePresentation,
    codeMode: config.defaults.codeMode,
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
