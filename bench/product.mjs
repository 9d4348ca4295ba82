// @ts-check
// The product as the bench uses it: the same sources that are in dist, bundled with the names that are not public, and
// the worker that is in dist.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { CACHE, ROOT } from '../scripts/repository.mjs';

const BUNDLE = join(CACHE, 'bench', 'product.mjs');

/** What the bench needs, and where it is. */
const NAMES = {
  Sandbox: 'src/sandbox/sandbox.ts',
  openJail: 'src/sandbox/jail/probe.ts',
  launch: 'src/sandbox/jail/launch.ts',
  ProcessRuntimes: 'src/sandbox/processes/process-runtimes.ts',
  GoRuntime: 'src/sandbox/go/go-runtime.ts',
  declareGo: 'src/catalog/declarations/go/go.ts',
  goFile: 'src/catalog/declarations/go/go.ts',
  DEFAULT_LIMITS: 'src/domain/limits.ts',
  DEFAULT_PROCESS_LIMITS: 'src/domain/process-program.ts',
  declareModule: 'src/catalog/declarations/typescript/typescript.ts',
  TypeCheckers: 'src/sandbox/checker/type-checkers.ts',
  findCompiler: 'src/sandbox/checker/compiler.ts',
  checkProgram: 'src/host/check/program-check.ts',
  LIBRARY_DECLARATIONS: 'src/profiles/codemode/prompt/library-declarations.ts',
  createSearchIndex: 'src/catalog/search.ts',
  toolDefinition: 'src/host/tools/tool-definition.ts',
  briefCatalog: 'src/catalog/briefing/briefing.ts',
  serverInstructions: 'src/profiles/codemode/prompt/server-instructions.ts',
  toolDescription: 'src/profiles/codemode/prompt/tool-description.ts',
  toolInputSchema: 'src/profiles/codemode/prompt/tool-schemas.ts',
  toolOutputSchema: 'src/profiles/codemode/prompt/tool-schemas.ts',
  snapshotOf: 'test/support/catalog.ts',
  Broker: 'src/broker/broker.ts',
  ToolChecker: 'src/broker/arguments/tool-checker.ts',
  CallLimits: 'src/broker/limits/call-limits.ts',
  Budgets: 'src/broker/policy/budget.ts',
  PolicyGate: 'src/broker/policy/gate.ts',
  Policy: 'src/broker/policy/policy.ts',
  Redactor: 'src/broker/redaction/redactor.ts',
  AuditTrail: 'src/broker/audit/audit-trail.ts',
  SqliteAuditStore: 'src/store/sqlite/audit/audit.ts',
  Database: 'src/store/sqlite/database.ts',
  openRunContext: 'src/broker/run-context.ts',
  exampleInput: 'src/catalog/examples.ts',
  policySettings: 'src/config/schema/policy-schema.ts',
  configSchema: 'src/config/schema/schema.ts',
  ToolCalls: 'src/host/calls/tool-calls.ts',
  ScriptCalls: 'src/host/scripts/script-calls.ts',
  envelopeOf: 'src/profiles/code-execution/envelope.ts',
};

export async function bundleProduct() {
  mkdirSync(join(CACHE, 'bench'), { recursive: true });
  await build({
    stdin: {
      contents: Object.entries(NAMES)
        .map(([name, file]) => `export { ${name} } from './${file}';`)
        .join('\n'),
      resolveDir: ROOT,
    },
    absWorkingDir: ROOT,
    outfile: BUNDLE,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
  });
}

/** The bundle that `bundleProduct` has made; a group's process asks for it. */
export function loadProduct() {
  return import(pathToFileURL(BUNDLE).href);
}

/** The strict jail if it is available, otherwise the best available one. */
export async function openBestJail() {
  const { openJail } = await loadProduct();
  return openJail();
}

/**
 * A sandbox in that jail, with the pool that the product has on a machine of two cores unless told otherwise.
 *
 * @param {object} [pool] changes to the options of its pool
 */
export async function openSandbox(pool = {}) {
  const { Sandbox } = await loadProduct();
  const sandbox = new Sandbox({
    jail: await openBestJail(),
    workerFolder: join(ROOT, 'dist', 'worker'),
    pool: { min: 1, max: 2, idleMs: 60_000, maxQueued: 2_000, maxRunsPerWorker: 256, maxRunsInLife: 1e6, ...pool },
    sealKey: new Uint8Array(32).fill(7),
  });
  await sandbox.pool.warm();
  return sandbox;
}

/** Functions of the host that programs import from `@codemode/servers/bench`; they answer at once, or when told to. */
export async function programOf(source, { calls = ['echo'], isBlocking = false, limits = {} } = {}) {
  const { DEFAULT_LIMITS } = await loadProduct();
  const kind = isBlocking ? 'callSync' : 'call';
  return {
    source,
    language: 'typescript',
    modules: [
      { specifier: '@codemode/servers/bench', exports: calls.map((name) => ({ kind, name, target: `bench/${name}` })) },
    ],
    limits: { ...DEFAULT_LIMITS, maxToolCalls: 100_000, ...limits },
    blocking: isBlocking,
  };
}

/** Gives the arguments back as the answer, without reading them. */
export const ECHO = { onCall: async ({ argumentsJson }) => ({ ok: true, json: argumentsJson }) };

/** Runs a program to its end and gives its value. Anything but a value is the end of the measurement. */
export async function finalValue(sandbox, program, { handlers = ECHO, caller = 'bench' } = {}) {
  const { report } = await sandbox.start({ caller, program }, handlers);
  const { outcome } = await report;
  if (outcome.status !== 'completed') throw new Error(`a program failed: ${JSON.stringify(outcome.failure)}`);
  return JSON.parse(outcome.resultJson);
}

/** @param {unknown} actual @param {unknown} expected */
export function mustBe(actual, expected) {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`a run came to ${JSON.stringify(actual)}, not to ${JSON.stringify(expected)}`);
  }
}
