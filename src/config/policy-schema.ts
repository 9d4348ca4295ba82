import * as z from 'zod';
import { DECISIONS, LIMIT_SCOPES, type LimitSetting, type PolicySettings, PRESETS } from '../domain/policy.js';
import { duration, flag, integer } from './units.js';

const MAX_RULES = 10_000;
const MAX_PRICE = 1e9;
const HOUR_MS = 3_600_000;
const RATE_UNITS_MS = { s: 1_000, m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS } as const;

/** One text, or a list of them; becomes a list. */
function oneOrMany(expected: string) {
  return z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)], { error: expected })
    .transform((input) => (typeof input === 'string' ? [input] : input));
}

const TOOLS = 'a pattern such as files/write_*, or a list of them';
const primitive = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'text, a number, true, false or null',
});

const annotations = z.strictObject({
  readOnlyHint: flag().optional(),
  destructiveHint: flag().optional(),
  idempotentHint: flag().optional(),
  openWorldHint: flag().optional(),
});

const conditionMap = z
  .strictObject({
    equals: primitive.optional(),
    oneOf: z.array(primitive).min(1).optional(),
    matches: z.string().min(1).optional(),
    greaterThan: z.number().optional(),
    lessThan: z.number().optional(),
    present: flag().optional(),
  })
  .refine((condition) => Object.values(condition).some((value) => value !== undefined), {
    error: 'at least one of equals, oneOf, matches, greaterThan, lessThan, present',
  });

/** `main` is short for `{ equals: main }`, `[a, b]` for `{ oneOf: [a, b] }`: brought to the long form before it is checked. */
const condition = z.preprocess((input) => {
  if (Array.isArray(input)) return { oneOf: input };
  return typeof input === 'object' && input !== null ? input : { equals: input };
}, conditionMap);

const example = z.strictObject({
  tool: z.string().min(1),
  annotations: annotations.optional(),
  caller: z.string().optional(),
  profile: z.string().optional(),
  arguments: z.record(z.string(), z.json()).optional(),
  decision: z.enum(DECISIONS),
});

/** Rules for sessions would match nobody, and a rule that denies would be gone without a word. */
const callers = oneOrMany('a name, or a list of them').refine(
  (names) => !names.some((name) => /^session [\da-f*-]+$/i.test(name)),
  { error: 'the name of a token, such as "subject token NAME", or "subject *": a session is no caller of its own' },
);

const rule = z
  .strictObject({
    tools: oneOrMany(TOOLS).optional(),
    annotations: annotations.optional(),
    caller: callers.optional(),
    profile: oneOrMany('a profile, or a list of them').optional(),
    arguments: z.record(z.string().min(1), condition).optional(),
    decision: z.enum(DECISIONS),
    reason: z.string().min(1).max(500).optional(),
    flow: z.literal('allow').optional(),
    examples: z.array(example).default([]),
  })
  .superRefine(({ flow, decision }, context) => {
    if (flow !== undefined && decision !== 'allow')
      context.issues.push({
        code: 'custom',
        message: 'decision: allow beside flow: allow',
        path: ['flow'],
        input: flow,
      });
  });

const price = z.number().min(0).max(MAX_PRICE);

/** The list form is brought to this one before it is checked: see `shape.ts`. */
export const policySchema = z.strictObject({
  preset: z.enum(PRESETS).default('default'),
  rules: z.array(rule).max(MAX_RULES).default([]),
  prices: z.record(z.string().min(1), price).default({}),
  budget: z.strictObject({ run: price.optional(), day: price.optional() }).prefault({}),
});

const limit = z
  .strictObject({
    tools: oneOrMany(TOOLS).default(['*']),
    caller: callers.optional(),
    each: z
      .union([z.enum(LIMIT_SCOPES), z.array(z.enum(LIMIT_SCOPES))], {
        error: `one of ${LIMIT_SCOPES.join(', ')}, or a list of them`,
      })
      .transform((input) => (typeof input === 'string' ? [input] : input))
      .default([]),
    rate: rate().optional(),
    concurrency: integer(1, 10_000).optional(),
    timeout: duration({ minMs: 1, maxMs: 24 * HOUR_MS }).optional(),
  })
  .superRefine(({ rate, concurrency, timeout, tools }, context) => {
    const complain = (path: (string | number)[], message: string) =>
      context.issues.push({ code: 'custom', message, path, input: undefined });
    if (rate === undefined && concurrency === undefined && timeout === undefined)
      complain([], 'at least one of rate, concurrency, timeout');
    for (const [index, pattern] of tools.entries())
      if (!/^(\*|[^/]+\/.+)$/s.test(pattern)) complain(['tools', ...(tools.length > 1 ? [index] : [])], TOOLS);
  });

export const limitsSchema = z.array(limit).max(MAX_RULES).default([]);

/** `10/s`, `100/m`, `1000/h`, `5/d`. */
function rate() {
  const expected = 'a rate such as 10/s, 100/m or 1000/h';
  return z.string({ error: expected }).transform((input, context) => {
    const match = /^\s*(\d{1,7})\s*\/\s*([smhd])\s*$/.exec(input);
    const calls = Number(match?.[1] ?? 0);
    if (match !== null && calls > 0) return { calls, perMs: RATE_UNITS_MS[match[2] as keyof typeof RATE_UNITS_MS] };
    context.issues.push({ code: 'custom', message: expected, input });
    return z.NEVER;
  });
}

/** What the policy of the configuration is for the rest of the program. Keys that are absent stay absent. */
export function policySettings(policy: z.output<typeof policySchema>): PolicySettings {
  return withoutUndefined(policy) as PolicySettings;
}

export function limitSettings(limits: z.output<typeof limitsSchema>): LimitSetting[] {
  return limits.map(({ timeout, ...rest }) => ({
    ...(withoutUndefined(rest) as Omit<LimitSetting, 'timeoutMs'>),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  }));
}

/** The schema's optional keys may be there and undefined; the program's may not. */
function withoutUndefined(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
