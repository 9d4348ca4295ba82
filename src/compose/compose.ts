import type { Redactor } from '../broker/redaction/redactor.js';
import { checkerFolder, goCacheFolder } from '../config/files/state-folder.js';
import { nothingConfigured } from '../config/nothing-configured.js';
import { codeModeOf } from '../config/schema/code-mode.js';
import { policySettings } from '../config/schema/policy-schema.js';
import { type Config, configuredLimits } from '../config/schema/schema.js';
import { readEnvironment } from '../config/variables/environment.js';
import { isLogged, type Log } from '../domain/log.js';
import { type Audience, NOBODY } from '../domain/question.js';
import { LOCAL_CALLER } from '../domain/run.js';
import { VERSION } from '../domain/version.js';
import { Host } from '../host/host.js';
import { Presence } from '../host/presence.js';
import { configuredReach } from '../host/runs/capability-grants.js';
import { KeptResults } from '../host/runs/kept-results.js';
import { programTitle } from '../host/runs/program-title.js';
import { Runtime } from '../host/runtime.js';
import { Telemetry } from '../host/telemetry.js';
import { logTelemetry } from '../host/telemetry-log.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { codeExecutionPresentation } from '../profiles/code-execution/presentation.js';
import { codemodePresentation } from '../profiles/codemode/presentation.js';
import type { Profile } from '../profiles/profile.js';
import { createProfile, executeSettings, type Machine, replayBounds } from '../profiles/registry.js';
import { runnerSettings } from '../profiles/runner/settings.js';
import { createUnifiedProfile } from '../profiles/unified/profile.js';
import type { Composed, HostSettings, ServeOptions } from '../surfaces/cli/composed.js';
import { AgentClient, ANY_CLIENT } from '../surfaces/mcp/agent-client.js';
import { FIRST_LISTING_MS } from '../surfaces/mcp/first-listing.js';
import { type McpOptions, sessionOptions } from '../surfaces/mcp/mcp-session.js';
import type { Adapter } from '../upstream/adapter.js';
import type { OpenConsole } from './console-http.js';
import { openHooks } from './hooks.js';
import { openInventory } from './inventory.js';
import { findRuntimes, machineWarnings } from './machine.js';
import { tellQuarantines } from './quarantines.js';
import { openRedactor } from './redactor.js';
import type { Servers } from './servers.js';
import { loadSettings } from './settings.js';
import { definitionsOf, recordsOf } from './state.js';
import { openTracing } from './telemetry.js';

const SURFACES = {
  stdio: () => import('../surfaces/mcp/stdio.js'),
  http: () => import('./http.js'),
} as const;

/** What an embedding program adds to the settings. */
export interface Additions {
  /** The configuration itself, instead of a file. */
  readonly config?: unknown;
  /** Functions of the embedding program, offered as servers. */
  readonly adapters?: readonly Adapter[];
}

