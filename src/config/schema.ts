import * as z from 'zod';
import { ISOLATION_LEVELS } from '../domain/isolation.js';
import { KEYRING_CHOICES } from '../domain/key.js';
import { DEFAULT_LIMITS, type Limits, MAXIMUM_LIMITS } from '../domain/limits.js';
import { LOG_LEVELS } from '../domain/log.js';
import { AGENT_SCOPES, SCOPES } from '../domain/principal.js';
import { DEFAULT_PROCESS_LIMITS } from '../domain/process-program.js';
import { PROFILE_NAMES } from '../domain/profile-name.js';
import { DEFAULT_QUOTAS } from '../domain/quotas.js';
import { limitsSchema, policySchema } from './policy-schema.js';
import { serverMapSchema } from './server-schema.js';
import { telemetrySchema } from './telemetry-schema.js';
import { duration, flag, integer, size } from './units.js';

/** Loopback: reaching the program from elsewhere is a decision that someone writes down. */
const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PORT = 3000;
const MAX_WORKERS = 50;
const DEFAULT_MIN_WORKERS = 2;

const codeMode = z.strictObject({
  enabled: flag().default(true),
  excludedTools: z.array(z.string()).default([]),
});

/** Without a default here: what a model does not say, it has from `defaults`. */
const codeModeOfModel = z.strictObject({
  enabled: flag().optional(),
  excludedTools: z.array(z.string()).optional(),
});

const maximumLimits = z.strictObject({
  timeout: duration({ minMs: 1 }).default(MAXIMUM_LIMITS.timeoutMs),
  memory: size({ minBytes: 1 }).default(MAXIMUM_LIMITS.maxMemoryBytes),
  logs: size().default(MAXIMUM_LIMITS.maxLogBytes),
  calls: integer(0, 1e9).default(MAXIMUM_LIMITS.maxToolCalls),
});

/** Without a default here, each profile keeps its own contract's. */
const limits = z.strictObject({
  timeout: duration({ minMs: 1 }).optional(),
  memory: size({ minBytes: 1 }).optional(),
  logs: size().optional(),
  calls: integer(0, 1e9).optional(),
  /** Share of one processor over a program's time. A program in QuickJS cannot take more than one. */
  cpuQuota: z.number().min(0.01).max(1).optional(),
  maximum: maximumLimits.prefault({}),
});

const sandbox = z.strictObject({
  runtime: z.enum(['quickjs']).default('quickjs'),
  isolation: z.enum(ISOLATION_LEVELS).optional(),
  unsafelyAllowNoJail: flag().default(false),
  workers: z
    .strictObject({
      min: integer(0, MAX_WORKERS).optional(),
      max: integer(1, MAX_WORKERS).optional(),
      idleTimeout: duration({ minMs: 100 }).default(30_000),
      /** Programs that wait for a worker before one more is refused. */
      maxQueued: integer(1, 100_000).default(1_000),
    })
    .superRefine(({ min, max }, context) => {
      if (min === undefined || max === undefined || min <= max) return;
      const message = `a number up to ${max}, which sandbox.workers.max is`;
      context.issues.push({ code: 'custom', path: ['min'], input: min, message });
    })
    // A maximum alone bounds the minimum too.
    .transform(({ min, max = Number.POSITIVE_INFINITY, ...workers }) => ({
      min: min ?? Math.min(DEFAULT_MIN_WORKERS, max),
      ...(Number.isFinite(max) ? { max } : {}),
      ...workers,
    }))
    .prefault({}),
  limits: limits.prefault({}),
  /** Contract `unified`: code that ran out of time is run once more with twice as much, unless it called what minds that. */
  retryOnTimeout: flag().default(false),
});

