import * as z from 'zod';
import { ENGINE_CHOICES } from '../../domain/engine.js';
import { ISOLATION_LEVELS } from '../../domain/isolation.js';
import { MAXIMUM_LIMITS } from '../../domain/limits.js';
import { duration, flag, integer, means, size } from './units.js';

const MAX_WORKERS = 50;
const DEFAULT_MIN_WORKERS = 2;

const maximumLimits = z.strictObject({
  timeout: duration({ minMs: 1 })
    .default(MAXIMUM_LIMITS.timeoutMs)
    .meta(means('Longest time that a request may ask for.', '2m')),
  memory: size({ minBytes: 1 })
    .default(MAXIMUM_LIMITS.maxMemoryBytes)
    .meta(means('Most memory that a request may ask for.', '256MB')),
  logs: size().default(MAXIMUM_LIMITS.maxLogBytes).meta(means('Most log output that a request may ask for.', '1MB')),
  calls: integer(0, 1e9)
    .default(MAXIMUM_LIMITS.maxToolCalls)
    .meta(means('Most tool calls that a request may ask for.', '5000')),
});

/** No defaults here: each profile keeps the defaults of its own contract. */
const limits = z.strictObject({
  timeout: duration({ minMs: 1 })
    .optional()
    .meta(
      means(
        'Time of a program, computing and waiting for calls. Without it the default of the profile: 30 s in most, see `codeExecution.timeout` for scripts.',
        '1m',
      ),
    ),
  memory: size({ minBytes: 1 })
    .optional()
    .meta(
      means(
        'Memory of a program. Without it the default of the profile: 64 MiB; `unified` 128 MiB; `runner` 256 MiB.',
        '128MB',
      ),
    ),
  logs: size().optional().meta(means('Log text of a program that is kept. Without it 256 KiB.', '1MB')),
  calls: integer(0, 1e9).optional().meta(means('Tool calls of one program. Without it 1,000.', '200')),
  cpuQuota: z
    .number()
    .min(0.01)
    .max(1)
    .optional()
    .meta(
      means(
        'Share of one CPU core over the time of a program in QuickJS, which cannot use more than one. Without it 1; `unified` 0.5.',
        '0.5',
      ),
    ),
  maximum: maximumLimits.prefault({}).meta(means('The most that one request may ask for.', '{ timeout: 2m }')),
});

export const sandboxSchema = z.strictObject({
  runtime: z.enum(['quickjs']).default('quickjs').meta(means('The engine for JavaScript and TypeScript.', 'quickjs')),
  engine: z
    .enum(ENGINE_CHOICES)
    .default('auto')
    .meta(
      means(
        'What computes JavaScript and TypeScript. `quickjs` starts in under a millisecond. `auto` starts there and replays a program that computes for long, or receives a result over 1 MB, in a jailed V8 process. `v8` starts in V8 where it can. Scripts of `code_execution` and programs with a `cpuQuota` below 1 stay in QuickJS, and so does everything without a jail.',
        'quickjs',
      ),
    ),
  isolation: z
    .enum(ISOLATION_LEVELS)
    .optional()
    .meta(
      means(
        'The isolation level of workers. Without it, `strict` or `namespaces`, whichever is the best that the machine supports. An unavailable level stops the program.',
        'strict',
      ),
    ),
  unsafelyAllowNoJail: flag()
    .default(false)
    .meta(means('The second key that `isolation: none` needs. Programs then run in an ordinary process.', 'true')),
  workers: z
    .strictObject({
      min: integer(0, MAX_WORKERS)
        .optional()
        .meta(means('Workers that are kept ready. Without it 2, or `max` if that is less.', '1')),
      max: integer(1, MAX_WORKERS)
        .optional()
        .meta(
          means(
            'Most workers at once; one more for a caller that has none while all of them compute for others, at most twice as many. Without it, a number derived from the cores of the machine.',
            '8',
          ),
        ),
      idleTimeout: duration({ minMs: 100 })
        .default(30_000)
        .meta(means('Idle time after which a worker beyond `min` is stopped.', '5m')),
      maxQueued: integer(1, 100_000)
        .default(1_000)
        .meta(means('Programs that may wait for a worker. One more is refused with `sandbox_busy`.', '100')),
    })
    .superRefine(({ min, max }, context) => {
      if (min === undefined || max === undefined || min <= max) return;
      const message = `a number up to ${max}, which sandbox.workers.max is`;
      context.issues.push({ code: 'custom', path: ['min'], input: min, message });
    })
    // A maximum alone also bounds the minimum.
    .transform(({ min, max = Number.POSITIVE_INFINITY, ...workers }) => ({
      min: min ?? Math.min(DEFAULT_MIN_WORKERS, max),
      ...(Number.isFinite(max) ? { max } : {}),
      ...workers,
    }))
    .prefault({})
    .meta(means('Worker processes.', '{ min: 1, max: 8 }')),
  limits: limits.prefault({}).meta(means('What one program may use.', '{ timeout: 1m, memory: 128MB }')),
  retryOnTimeout: flag()
    .default(false)
    .meta(
      means(
        'Profile `unified`: a program that timed out is run once more with twice the time, unless it called a tool that is neither read-only nor idempotent.',
        'true',
      ),
    ),
});