/** Composition root: the only place that constructs the parts and connects them. */
export async function compose(
  settings: HostSettings,
  { config: inline, adapters = [] }: Additions = {},
): Promise<Composed & { readonly servers: Servers }> {
  // The MCP library is loaded only for a surface that serves it, in parallel with the settings. Other commands do not wait for it.
  const surface = settings.surface === undefined ? undefined : SURFACES[settings.surface]();
  const loaded = await loadSettings(settings, inline);
  const agentClient = new AgentClient();
  const redactor = await openRedactor(loaded);
  const definitions = definitionsOf(loaded);
  const records = recordsOf(loaded, definitions);
  const [{ servers, catalog, inventory, learned, gate }, machine] = await Promise.all([
    openInventory(loaded, { audience: audienceOf(settings, agentClient), records, redactor, adapters, definitions }),
    findRuntimes(loaded.config),
    surface,
    settings.surface === undefined ? undefined : records.scripts.openIfAny(),
  ]);
  const telemetry = new Telemetry();
  const onProblem = (message: string): void => {
    if (settings.surface === undefined) process.stderr.write(`codemode: ${message}\n`);
    else telemetry.emit({ type: 'problem', message });
  };
  const tracing = await openTracing(loaded.config, { onSpan: settings.onSpan, onProblem });
  const runtime = new Runtime(async () => {
    const { openRuntime } = await import('./runtime.js');
    const retryOf = (id: string) => servers.definitions.get(id)?.retry ?? { maxAttempts: 1, delayMs: 0 };
    return openRuntime(loaded.config, {
      registry: servers.registry,
      policy: gate.policy,
      redactor,
      records,
      searchPath: readEnvironment().PATH ?? '',
      // A one-shot command runs a single program, so nothing is kept warm for a next one.
      keepsProcesses: settings.surface !== undefined,
      keepsWorkers: settings.isOneShot !== true,
      hasOneCaller: settings.surface === 'stdio' || settings.isOneShot === true,
      ...omitUndefined({ tracer: tracing.tracer }),
      observer: telemetry,
      hooks: await openHooks(loaded, redactor, servers.registry, onProblem),
      goCacheFolder: goCacheFolder(loaded.config, readEnvironment(), process.getuid?.()),
      checkerFolder: checkerFolder(readEnvironment()),
      retryOf,
      whyOutdated: (tool) => catalog.whyOutdated(tool),
    });
  });
  const host = new Host({
    ...tracing,
    runtime,
    catalog,
    gate,
    results: new KeptResults(records.quotas, {
      results: records.store.results,
      isInProgress: async (runId, caller) => (await (await records.presence()).find(runId))?.caller === caller,
    }),
    quotas: records.quotas,
    presence: new Presence({
      store: records.presence,
      titleOf: (source) => redactor.text(programTitle(source)),
      redact: (text) => redactor.text(text),
    }),
    records,
    suspended: records.suspended,
    scripts: records.scripts,
    presentations: { codemode: codemodePresentation, code_execution: codeExecutionPresentation },
    scriptLimits: configuredLimits(loaded.config),
    telemetry,
    reach: configuredReach(loaded.config.security.capabilities),
    firstListingMs: loaded.config.catalog.firstListing ?? FIRST_LISTING_MS.describing,
    patienceMs: loaded.config.approvals.grace,
    servesApprovals: settings.surface === 'http',
    replayBounds: replayBounds(loaded.config),
    undo: { rules: policySettings(loaded.config.policy).undo ?? [], store: () => records.store.undo() },
    ...(machine.runtimes.length === 0 ? {} : { processLimits: runnerSettings(loaded.config).limits }),
    ...(machine.go === undefined ? {} : { goPackages: loaded.config.go.precompile }),
    ...omitUndefined({ observed: learned }),
    sessionOptionsOf: (caller, profile) =>
      sessionOptions(profileOfRun(loaded.config, machine, profile), codeModeOf(loaded.config, undefined), caller),
  });
  if (settings.surface !== undefined) tellQuarantines(servers.registry);
  // Over stdio the client's first requests are answered before the jail is probed. Every other command needs the probe's result now.
  if (settings.surface !== 'stdio') await host.open();
  const { config } = loaded;
  const warnings = [...loaded.warnings, ...machineWarnings(machine, config)];
  const nothing = adapters.length === 0 ? nothingConfigured(loaded) : undefined;
  const openOwnConsole: OpenConsole = async (options) => {
    const { openConsole } = await import('./console.js');
    const observed = omitUndefined({ observed: learned });
    return openConsole(
      { host, inventory, catalog, servers, records, redactor, loaded, settings, ...observed },
      options,
    );
  };
  return {
    host,
    inventory,
    config,
    warnings,
    ...omitUndefined({ nothingConfigured: nothing }),
    servers,
    serveStdio: async ({ stop, onOpen, ownCommand, ...options }) => {
      const { serveMcpStdio } = await SURFACES.stdio();
      const { maxRequestSize: maxMessageBytes } = config.server;
      const profile = createProfile(config, machine);
      await serveMcpStdio({
        ...mcpOptions(host, config, profile, options, redactor),
        ...omitUndefined({ ownCommand }),
        maxMessageBytes,
        agentClient,
        stop,
        onOpen: (isolation) => {
          onOpen(isolation);
          // The type checker is warm for the first program.
          if (profile.checkedLibrary !== undefined) void runtime.opened?.types?.warm(LOCAL_CALLER);
        },
      });
    },
    serveHttp: async (options) => {
      const { openHttp } = await SURFACES.http();
      return openHttp(mcpOptions(host, config, createProfile(config, machine), options, redactor), servers, config, {
        token: await records.store.accessToken(),
        key: await records.key(),
        store: records.store,
        openConsole: openOwnConsole,
      });
    },
    isApproverSecretMade: () => records.approverSecret.isMade(),
    serveConsole: async ({ log, port }) => {
      const { openConsoleHttp } = await import('./console-http.js');
      const clean: Log = (line, level, ids) => log(redactor.text(line), level, ids);
      return openConsoleHttp({ host, config, log: clean, port }, openOwnConsole);
    },
  };
}

/** Which clients can answer the questions of upstreams. */
function audienceOf({ surface }: HostSettings, agentClient: AgentClient): Audience {
  if (surface === undefined) return NOBODY;
  return surface === 'stdio' ? agentClient : ANY_CLIENT;
}

/** REST and the console have their own contracts, whatever profile is configured. A run is resumed under the contract it started with. */
function profileOfRun(config: Config, machine: Machine, name: string): Profile {
  const ofRest = createUnifiedProfile(executeSettings(config));
  if (name === ofRest.name) return ofRest;
  return createProfile(name === 'codemode' ? { ...config, profile: name } : config, machine);
}

function mcpOptions(
  host: Host,
  config: Config,
  profile: Profile,
  { model, log }: Omit<ServeOptions, 'stop'>,
  redactor: Redactor,
): McpOptions {
  const clean: Log = (line, level, ids) => log(redactor.text(line), level, ids);
  logTelemetry(host.telemetry, clean, isLogged('debug', config.logging.level));
  return {
    host,
    profile,
    codeMode: codeModeOf(config, model),
    exposedScripts: { names: config.scripts.expose, limits: configuredLimits(config) },
    version: VERSION,
    answerWithinMs: config.server.answerWithin,
    asksPeople: config.approvals.elicitation,
    ...omitUndefined({ firstListingMs: config.catalog.firstListing }),
    log: clean,
  };
}
