import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Limits, LimitTable } from '../../domain/limits.js';
import { nearest } from '../../lib/text/nearest.js';
import { misnamedCode } from '../misnamed-code.js';

/** A complete request to execute code. `capabilities` is parsed later, when the token's bounds are known. */
export interface ExecuteRequest {
  readonly code: string;
  readonly isTypeScript: boolean;
  readonly limits: Limits;
  readonly capabilities: unknown;
  readonly context: JsonObject;
}

/** Parses a request. Throws `bad_input` with the field and what is wrong with it. */
export function parseExecuteRequest(input: unknown, { defaults, maximum }: LimitTable): ExecuteRequest {
  const parsed = requestSchema.safeParse(input);
  if (!parsed.success) throw new HostError('bad_input', misnamedCode(input, REQUEST_FIELDS) ?? problemOf(parsed.error));
  const { code, typescript = true, timeout, memoryLimit, capabilities, context = {} } = parsed.data;
  const limits = {
    ...defaults,
    timeoutMs: within('timeout', timeout ?? Math.min(defaults.timeoutMs, maximum.timeoutMs), maximum.timeoutMs),
    maxMemoryBytes: within(
      'memoryLimit',
      memoryLimit ?? Math.min(defaults.maxMemoryBytes, maximum.maxMemoryBytes),
      maximum.maxMemoryBytes,
    ),
  };
  return { code, isTypeScript: typescript, limits, capabilities, context: context as JsonObject };
}

const MAX_CAPABILITIES = 1_000;
const MAX_REQUEST_ID_CHARACTERS = 256;
const A_TIME = 'must be a whole number of milliseconds, 1 or more';
const A_SIZE = 'must be a whole number of bytes, 1 or more';
const CAPABILITIES = 'must be an array of strings such as "mcp:helpscout", or a capability set';

/** A misspelt option that is silently ignored is a missing limit: unknown names are refused. */
const requestSchema = z.strictObject(
  {
    code: z
      .string({
        error: ({ input }) =>
          input === undefined ? 'is missing; give the body of a function' : 'must be a string of code',
      })
      .refine((code) => code.trim() !== '', 'is empty; give the body of a function'),
    typescript: z.boolean('must be true or false').optional(),
    timeout: z.number(A_TIME).int(A_TIME).min(1, A_TIME).optional(),
    memoryLimit: z.number(A_SIZE).int(A_SIZE).min(1, A_SIZE).optional(),
    capabilities: z
      .union([z.array(z.string()).max(MAX_CAPABILITIES), z.record(z.string(), z.unknown())], CAPABILITIES)
      .optional(),
    context: z.record(z.string(), z.unknown(), 'must be an object').optional(),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
);

export const REQUEST_FIELDS = Object.keys(requestSchema.shape);

function within(field: string, value: number, most: number): number {
  if (value <= most) return value;
  throw new HostError('bad_input', `${field}: must be at most ${most} here`);
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const [close] = nearest(key, REQUEST_FIELDS, 1);
    const advice = close === undefined ? `use ${REQUEST_FIELDS.join(', ')}` : `did you mean ${close}?`;
    return `${key.slice(0, 100)}: is not known; ${advice}`;
  }
  const path = issue?.path.map(String) ?? [];
  return `${path.length === 0 ? 'the request' : path.join('.')}: ${issue?.message ?? 'is not valid'}`;
}

/** The id of the response: the request's own if it has a usable one. */
export function requestIdOf(input: unknown): string | undefined {
  const { context } = (typeof input === 'object' && input !== null ? input : {}) as {
    context?: { requestId?: unknown };
  };
  const id = typeof context === 'object' && context !== null ? context.requestId : undefined;
  return typeof id === 'string' && id !== '' && id.length <= MAX_REQUEST_ID_CHARACTERS ? id : undefined;
}
