import * as z from 'zod';
import { DEFAULT_QUOTAS } from '../../domain/quotas.js';
import { duration, flag, integer, means, size } from './units.js';

/** The quotas of each caller for every finite resource. Only a caller that exceeds its quota gets an error. */
export const quotasSchema = z.strictObject({
  runs: integer(1, 1e6)
    .default(DEFAULT_QUOTAS.runs)
    .meta(means('Runs at once: computing, waiting for tools, waiting for a worker.', '50')),
  scripts: integer(1, 1e6)
    .default(DEFAULT_QUOTAS.scripts)
    .meta(means('Scripts of `code_execution` at once. At least one place stays free for other callers.', '5')),
  memory: size({ minBytes: 1024 * 1024 })
    .default(DEFAULT_QUOTAS.memory)
    .meta(means('Host memory for open calls of running programs, and for the replies to them.', '256MB')),
  results: size({ minBytes: 1024 * 1024 })
    .default(DEFAULT_QUOTAS.results)
    .meta(means('Host memory for results kept under a handle; the oldest are dropped first.', '64MB')),
  history: integer(1, 1e6)
    .default(DEFAULT_QUOTAS.history)
    .meta(means('Ended runs that are kept; the oldest are dropped first.', '500')),
  suspended: size({ minBytes: 1024 * 1024 })
    .default(DEFAULT_QUOTAS.suspended)
    .meta(means('Disk space of suspended runs.', '128MB')),
  saved: integer(0, 500)
    .default(DEFAULT_QUOTAS.saved)
    .meta(means('Scripts that programs of a caller have saved, until somebody removes them.', '10')),
  approvals: integer(1, 1e6).default(DEFAULT_QUOTAS.approvals).meta(means('Calls that wait for an approval.', '20')),
  sessions: integer(1, 1e6)
    .default(DEFAULT_QUOTAS.sessions)
    .meta(
      means(
        'MCP sessions over HTTP, of which the longest idle one is closed first; and as many WebSocket connections.',
        '16',
      ),
    ),
});

export const approvalsSchema = z.strictObject({
  expireAfter: duration({ minMs: 1_000 })
    .default(24 * 60 * 60 * 1000)
    .meta(means('An approval that nobody decides within this time expires, and its call is refused.', '8h')),
  grace: duration({ minMs: 0 })
    .default(1_000)
    .meta(means('How long a run that waits for an approval stays in memory before it is suspended.', '30s')),
  elicitation: flag()
    .default(true)
    .meta(
      means(
        "Whether the user is asked through the agent's client, if it can show forms. If not, the terminal, the approver's secret and REST decide.",
        'false',
      ),
    ),
});

/** The audit log: a record of every call, in a hash chain that reveals changes. */
export const auditSchema = z.strictObject({
  enabled: flag().default(true).meta(means('Whether calls are recorded.', 'false')),
  retention: duration({ minMs: 60_000 })
    .default(90 * 86_400_000)
    .meta(means('Older records are removed; a sealed note says where the chain begins.', '30d')),
  required: flag().default(true).meta(means('Whether a call that cannot be recorded is refused.', 'false')),
});

/** The data that is redacted in results, logs and errors, besides the configuration's own credentials. */
export const redactionSchema = z.strictObject({
  patterns: flag()
    .default(true)
    .meta(means('Keys and tokens that their own form identifies: private keys, JWTs, vendor prefixes.', 'false')),
  named: flag().default(false).meta(means('Values that follow a name, such as `password=`.', 'true')),
  cards: flag()
    .default(false)
    .meta(means('Payment card numbers. One in fifty random numbers of 16 digits looks like one.', 'true')),
  emails: flag().default(false).meta(means('E-mail addresses.', 'true')),
  extra: z
    .array(z.string().min(1))
    .default([])
    .meta(means('Further expressions, in RE2 syntax.', String.raw`['EMP-\d{5}']`)),
  allow: z.array(z.string().min(1)).default([]).meta(means('Texts that are never redacted.', '[AKIAIOSFODNN7EXAMPLE]')),
});
