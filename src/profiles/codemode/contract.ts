import * as z from 'zod';
import { HostError } from '../../domain/errors.js';
import { CORE_LIMITS, DEFAULT_LIMITS, eachLimit, type Limits, type LimitTable } from '../../domain/limits.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { misnamedCode } from '../misnamed-code.js';
import { TOOL_TRACE_SETTINGS, type ToolTraceSetting } from './model-answer.js';

/** A request to run a program. */
export interface CodemodeRequest {
  readonly code: string;
  readonly limits: Limits;
  readonly requestedCapabilities: readonly string[];
  /** Which calls the answer lists, if it differs from the configuration. */
  readonly toolTrace?: ToolTraceSetting;
}

/** Parses a request. Throws `bad_input` with the field and what is wrong with it. */
export function parseRunRequest(input: unknown, defaults: Limits = DEFAULT_LIMITS): CodemodeRequest {
  return runRequestParser({ ...CORE_LIMITS, defaults })(input);
}

/** The same for requests with other limits. */
export function runRequestParser({ defaults, maximum }: LimitTable): (input: unknown) => CodemodeRequest {
  const schema = requestSchema(maximum);
  return (input) => {
    const parsed = schema.safeParse(input);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      const misnamed = misnamedCode(input, Object.keys(schema.shape));
      if (misnamed !== undefined) throw new HostError('bad_input', misnamed);
      const field = issue === undefined || issue.path.length === 0 ? 'the request' : issue.path.join('.');
      throw new HostError('bad_input', `${field}: ${issue?.message ?? 'is not valid'}`);
    }
    const { code, limits, requestedCapabilities, response } = parsed.data;
    const given = Object.fromEntries(Object.entries(limits ?? {}).filter(([, value]) => value !== undefined));
    return {
      code,
      limits: { ...defaults, ...given },
      requestedCapabilities: requestedCapabilities ?? [],
      ...omitUndefined({ toolTrace: response?.toolTrace }),
    };
  };
}

/** Unknown limit keys and unknown request fields are ignored, as the contract says. */
function requestSchema(maximum: Limits) {
  const limit = (most: number, least: number) =>
    z
      .number('must be a number')
      .int('must be a whole number')
      .min(least, least === 0 ? 'must not be negative' : `must be at least ${least}`)
      .max(most, `must be at most ${most}`)
      .optional();
  return z.object(
    {
      code: z.string('must be a string of JavaScript or TypeScript'),
      limits: z
        .object(
          eachLimit(({ least }, name) => limit(maximum[name], least)),
          'must be an object',
        )
        .optional(),
      requestedCapabilities: z
        .array(z.string('must be the name of a server'), 'must be an array of server names')
        .max(MAX_REQUESTED, `must have at most ${MAX_REQUESTED} names`)
        .optional(),
      response: z
        .object(
          {
            toolTrace: z.enum(TOOL_TRACE_SETTINGS, `must be one of: ${TOOL_TRACE_SETTINGS.join(', ')}`).optional(),
          },
          'must be an object',
        )
        .optional(),
    },
    'must be an object',
  );
}

const MAX_REQUESTED = 1_000;
