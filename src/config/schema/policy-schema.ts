import * as z from 'zod';
import { DECISIONS, LIMIT_SCOPES, type LimitSetting, type PolicySettings, PRESETS } from '../../domain/policy.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { duration, flag, integer, means } from './units.js';

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
  readOnlyHint: flag().optional().meta(means('The server claims that the tool only reads.', 'true')),
  destructiveHint: flag().optional().meta(means('The server claims that the tool is destructive.', 'true')),
  idempotentHint: flag().optional().meta(means('The server claims that a second call changes nothing more.', 'true')),
  openWorldHint: flag().optional().meta(means('The server claims that the tool reaches the outside world.', 'true')),
});

const conditionMap = z
  .strictObject({
    equals: primitive.optional().meta(means('The argument is this value. A value alone is short for it.', 'main')),
    oneOf: z
      .array(primitive)
      .min(1)
      .optional()
      .meta(means('The argument is one of these. A list alone is short for it.', '[main, release]')),
    matches: z
      .string()
      .min(1)
      .optional()
      .meta(means('The argument matches this regular expression, in RE2 syntax.', '"^/tmp/"')),
    greaterThan: z.number().optional().meta(means('The argument is a number above this one.', '100')),
    lessThan: z.number().optional().meta(means('The argument is a number below this one.', '100')),
    present: flag().optional().meta(means('Whether the argument is present.', 'false')),
  })
  .refine((condition) => Object.values(condition).some((value) => value !== undefined), {
    error: 'at least one of equals, oneOf, matches, greaterThan, lessThan, present',
  });

/** `main` is short for `{ equals: main }`, `[a, b]` for `{ oneOf: [a, b] }`: converted to the long form before it is checked. */
const condition = z.preprocess((input) => {
  if (Array.isArray(input)) return { oneOf: input };
  return typeof input === 'object' && input !== null ? input : { equals: input };
}, conditionMap);

const example = z.strictObject({
  tool: z.string().min(1).meta(means('The tool of the call, `server/tool`.', 'git/push')),
  annotations: annotations.optional().meta(means('What its server claims.', '{ destructiveHint: true }')),
  caller: z.string().optional().meta(means('Who calls.', 'subject token ci')),
  profile: z.string().optional().meta(means('The profile of the run.', 'unified')),
  arguments: z.record(z.string(), z.json()).optional().meta(means('Arguments of the call.', '{ branch: main }')),
  decision: z.enum(DECISIONS).meta(means('What must be decided; otherwise the program does not start.', 'deny')),
});

/** A rule for a session would match nobody, so a deny rule would silently have no effect. */
const callers = oneOrMany('a name, or a list of them').refine(
  (names) => !names.some((name) => /^session [\da-f*-]+$/i.test(name)),
  { error: 'the name of a token, such as "subject token NAME", or "subject *": a session is not a caller' },
);

const rule = z
  .strictObject({
    tools: oneOrMany(TOOLS)
      .optional()
      .meta(
        means('Tools that the rule covers: `server/tool` with `*`, one or a list. Without it, all.', '"files/write_*"'),
      ),
    annotations: annotations
      .optional()
      .meta(
        means(
          'What the server claims about the tool. A rule that allows believes trusted servers only.',
          '{ destructiveHint: true }',
        ),
      ),
    caller: callers
      .optional()
      .meta(
        means(
          'Callers that the rule covers, with `*`: `stdio`, `command line`, `subject token NAME`, `subject user SUB`.',
          '"subject token ci"',
        ),
      ),
    profile: oneOrMany('a profile, or a list of them')
      .optional()
      .meta(means('Profiles that the rule covers.', 'runner')),
    arguments: z
      .record(z.string().min(1), condition)
      .optional()
      .meta(
        means(
          'Conditions by place (`name`, `outer.inner`, `list.*`, or a JSON Pointer); all must hold.',
          '{ branch: [main, release] }',
        ),
      ),
    decision: z.enum(DECISIONS).meta(means('`allow`, `ask` or `deny`. The first rule that matches decides.', 'ask')),
    reason: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .meta(means('Shown with the approval or the refusal.', 'these branches take pull requests only')),
    flow: z
      .literal('allow')
      .optional()
      .meta(means('With `decision: allow`: the flow guard does not ask either.', 'allow')),
    examples: z
      .array(example)
      .default([])
      .meta(
        means(
          'Calls that are checked against the whole policy when the file is loaded.',
          '[{ tool: git/push, decision: deny }]',
        ),
      ),
  })
  .superRefine(({ flow, decision }, context) => {
    if (flow !== undefined && decision !== 'allow')
      context.issues.push({
        code: 'custom',
        message: 'decision: allow, which flow: allow needs',
        path: ['flow'],
        input: flow,
      });
  });

