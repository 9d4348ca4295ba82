import type { CallerId } from '../../../domain/execution.js';
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
  const code = await readSource(file);
  const { limits, requestedCapabilities } = parseRunRequest({
    code,
    limits: {
      ...(flags.timeout === undefined ? {} : { timeoutMs: Number(flags.timeout) }),
      ...(flags.memory === undefined ? {} : { maxMemoryBytes: Number(flags.memory) }),
    },
  });
  const interrupted = new AbortController();
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
  if (interrupted.signal.aborted) return 130;
  return answer.summary.outcome.status === 'completed' ? 0 : 1;
}
