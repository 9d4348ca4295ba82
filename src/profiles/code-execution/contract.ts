import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import type { Limits } from '../../domain/limits.js';
import type { SourceLanguage } from '../../domain/run.js';
import { nearest } from '../../lib/text/nearest.js';
import { misnamedCode } from '../misnamed-code.js';

/** The longest timeout that a request may ask for. */
export const MAX_TIMEOUT_MS = 600_000;

/** A complete request to `code_execution`. */
export interface ScriptRun {
  readonly code: string;
  readonly language: SourceLanguage;
  readonly input: JsonObject;
  readonly limits: Limits;
  readonly allowedServers: readonly string[];
}

/** Defaults for requests: configured or built in. */
export interface ScriptDefaults {
  readonly timeoutMs: number;
  /** 0: no limit. */
  readonly maxToolCalls: number;
  /** Limits that the contract does not expose. */
  readonly memory: Pick<Limits, 'maxMemoryBytes' | 'maxLogBytes' | 'cpuQuota'>;
  /** The operator's maximum for any request. */
  readonly most: Pick<Limits, 'timeoutMs' | 'maxToolCalls'>;
}

/** Parses a request. Throws `bad_input` with the field and what is wrong with it. */
export function parseScriptRun(input: unknown, defaults: ScriptDefaults): ScriptRun {
  const parsed = requestSchema.safeParse(withoutStrangers(input));
  if (!parsed.success) throw new HostError('bad_input', misnamedCode(input, KNOWN.request) ?? problemOf(parsed.error));
  const { code, language = 'javascript', input: data = {}, options = {} } = parsed.data;
  const { most } = defaults;
  // The contract allows fractions. A call count is rounded down: no request gets more than it asked for.
  const timeoutMs = Math.ceil(options.timeout_ms ?? Math.min(defaults.timeoutMs, most.timeoutMs));
  if (timeoutMs > most.timeoutMs)
    throw new HostError('bad_input', `options.timeout_ms: must be at most ${most.timeoutMs} here, as configured`);
  const maxToolCalls = options.max_tool_calls ?? defaults.maxToolCalls;
  return {
    code,
    language,
    input: data as JsonObject,
    limits: {
      ...defaults.memory,
      timeoutMs,
      maxToolCalls: maxToolCalls === 0 ? most.maxToolCalls : Math.min(Math.floor(maxToolCalls), most.maxToolCalls),
    },
    allowedServers: options.allowed_servers ?? [],
  };
}

const MAX_ALLOWED_SERVERS = 10_000;
const A_TIMEOUT = `must be a number between 1 and ${MAX_TIMEOUT_MS}`;
const A_COUNT = 'must be a number, 0 (no limit) or more';
const NAMES = 'must be an array of server names';

const optionsSchema = z.strictObject(
  {
    timeout_ms: z.number(A_TIMEOUT).min(1, A_TIMEOUT).max(MAX_TIMEOUT_MS, A_TIMEOUT).optional(),
    max_tool_calls: z.number(A_COUNT).min(0, A_COUNT).optional(),
    allowed_servers: z
      .array(z.string('must be a string: the name of a server'), NAMES)
      .max(MAX_ALLOWED_SERVERS, `must have at most ${MAX_ALLOWED_SERVERS} names`)
      .optional(),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
);

/** A misspelt option that is silently ignored is a missing limit: unknown names that resemble a known one are refused. */
const requestSchema = z.strictObject(
  {
    code: z
      .string({
        error: ({ input }) =>
          input === undefined
            ? 'is missing; give the source of a script'
            : 'must be a string of JavaScript or TypeScript',
      })
      .refine((code) => code.trim() !== '', 'is empty; give the source of a script'),
    language: z.enum(['javascript', 'typescript'], 'must be "javascript" or "typescript"').optional(),
    input: z.record(z.string(), z.unknown(), 'must be an object').optional(),
    options: optionsSchema.optional(),
  },
  { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
);

const KNOWN = { request: Object.keys(requestSchema.shape), options: Object.keys(optionsSchema.shape) };

/** The contract allows unknown fields in the request and in `options`. Unknown fields that resemble no known one are dropped. */
function withoutStrangers(input: unknown): unknown {
  const request = onlyMeant(input, [...KNOWN.request, ...KNOWN.options]);
  if (!isRecord(request) || request.options === undefined) return request;
  return { ...request, options: onlyMeant(request.options, KNOWN.options) };
}

function onlyMeant(value: unknown, known: readonly string[]): unknown {
  if (!isRecord(value)) return value;
  const isMeant = (key: string) => known.includes(key) || nearest(key, known, 1).length > 0;
  return Object.fromEntries(Object.entries(value).filter(([key]) => isMeant(key)));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problemOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.map(String) ?? [];
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const isTop = path.length === 0;
    if (isTop && KNOWN.options.includes(key)) return `${key}: belongs in options: {"options": {"${key}": ...}}`;
    const known = isTop ? KNOWN.request : KNOWN.options;
    const [close] = nearest(key, known, 1);
    const advice = close === undefined ? `use ${known.join(', ')}` : `did you mean ${close}?`;
    return `${[...path, key.slice(0, MAX_KEY_CHARACTERS)].join('.')}: is not known; ${advice}`;
  }
  return `${path.length === 0 ? 'the request' : path.join('.')}: ${issue?.message ?? 'is not valid'}`;
}

const MAX_KEY_CHARACTERS = 100;
