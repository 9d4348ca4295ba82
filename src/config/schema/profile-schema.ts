import * as z from 'zod';
import { DEFAULT_PROCESS_LIMITS } from '../../domain/process-program.js';
import { duration, flag, flagOrAuto, integer, means, size } from './units.js';

const EXCLUDED =
  'Tools that programs cannot call; the client calls them itself. A pattern is `server/tool` or `tool`, with `*` for any characters.';

/** `codeMode: auto` is short for `codeMode: { enabled: auto }`. */
const unfolded = (input: unknown) => (input === 'auto' ? { enabled: input } : input);

export const codeModeSchema = z.preprocess(
  unfolded,
  z.strictObject({
    enabled: flagOrAuto()
      .default(true)
      .meta(
        means(
          'Whether agents get code mode. If not, the tools of all servers are listed themselves. `auto`: whichever of the two an agent has to read less for, counted once for each session.',
          'auto',
        ),
      ),
    excludedTools: z.array(z.string()).default([]).meta(means(EXCLUDED, '["files/delete_*"]')),
  }),
);

/** No defaults here: a model takes its missing settings from `defaults`. */
export const codeModeOfModelSchema = z.preprocess(
  unfolded,
  z.strictObject({
    enabled: flagOrAuto().optional().meta(means('As `defaults.codeMode.enabled`, for this model.', 'false')),
    excludedTools: z
      .array(z.string())
      .optional()
      .meta(means('As `defaults.codeMode.excludedTools`, for this model.', '["mail/*"]')),
  }),
);

/** Settings of the `code_execution` contract. Its own file format has them at the top level. */
export const codeExecutionSchema = z.strictObject({
  enabled: flag().default(true).meta(means('Whether the tool `code_execution` is offered.', 'false')),
  timeout: duration({ minMs: 1, maxMs: 600_000 }).default(120_000).meta(means('Time of a script.', '30s')),
  maxToolCalls: integer(0, 1e9).default(0).meta(means('Tool calls of a script; 0 sets no limit but its time.', '100')),
  poolSize: integer(1, 100).default(10).meta(means('Scripts that run at once; further ones wait.', '4')),
});

const APPROVAL_WAIT =
  'How long a program waits for an approval, if a person can be asked. It cannot be suspended meanwhile; after that the call is refused.';

/** Settings of the `runner` contract: programs on real Node and real Python. */
export const runnerSchema = z.strictObject({
  node: z
    .string()
    .min(1)
    .optional()
    .meta(means('The Node interpreter. Without it, the one that runs codemode.', '/usr/bin/node')),
  python: z
    .string()
    .min(1)
    .optional()
    .meta(means('The Python interpreter. Without it, the first usable one of `PATH`.', '/usr/bin/python3')),
  approvalWait: duration({ minMs: 0, maxMs: 3_600_000 }).default(300_000).meta(means(APPROVAL_WAIT, '1m')),
  redactPersonalData: flag()
    .default(true)
    .meta(
      means(
        'Whether e-mail addresses, telephone and card numbers are redacted in what programs print and return.',
        'false',
      ),
    ),
  stdout: size({ minBytes: 4096 })
    .default(64 * 1024)
    .meta(means('Size of the result line on stdout.', '256KB')),
  stderr: size().default(DEFAULT_PROCESS_LIMITS.maxStderrBytes).meta(means('Program output passed to stderr.', '1MB')),
  disk: size({ minBytes: 1024 * 1024 })
    .default(DEFAULT_PROCESS_LIMITS.maxDiskBytes)
    .meta(means('Size of the workspace in memory that a program writes its files to.', '128MB')),
  processes: integer(8, 4096)
    .default(DEFAULT_PROCESS_LIMITS.maxProcesses)
    .meta(means('Processes and threads of one program.', '32')),
  cpu: duration({ minMs: 1 })
    .optional()
    .meta(means('CPU time of all processes of a program together. Without it, twice its timeout.', '1m')),
});

/** Settings of the `go` contract: code that the machine's own Go compiles. */
export const goSchema = z.strictObject({
  path: z
    .string()
    .min(1)
    .optional()
    .meta(
      means(
        'The `go` command. Without it, the first usable one of `PATH` and of the usual places.',
        '/usr/local/go/bin/go',
      ),
    ),
  cacheFolder: z
    .string()
    .startsWith('/', { error: 'an absolute path' })
    .optional()
    .meta(
      means(
        'Folder for compiled packages and programs. Without it, `go` in the state folder, and `/var/cache/codemode/go` for root; there, other users must be able to read it.',
        '/var/cache/codemode-go',
      ),
    ),
  cacheSize: size({ minBytes: 16 * 1024 * 1024 })
    .default(256 * 1024 * 1024)
    .meta(means('Compiled programs beyond this size are deleted, the least recently used first.', '1GB')),
  precompile: z
    .enum(['all', 'common'])
    .default('all')
    .meta(means('Which packages of the standard library are compiled in advance, once per Go version.', 'common')),
  approvalWait: duration({ minMs: 0, maxMs: 3_600_000 }).default(300_000).meta(means(APPROVAL_WAIT, '1m')),
  processes: integer(8, 4096).default(DEFAULT_PROCESS_LIMITS.maxProcesses).meta(means('Threads of one program.', '32')),
});
