import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { ToolChecker } from '../broker/arguments/tool-checker.js';
import { Broker, type BrokerOptions } from '../broker/broker.js';
import type { CallObserver } from '../broker/call-observer.js';
import { registerCapabilities } from '../broker/capabilities/capability-tools.js';
import { registerScriptTools } from '../broker/capabilities/script-tools.js';
import type { Hooks } from '../broker/hooks/hooks.js';
import { CallLimits } from '../broker/limits/call-limits.js';
import { Budgets } from '../broker/policy/budget.js';
import { PolicyGate } from '../broker/policy/gate.js';
import type { Policy } from '../broker/policy/policy.js';
import type { Redactor } from '../broker/redaction/redactor.js';
import type { RetryOptions } from '../broker/upstream-call.js';
import { exampleInput } from '../catalog/examples.js';
import { limitSettings, policySettings } from '../config/schema/policy-schema.js';
import type { Config } from '../config/schema/schema.js';
import type { LimitSetting } from '../domain/policy.js';
import { needsOf } from '../domain/profile-name.js';
import type { CallerQuotas } from '../domain/quotas.js';
import type { Tracer } from '../domain/trace.js';
import { configuredGrantLimits } from '../host/runs/capability-grants.js';
import type { RuntimeParts } from '../host/runtime.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { findCompiler } from '../sandbox/checker/compiler.js';
import { TypeCheckers } from '../sandbox/checker/type-checkers.js';
import type { GoRuntime } from '../sandbox/go/go-runtime.js';
import type { Jail } from '../sandbox/jail/jail.js';
import { openJail } from '../sandbox/jail/probe.js';
import type { ProcessRuntimes } from '../sandbox/processes/process-runtimes.js';
import { Sandbox } from '../sandbox/sandbox.js';
import type { PoolOptions } from '../sandbox/workers/pool.js';
import type { UpstreamRegistry } from '../upstream/registry.js';
import { workerFolder } from '../worker-folder.js';
import type { Records } from './records.js';

/** A waiting run has 2 MB resident. A worker with this many stays far below the memory limit of its jail. */
const MAX_RUNS_PER_WORKER = 512;
/** A worker is replaced after this many programs, whatever state they left it in. */
const MAX_RUNS_IN_LIFE = 10_000;

/** Assembles what runs programs: the part of `compose/compose.ts` that is loaded when something is about to run. */
export async function openRuntime(
  config: Config,
  { registry, policy, redactor, records, retryOf, whyOutdated, tracer, observer, hooks, ...machine }: RuntimeContext,
): Promise<RuntimeParts> {
  registerCapabilities(registry);
  registerScriptTools(registry, (script) => records.scripts.saveFor(script));
  const settings = policySettings(config.policy);
  const hasPrices = Object.keys(settings.prices).length > 0;
  const spending = hasPrices ? { store: await records.store.spending() } : {};
  const budgets = new Budgets({ settings, ...spending });
  const recorded = omitUndefined({ audit: records.audit });
  const sandbox = await openSandbox(config, await records.key(), records.quotas, machine);
  return {
    redactor,
    ...recorded,
    sandbox,
    ...processesOf(sandbox.jail, config, records.quotas, machine),
    ...typesOf(sandbox.jail, config, machine),
    broker: new Broker({
      ...recorded,
      redactor,
      registry,
      checker: new ToolChecker(exampleInput),
      gate: new PolicyGate(policy, budgets),
      limits: new CallLimits(limitSettings(config.limits), { rates: records.store.rates }),
      grantLimits: configuredGrantLimits(config.security.capabilities),
      isOutputStrict: config.strictOutput,
      approvals: records.approvals,
      retryOf,
      whyOutdated,
      observer,
      ...omitUndefined({ hooks, tracer }),
    }),
  };
}

/** Real interpreters and Go, for the contracts that offer them. */
function processesOf(
  jail: Jail,
  { runner, go }: Config,
  quotas: CallerQuotas,
  { searchPath, keepsProcesses, goCacheFolder }: MachineContext,
): Pick<RuntimeParts, 'processes' | 'go' | 'closeProcesses'> {
  let opening: Promise<ProcessRuntimes> | undefined;
  let openingGo: Promise<GoRuntime> | undefined;
  return {
    go: () => {
      openingGo ??= import('../sandbox/go/go-runtime.js').then(({ GoRuntime }) =>
        GoRuntime.open({
          jail,
          workerFolder: workerFolder(),
          cacheFolder: goCacheFolder,
          maxCacheBytes: go.cacheSize,
          quotas,
          configuredPath: go.path,
          searchPath,
          spares: keepsProcesses ? {} : { perShape: 0 },
        }),
      );
      return openingGo;
    },
    processes: () => {
      opening ??= import('../sandbox/processes/process-runtimes.js').then(({ ProcessRuntimes }) =>
        ProcessRuntimes.open({
          jail,
          workerFolder: workerFolder(),
          nodePath: runner.node,
          pythonPath: runner.python,
          quotas,
          searchPath,
          spares: keepsProcesses ? {} : { perShape: 0 },
        }),
      );
      return opening;
    },
    closeProcesses: async () => {
      const opened = await Promise.all([opening?.catch(() => undefined), openingGo?.catch(() => undefined)]);
      await Promise.all(opened.map((each) => each?.close()));
    },
  };
}

