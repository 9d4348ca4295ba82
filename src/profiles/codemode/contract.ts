import { z } from 'zod';
import { HostError } from '../../domain/errors.js';
import type { Limits } from '../../domain/limits.js';
import { DEFAULT_LIMITS, MAXIMUM_LIMITS } from '../../domain/limits.js';

/** What an agent sends to `codemode.run`. */
export interface RunRequest {
  readonly code: string;
  readonly limits: Limits;
  readonly requestedCapabilities: readonly string[];
}

const limit = (maximum: number) =>
  z
    .number()
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(maximum, `must be at most ${maximum}`)
    .optional();

/** Unknown limit keys are ignored, as the contract says; unknown fields of the request too. */
const requestSchema = z.object({
  code: z.string('must be a string of JavaScript or TypeScript'),
  limits: z
    .object({
      timeoutMs: limit(MAXIMUM_LIMITS.timeoutMs),
      maxMemoryBytes: limit(MAXIMUM_LIMITS.maxMemoryBytes),
      maxLogBytes: limit(MAXIMUM_LIMITS.maxLogBytes),
      maxToolCalls: z
        .number()
        .int('must be a whole number')
        .min(0, 'must not be negative')
        .max(MAXIMUM_LIMITS.maxToolCalls)
        .optional(),
    })
    .optional(),
  requestedCapabilities: z.array(z.string()).max(1_000).optional(),
});

export function parseRunRequest(input: unknown, defaults: Limits = DEFAULT_LIMITS): RunRequest {
  const parsed = requestSchema.safeParse(input);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue === undefined || issue.path.length === 0 ? 'the request' : issue.path.join('.');
    throw new HostError('bad_input', `${field}: ${issue?.message ?? 'is not valid'}`);
  }
  const { code, limits, requestedCapabilities } = parsed.data;
  const given = Object.fromEntries(Object.entries(limits ?? {}).filter(([, value]) => value !== undefined));
  return { code, limits: { ...defaults, ...given }, requestedCapabilities: requestedCapabilities ?? [] };
}
