import * as z from 'zod';
import { eachLimit, type Limits } from '../../domain/limits.js';
import { PROFILE_NAMES } from '../../domain/profile-name.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { approvalsSchema, auditSchema, quotasSchema, redactionSchema } from './broker-schema.js';
import { checkSchema } from './check-schema.js';
import { clusterSchema, storeSchema } from './cluster-schema.js';
import { hooksSchema } from './hooks-schema.js';
import { limitsSchema, policySchema } from './policy-schema.js';
import {
  codeExecutionSchema,
  codeModeOfModelSchema,
  codeModeSchema,
  goSchema,
  runnerSchema,
} from './profile-schema.js';
import { sandboxSchema } from './sandbox-schema.js';
import { scriptsSchema } from './scripts-schema.js';
import { securitySchema } from './security-schema.js';
import { serverMapSchema } from './server-schema.js';
import { catalogSchema, listenerSchema, loggingSchema, promptSchema, responseSchema } from './serving-schema.js';
import { telemetrySchema } from './telemetry-schema.js';
import { flag, means } from './units.js';

/** The whole configuration as it may be written. Every unknown key is a mistake. */
export const configSchema = z.strictObject({
  $schema: z.string().optional().meta(means('Read by editors, ignored by codemode.', 'codemode.schema.json')),
  profile: z
    .enum(PROFILE_NAMES)
    .default('codemode')
    .meta(means('The published contract that agents get: its tool, prompt and responses.', 'unified')),
  toolName: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, { error: '1 to 64 letters, digits, dots, dashes or underscores' })
    .optional()
    .meta(means("Name of the tool that runs programs. Without it, the profile's own: `codemode_run`.", 'run_program')),
  mcpServers: serverMapSchema
    .prefault({})
    .meta(means('Servers by name, or a list whose entries have a `name`.', '{ files: { command: files-server } }')),
  defaults: z
    .strictObject({
      codeMode: codeModeSchema
        .prefault({})
        .meta(
          means(
            'What programs get, for every model. `auto` is short for `enabled: auto`.',
            '{ excludedTools: ["mail/*"] }',
          ),
        ),
    })
    .prefault({})
    .meta(means('Settings for every model.', '{ codeMode: { enabled: true } }')),
  models: z
    .array(
      z.strictObject({
        ref: z.string().min(1).meta(means('Name of the model, as in `--model`.', 'small')),
        codeMode: codeModeOfModelSchema
          .default({})
          .meta(means('What programs get, over `defaults.codeMode`.', '{ enabled: false }')),
      }),
    )
    .default([])
    .meta(means('Settings for single models.', '[{ ref: small, codeMode: { enabled: false } }]')),
  policy: policySchema
    .prefault({})
    .meta(
      means(
        'Which calls are allowed, need an approval, or are denied. A list is short for `rules`.',
        '{ preset: strict }',
      ),
    ),
  limits: limitsSchema.meta(means('Rates, concurrency and timeouts of calls.', '[{ tools: "github/*", rate: 10/s }]')),
  scripts: scriptsSchema
    .prefault({})
    .meta(means('Programs that are kept: `codemode scripts`.', '{ expose: [monthly-report] }')),
  hooks: hooksSchema.meta(
    means(
      'Your commands and addresses that are told of every call and may refuse it.',
      '[{ command: ./check-call.sh }]',
    ),
  ),
  quotas: quotasSchema.prefault({}).meta(means('What one caller may use.', '{ runs: 50 }')),
  approvals: approvalsSchema.prefault({}).meta(means('Calls that wait for a person.', '{ expireAfter: 8h }')),
  strictOutput: flag()
    .default(false)
    .meta(means("Whether a result that does not fit the tool's output schema is an error.", 'true')),
  learnTypes: flag()
    .default(true)
    .meta(
      means(
        'Whether the shapes of results (names and types, never values) are learned for tools that declare none, and which servers are used.',
        'false',
      ),
    ),
  check: checkSchema
    .prefault({})
    .meta(means('Checking the types of programs before they call a tool.', '{ types: off }')),
  sandbox: sandboxSchema
    .prefault({})
    .meta(means('Isolation, workers and limits of programs.', '{ isolation: strict }')),
  codeExecution: codeExecutionSchema.prefault({}).meta(means('Profile `code_execution`.', '{ timeout: 30s }')),
  runner: runnerSchema
    .prefault({})
    .meta(means('Profile `runner`: programs on real Node and Python.', '{ processes: 32 }')),
  go: goSchema.prefault({}).meta(means('Profile `go`.', '{ precompile: common }')),
  server: listenerSchema.prefault({}).meta(means('The HTTP listener of `codemode serve`.', '{ port: 8080 }')),
  catalog: catalogSchema.prefault({}).meta(means('Tool listings.', '{ ttl: 1h }')),
  prompt: promptSchema.prefault({}).meta(means('Instructions that an agent reads.', '{ tokenBudget: 3500 }')),
  response: responseSchema.prefault({}).meta(means('Responses that an agent reads.', '{ maxTokens: 10000 }')),
  store: storeSchema
    .optional()
    .meta(
      means(
        'A PostgreSQL database that several hosts share, instead of the state folder of one machine. All of them need the same `CODEMODE_KEY`.',
        '"postgres://codemode@db.example.com/codemode"',
      ),
    ),
  cluster: clusterSchema.prefault({}).meta(means('Hosts that share a `store`.', '{ lease: 15s }')),
  security: securitySchema.prefault({}).meta(means('Keys, tokens and capabilities.', '{ keyring: file }')),
  logging: loggingSchema.prefault({}).meta(means('Log lines.', '{ level: debug }')),
  telemetry: telemetrySchema.prefault({}).meta(means('Traces.', '{ traces: { endpoint: "http://localhost:4318" } }')),
  audit: auditSchema.prefault({}).meta(means('The audit log.', '{ retention: 30d }')),
  redaction: redactionSchema
    .prefault({})
    .meta(means('What is redacted besides configured credentials.', '{ emails: true }')),
});

/** The configuration, checked and complete. Durations are milliseconds, sizes are bytes. */
export type Config = z.output<typeof configSchema>;

/** The configured limits of one run, else the defaults of the core. */
export function configuredLimits(config: Config): Limits {
  const { cpuQuota, ...configured } = config.sandbox.limits;
  const limits = eachLimit((row) => configured[row.setting] ?? row.default);
  return { ...limits, ...omitUndefined({ cpuQuota }) };
}