const undoRule = z.strictObject({
  tool: z
    .string()
    .regex(/^[^/*]+\/[^*]+$/s, { error: 'a tool such as github/create_issue, without *' })
    .meta(means('The tool whose calls are undone, `server/tool`.', 'github/create_issue')),
  with: z
    .string()
    .min(1)
    .meta(means('The tool that undoes them: of the same server, or `server/tool`.', 'close_issue')),
  arguments: z
    .record(z.string(), z.json())
    .default({})
    .meta(
      means(
        'What it is sent. `$result.PLACE` and `$arguments.PLACE` stand for a part of the answer or of the arguments of the call.',
        '{ issue: "$result.number", repo: "$arguments.repo" }',
      ),
    ),
});

const price = z.number().min(0).max(MAX_PRICE);

/** The list form is converted to this one before it is checked: see `server-map.ts`. */
export const policySchema = z.strictObject({
  preset: z
    .enum(PRESETS)
    .default('default')
    .meta(
      means(
        'What decides if no rule does. `default` asks about destructive tools, `strict` about all but read-only tools of trusted servers, `open` about none.',
        'strict',
      ),
    ),
  rules: z
    .array(rule)
    .max(MAX_RULES)
    .default([])
    .meta(means('Rules, in order.', '[{ tools: "files/*", decision: ask }]')),
  undo: z
    .array(undoRule)
    .max(MAX_RULES)
    .default([])
    .meta(
      means(
        'How `codemode runs undo` undoes calls.',
        '[{ tool: github/create_issue, with: close_issue, arguments: { issue: "$result.number" } }]',
      ),
    ),
  prices: z
    .record(z.string().min(1), price)
    .default({})
    .meta(means('Price of one call, by tool pattern; the first that matches counts.', '{ "images/*": 0.04 }')),
  budget: z
    .strictObject({
      run: price.optional().meta(means('The most that one run may spend without an approval.', '1')),
      day: price
        .optional()
        .meta(means('The most that all hosts of a state folder may spend in a day (UTC) without an approval.', '20')),
    })
    .prefault({})
    .meta(means('A call that would exceed a budget needs an approval.', '{ run: 1, day: 20 }')),
});

const limit = z
  .strictObject({
    tools: oneOrMany(TOOLS)
      .default(['*'])
      .meta(means('Tools that the limit covers: `server/tool` with `*`, one or a list.', '"github/*"')),
    caller: callers.optional().meta(means('Callers that the limit covers, as in a rule.', '"subject token ci"')),
    each: z
      .union([z.enum(LIMIT_SCOPES), z.array(z.enum(LIMIT_SCOPES))], {
        error: `one of ${LIMIT_SCOPES.join(', ')}, or a list of them`,
      })
      .transform((input) => (typeof input === 'string' ? [input] : input))
      .default([])
      .meta(
        means(
          'What is counted separately: `server`, `tool`, `caller`, or a list. Without it, all matching calls are counted together.',
          'caller',
        ),
      ),
    rate: rate().optional().meta(means('Calls over time, per second, minute, hour or day.', '10/s')),
    concurrency: integer(1, 10_000).optional().meta(means('Calls in flight.', '4')),
    timeout: duration({ minMs: 1, maxMs: 24 * HOUR_MS })
      .optional()
      .meta(means('Time for one call.', '20s')),
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
  return z
    .string({ error: expected })
    .meta({ kind: 'rate' })
    .transform((input, context) => {
      const match = /^\s*(\d{1,7})\s*\/\s*([smhd])\s*$/.exec(input);
      const calls = Number(match?.[1] ?? 0);
      if (match !== null && calls > 0) return { calls, perMs: RATE_UNITS_MS[match[2] as keyof typeof RATE_UNITS_MS] };
      context.issues.push({ code: 'custom', message: expected, input });
      return z.NEVER;
    });
}

/** The configured policy in the form that the rest of the program uses. Absent keys stay absent. */
export function policySettings(policy: z.output<typeof policySchema>): PolicySettings {
  return withoutUndefined(policy) as PolicySettings;
}

export function limitSettings(limits: z.output<typeof limitsSchema>): LimitSetting[] {
  return limits.map(({ timeout, ...rest }) => ({
    ...(withoutUndefined(rest) as Omit<LimitSetting, 'timeoutMs'>),
    ...omitUndefined({ timeoutMs: timeout }),
  }));
}

/** The schema's optional keys may be present and undefined. The program's may not. */
function withoutUndefined(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