const server = z.strictObject({
  host: z.string().min(1).default(DEFAULT_HOST),
  port: integer(0, 65_535).default(DEFAULT_PORT),
  /** Names by which it is reached besides the address it listens on. A page on another name must not get through. */
  allowedHosts: z.array(z.string()).default([]),
  cors: z.strictObject({ enabled: flag().default(false), origins: z.array(z.string()).default([]) }).prefault({}),
  maxRequestSize: size({ minBytes: 1024 }).default(10 * 1024 * 1024),
  /** How often the peer of a WebSocket is asked whether it is still there; one that has not answered by then is gone. */
  pingInterval: duration({ minMs: 100, maxMs: 3_600_000 }).default(15_000),
  /** A run that takes longer is answered with its id and goes on. Most clients give up at 60 s, some a little earlier. */
  answerWithin: duration({ minMs: 1_000, maxMs: 3_600_000 }).default(50_000),
});

const catalog = z.strictObject({
  /** A listing of tools that is older is asked for again, in the background. */
  ttl: duration({ minMs: 1_000 }).default(600_000),
  /**
   * How long a client's first list of tools waits for servers that are starting. Without it 5 s, and 12 s where tools of
   * servers are listed themselves: clients give up after 10 to 60 s, and not all of them ask again when there are more.
   */
  firstListing: duration({ minMs: 0, maxMs: 300_000 }).optional(),
});

const prompt = z.strictObject({
  /** What the agent is told about tools before its first program may cost this much. Each profile has a default. */
  tokenBudget: integer(500, 1_000_000).optional(),
});

/** What a model reads of an answer; the record of a run has all of it. */
const response = z.strictObject({
  toolTrace: z.enum(['failures', 'all', 'none']).default('failures'),
  maxTokens: integer(1_000, 1_000_000).default(5_000),
});

/** Only the digest is written down: `printf %s TOKEN | sha256sum`. */
const listedToken = z.strictObject({
  name: z.string().min(1).max(128),
  sha256: z.string().regex(/^[\da-f]{64}$/i, { error: 'the SHA-256 of the token, 64 hexadecimal digits' }),
  scopes: z
    .array(z.enum(SCOPES))
    .default([...AGENT_SCOPES])
    .refine((scopes) => !(scopes.includes('execute') && scopes.includes('approve')), {
      error: 'execute or approve, not both: who runs code decides about none of it',
    }),
  /** As in a request; absent: what `security.capabilities` grants. */
  capabilities: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
  /** A person sits at the clients of this token: approval forms and questions of servers go there over `/mcp`. */
  person: flag().default(false),
});

const security = z.strictObject({
  /** Where a new key of the state folder goes: `auto` is the keyring where one is unlocked, else a file. */
  keyring: z.enum(KEYRING_CHOICES).default('auto'),
  auth: z
    .strictObject({
      /** `none` only on loopback. `token`: the one that `codemode token` prints, and those listed here. */
      provider: z.enum(['token', 'oauth2', 'none']).default('token'),
      issuer: z.url({ protocol: /^https?$/ }).optional(),
      audience: z.string().min(1).optional(),
      tokens: z.array(listedToken).default([]),
    })
    .superRefine(({ provider, issuer, audience }, context) => {
      if (provider !== 'oauth2') return;
      for (const [key, value] of Object.entries({ issuer, audience }))
        if (value === undefined)
          context.issues.push({ code: 'custom', path: [key], input: undefined, message: `${key}, which oauth2 needs` });
    })
    .prefault({}),
  capabilities: z
    .strictObject({
      network: z
        .strictObject({
          maxRequestsPerSecond: integer(1, 1e6).optional(),
          maxRequestSize: size().optional(),
          allowedHosts: z.array(z.string()).default([]),
          allowedPorts: z.array(integer(1, 65_535)).optional(),
          timeoutPerRequest: duration({ minMs: 1, maxMs: 600_000 }).optional(),
        })
        .optional(),
      filesystem: z
        .strictObject({
          allowedPaths: z.array(z.string()).default([]),
          readOnly: flag().default(true),
          maxFileSize: size().optional(),
          allowedExtensions: z.array(z.string()).optional(),
        })
        .optional(),
      mcp: z
        .strictObject({
          maxCallsPerSecond: integer(1, 1e6).optional(),
          allowedServers: z.array(z.string()).optional(),
          allowedTools: z.array(z.string()).optional(),
          maxConcurrentCalls: integer(1, 1_000).optional(),
          /** For servers without a `timeout` of their own, in runs with a grant. */
          timeoutPerCall: duration({ minMs: 1, maxMs: 86_400_000 }).optional(),
        })
        .optional(),
    })
    .prefault({}),
});

