import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import type { ProcessLimits } from '../../domain/process-program.js';
import { misnamedCode } from '../misnamed-code.js';
import type { RunnerSettings } from './settings.js';

/** A complete request to `run_node` or `run_python`. */
export interface RunnerRequest {
  readonly code: string;
  readonly limits: ProcessLimits;
}

const A_NUMBER = 'must be a whole number, 1 or more';
const amount = z.number(A_NUMBER).int(A_NUMBER).min(1, A_NUMBER).optional();

/** A misspelt limit that is silently ignored is a missing limit: unknown names are refused. */
const requestSchema = z.strictObject({
  code: z
    .string('must be a string: the source of a program')
    .refine((code) => code.trim() !== '', 'is empty; give the source of a program'),
  timeout_ms: amount,
  memory_bytes: amount,
});

const FIELDS = Object.keys(requestSchema.shape);

/** Parses a request. Throws `bad_input` with the field and what is wrong with it. */
export function parseRunnerRequest(input: unknown, settings: RunnerSettings): RunnerRequest {
  const parsed = requestSchema.safeParse(input);
  if (!parsed.success) throw new HostError('bad_input', misnamedCode(input, FIELDS) ?? problemOf(parsed.error));
  const { code, timeout_ms: timeoutMs, memory_bytes: maxMemoryBytes } = parsed.data;
  return { code, limits: limitsWith({ timeoutMs, maxMemoryBytes }, settings, ['timeout_ms', 'memory_bytes']) };
}

/** The CPUs that a program may use fully for its whole time, unless configured. */
const PROCESSORS = 2;

/** The configured limits with the requested ones applied. `names`: the request's names for the two limits. */
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
    return `${(issue.keys[0] ?? '').slice(0, 100)}: is not known; use ${FIELDS.join(', ')}`;
  const path = issue?.path.map(String).join('.') ?? '';
  return `${path === '' ? 'the request' : path}: ${issue?.message ?? 'is not valid'}`;
}
