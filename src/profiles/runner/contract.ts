import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import type { ProcessLimits } from '../../domain/process-program.js';
import type { RunnerSettings } from './settings.js';

/** What an agent sends to `run_node` and `run_python`, complete. */
export interface RunnerRequest {
  readonly code: string;
  readonly limits: ProcessLimits;
}

const A_NUMBER = 'must be a whole number, 1 or more';
const amount = z.number(A_NUMBER).int(A_NUMBER).min(1, A_NUMBER).optional();

/** A misspelt limit that nobody obeys is a limit that is not there: unknown names are refused. */
const requestSchema = z.strictObject({
  code: z
    .string('must be a string: the source of a program')
    .refine((code) => code.trim() !== '', 'is empty; give the source of a program'),
  timeout_ms: amount,
  memory_bytes: amount,
});

/** Reads a request. Throws `bad_input` with the field and what is wrong with it. */
export function parseRunnerRequest(input: unknown, settings: RunnerSettings): RunnerRequest {
  const parsed = requestSchema.safeParse(input);
  if (!parsed.success) throw new HostError('bad_input', problemOf(parsed.error));
  const { code, timeout_ms: timeoutMs, memory_bytes: maxMemoryBytes } = parsed.data;
  return { code, limits: limitsWith({ timeoutMs, maxMemoryBytes }, settings, ['timeout_ms', 'memory_bytes']) };
}

/** That a program may keep busy for all its time, where the configuration does not say. */
const PROCESSORS = 2;

/** The limits of the configuration with what was asked for. `names`: what the two are called where they were asked for. */
export function limitsWith(
  asked: { readonly timeoutMs: number | undefined; readonly maxMemoryBytes: number | undefined },
  { limits, most }: RunnerSettings,
  [timeoutName, memoryName]: readonly [string, string],
): ProcessLimits {
  const { timeoutMs = limits.timeoutMs, maxMemoryBytes = limits.maxMemoryBytes } = asked;
  if (timeoutMs > most.timeoutMs) throw beyond(timeoutName, most.timeoutMs);
  if (maxMemoryBytes > most.maxMemoryBytes) throw beyond(memoryName, most.maxMemoryBytes);
  return { ...limits, timeoutMs, maxMemoryBytes, maxCpuMs: limits.maxCpuMs ?? PROCESSORS * timeoutMs };
}

function beyond(name: string, most: number): HostError {
  return new HostError('bad_input', `${name}: the most is ${most} here, as configured`);
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  if (issue?.code === 'unrecognized_keys')
    return `${(issue.keys[0] ?? '').slice(0, 100)}: is not known; use code, timeout_ms, memory_bytes`;
  const path = issue?.path.map(String).join('.') ?? '';
  return `${path === '' ? 'the request' : path}: ${issue?.message ?? 'is not valid'}`;
}