/** The type checker, if it is installed. Nothing is started before the first check. */
function typesOf(jail: Jail, { check }: Config, { checkerFolder }: MachineContext): Pick<RuntimeParts, 'types'> {
  if (check.types === 'off') return {};
  const from = join(workerFolder(), 'main.js');
  const compiler = findCompiler({ configured: check.compiler, installFolder: checkerFolder, from });
  return { types: new TypeCheckers({ jail, compiler }) };
}

/** Every limit on calls that the configuration sets, for messages and documentation. */
export function limitsOf({ limits, security }: Config): LimitSetting[] {
  const perSecond = security.capabilities.mcp?.maxCallsPerSecond;
  const all: LimitSetting[] =
    perSecond === undefined ? [] : [{ tools: ['*'], each: [], rate: { calls: perSecond, perMs: 1_000 } }];
  return [...all, ...limitSettings(limits)];
}

export interface RuntimeContext {
  readonly registry: UpstreamRegistry;
  readonly policy: Policy;
  readonly redactor: Redactor;
  readonly records: Records;
  /** Where to look for interpreters, in the format of PATH. */
  readonly searchPath: string;
  /** Whether interpreters are started ahead of need. */
  readonly keepsProcesses: boolean;
  /** Whether workers are started ahead of need. */
  readonly keepsWorkers: boolean;
  /** Whether all programs belong to one caller, so that no caller can take resources from another. */
  readonly hasOneCaller: boolean;
  /** Cache of compiled Go programs. */
  readonly goCacheFolder: string;
  /** Where `codemode check --install` puts the type checker. */
  readonly checkerFolder: string;
  readonly retryOf: (serverId: string) => RetryOptions;
  readonly whyOutdated: NonNullable<BrokerOptions['whyOutdated']>;
  /** Absent if none is configured. */
  readonly hooks?: Hooks | undefined;
  /** Absent if tracing is off. */
  readonly tracer?: Tracer;
  readonly observer: CallObserver;
}

type MachineContext = Pick<RuntimeContext, 'searchPath' | 'keepsProcesses' | 'goCacheFolder' | 'checkerFolder'>;

async function openSandbox(
  config: Config,
  sealKey: Uint8Array,
  quotas: CallerQuotas,
  { keepsWorkers, hasOneCaller }: Pick<RuntimeContext, 'keepsWorkers' | 'hasOneCaller'>,
): Promise<Sandbox> {
  const { isolation, unsafelyAllowNoJail, engine } = config.sandbox;
  return new Sandbox({
    jail: await openJail({ isolation, unsafelyAllowNoJail, testedFolder: dirname(workerFolder()) }),
    workerFolder: workerFolder(),
    pool: { ...poolOptions(config, hasOneCaller), quotas, ...(keepsWorkers ? {} : { min: 0 }) },
    sealKey,
    engine,
  });
}

function poolOptions(config: Config, hasOneCaller: boolean): PoolOptions {
  const { profile, sandbox, codeExecution, quotas } = config;
  const { workers } = sandbox;
  const { poolSize } = codeExecution;
  const max = workers.max ?? Math.max(workers.min, availableParallelism(), 2);
  // A script holds a process for as long as it runs, and mostly waits. The number of cores does not matter.
  const ofOneCaller = Math.max(1, Math.min(quotas.scripts, poolSize - 1));
  const scripts =
    needsOf(profile).program === 'script'
      ? {
          // One process stays free for programs that do not block: REST is served beside scripts.
          max: Math.max(max, poolSize + 1),
          maxBlocking: poolSize,
          ...(hasOneCaller ? {} : { maxBlockingPerCaller: ofOneCaller }),
        }
      : { max };
  return {
    min: workers.min,
    ...scripts,
    idleMs: workers.idleTimeout,
    maxQueued: workers.maxQueued,
    maxRunsPerWorker: MAX_RUNS_PER_WORKER,
    maxRunsInLife: MAX_RUNS_IN_LIFE,
  };
}