const logging = z.strictObject({
  level: z.enum(LOG_LEVELS).default('info'),
  format: z.enum(['json', 'text']).default('text'),
  outputs: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('console') }),
        z.strictObject({
          type: z.literal('file'),
          path: z.string().min(1),
          /** A new file every day or hour, and one when the old has grown to `maxSize`. */
          rotation: z.enum(['hourly', 'daily']).optional(),
          maxSize: size({ minBytes: 1024 }).optional(),
          /** How many old files are kept. */
          keep: integer(0, 10_000).default(30),
        }),
      ]),
    )
    .default([{ type: 'console' }]),
});

/** What each caller may have of everything that is finite. Over it there is an error for that caller, and nothing for others. */
const quotas = z.strictObject({
  runs: integer(1, 1e6).default(DEFAULT_QUOTAS.runs),
  memory: size({ minBytes: 1024 * 1024 }).default(DEFAULT_QUOTAS.memory),
  results: size({ minBytes: 1024 * 1024 }).default(DEFAULT_QUOTAS.results),
  history: integer(1, 1e6).default(DEFAULT_QUOTAS.history),
  suspended: size({ minBytes: 1024 * 1024 }).default(DEFAULT_QUOTAS.suspended),
  approvals: integer(1, 1e6).default(DEFAULT_QUOTAS.approvals),
  sessions: integer(1, 1e6).default(DEFAULT_QUOTAS.sessions),
});

const approvals = z.strictObject({
  /** A question that nobody answered for so long is closed, and its call is refused. */
  expireAfter: duration({ minMs: 1_000 }).default(24 * 60 * 60 * 1000),
  /** How long a program that waits for a person keeps its place before it is written to disk. */
  grace: duration({ minMs: 0 }).default(1_000),
  /** Whether the user is asked through the agent's client where that can ask. */
  elicitation: flag().default(true),
});

/** A record of every call, in a chain that shows when it was changed. */
const audit = z.strictObject({
  enabled: flag().default(true),
  retention: duration({ minMs: 60_000 }).default(90 * 86_400_000),
  /** Whether a call that cannot be recorded is refused. */
  required: flag().default(true),
});

/** What is redacted in results, logs and errors, besides the credentials of the configuration itself. */
const redaction = z.strictObject({
  /** Keys and tokens whose own form makes them certain. */
  patterns: flag().default(true),
  /** Secrets by the name in front of them, such as `password=`. */
  named: flag().default(false),
  /** Payment card numbers. One in fifty random numbers of 16 digits looks like one. */
  cards: flag().default(false),
  emails: flag().default(false),
  /** Expressions in the syntax of RE2. */
  extra: z.array(z.string().min(1)).default([]),
  /** Texts that stay, whatever they look like. */
  allow: z.array(z.string().min(1)).default([]),
});

/** Settings of the `code_execution` contract. Its own file format has them at the top level. */
const codeExecution = z.strictObject({
  enabled: flag().default(true),
  timeout: duration({ minMs: 1, maxMs: 600_000 }).default(120_000),
  maxToolCalls: integer(0, 1e9).default(0),
  poolSize: integer(1, 100).default(10),
});

