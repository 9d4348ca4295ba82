import type { CallerId } from '../../../domain/execution.js';
import type { Host } from '../../../host/host.js';
import { parseRunRequest } from '../../../profiles/codemode/contract.js';
import { renderResponse } from '../../../profiles/codemode/render.js';
import { readSource } from '../read-source.js';
import { printableJson } from '../terminal.js';

export interface RunFlags {
  readonly timeout?: string;
  readonly memory?: string;
  readonly pretty?: boolean;
}

/** `codemode run`: one program of profile codemode, its response on standard output. */
export async function run(file: string, flags: RunFlags, compose: () => Promise<Host>): Promise<number> {
  const code = await readSource(file);
  const limits = {
    ...(flags.timeout === undefined ? {} : { timeoutMs: Number(flags.timeout) }),
    ...(flags.memory === undefined ? {} : { maxMemoryBytes: Number(flags.memory) }),
  };
  const request = parseRunRequest({ code, limits });
  await using host = await compose();
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  process.once('SIGTERM', () => interrupted.abort());
  const program = { source: request.code, language: 'typescript', modules: [], limits: request.limits } as const;
  const summary = await host.run({ caller: 'command line' as CallerId, program, signal: interrupted.signal });
  process.stdout.write(
    `${printableJson(renderResponse(summary, request.limits, host.isolation), flags.pretty === true)}\n`,
  );
  if (interrupted.signal.aborted) return 130;
  return summary.outcome.status === 'completed' ? 0 : 1;
}