/** Settings of the `runner` contract: programs on real Node and real Python. */
const runner = z.strictObject({
  /** Interpreters; without them, the Node that runs codemode and the first fit Python of PATH. */
  node: z.string().min(1).optional(),
  python: z.string().min(1).optional(),
  /** How long a program waits where a person can be asked about a call. It cannot be put away meanwhile. */
  approvalWait: duration({ minMs: 0, maxMs: 3_600_000 }).default(300_000),
  /** Whether e-mail addresses, telephone and card numbers are taken out of what programs print and hand over. */
  redactPersonalData: flag().default(true),
  /** The line on standard output, and what is passed on to standard error. */
  stdout: size({ minBytes: 4096 }).default(64 * 1024),
  stderr: size().default(DEFAULT_PROCESS_LIMITS.maxStderrBytes),
  disk: size({ minBytes: 1024 * 1024 }).default(DEFAULT_PROCESS_LIMITS.maxDiskBytes),
  processes: integer(8, 4096).default(DEFAULT_PROCESS_LIMITS.maxProcesses),
  /** Processor time of all processes of a program together; without it, twice the time that it has. */
  cpu: duration({ minMs: 1 }).optional(),
});

/** Settings of the `go` contract: code that the machine's own Go compiles. */
const go = z.strictObject({
  /** The `go` command; without it, the first fit one of PATH and of the usual places. */
  path: z.string().min(1).optional(),
  /** For compiled packages and programs. Where codemode runs as root, other users must be able to read it. */
  cacheFolder: z.string().startsWith('/', { error: 'an absolute path' }).optional(),
  /** Compiled programs beyond it are thrown away, those first that nobody has run for the longest time. */
  cacheSize: size({ minBytes: 16 * 1024 * 1024 }).default(256 * 1024 * 1024),
  /** What of the standard library is compiled ahead of need, once for each Go: else its first user waits. */
  precompile: z.enum(['all', 'common']).default('all'),
  /** How long a program waits where a person can be asked about a call. It cannot be put away meanwhile. */
  approvalWait: duration({ minMs: 0, maxMs: 3_600_000 }).default(300_000),
  processes: integer(8, 4096).default(DEFAULT_PROCESS_LIMITS.maxProcesses),
});

/** The whole configuration, as it may be written. Every key that is not here is a mistake. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  profile: z.enum(PROFILE_NAMES).default('codemode'),
  toolName: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, { error: '1 to 64 letters, digits, dots, dashes or underscores' })
    .optional(),
  mcpServers: serverMapSchema.prefault({}),
  defaults: z.strictObject({ codeMode: codeMode.prefault({}) }).prefault({}),
  models: z.array(z.strictObject({ ref: z.string().min(1), codeMode: codeModeOfModel.default({}) })).default([]),
  policy: policySchema.prefault({}),
  limits: limitsSchema,
  quotas: quotas.prefault({}),
  approvals: approvals.prefault({}),
  strictOutput: flag().default(false),
  /** Whether the shapes of results (names and types, never values) are learned where tools declare none, and which servers are used. */
  learnTypes: flag().default(true),
  sandbox: sandbox.prefault({}),
  codeExecution: codeExecution.prefault({}),
  runner: runner.prefault({}),
  go: go.prefault({}),
  server: server.prefault({}),
  catalog: catalog.prefault({}),
  prompt: prompt.prefault({}),
  response: response.prefault({}),
  security: security.prefault({}),
  logging: logging.prefault({}),
  telemetry: telemetrySchema.prefault({}),
  audit: audit.prefault({}),
  redaction: redaction.prefault({}),
});

/** The configuration, checked and complete. Durations are milliseconds, sizes are bytes. */
export type Config = z.output<typeof configSchema>;

/** Limits of one execution where the configuration sets them, else the defaults of the core. */
export function configuredLimits(config: Config): Limits {
  const { timeout, memory, logs, calls, cpuQuota } = config.sandbox.limits;
  return {
    timeoutMs: timeout ?? DEFAULT_LIMITS.timeoutMs,
    maxMemoryBytes: memory ?? DEFAULT_LIMITS.maxMemoryBytes,
    maxLogBytes: logs ?? DEFAULT_LIMITS.maxLogBytes,
    maxToolCalls: calls ?? DEFAULT_LIMITS.maxToolCalls,
    ...(cpuQuota === undefined ? {} : { cpuQuota }),
  };
}
