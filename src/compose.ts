import type { Credentials } from './broker/credentials/credentials.js';
import { policyMistakes } from './broker/policy/mistakes.js';
import type { Redactor } from './broker/redaction/redactor.js';
import { Catalog } from './catalog/catalog.js';
import { LearnedTypes } from './catalog/observed/learned-types.js';
import { lookAround, machineWarnings } from './compose-machine.js';
import { openGate, policyOptions } from './compose-policy.js';
import { openRecords, type Records } from './compose-records.js';
import { openRedactor } from './compose-redactor.js';
import { fingerprint, Servers, settingOf, withoutSecrets } from './compose-servers.js';
import { openTracing } from './compose-telemetry.js';
import { codeModeOf } from './config/code-mode.js';
import { readEnvironment } from './config/environment.js';
import { exposureWarnings } from './config/exposure.js';
import type { FlagValue } from './config/layers.js';
import { type LoadedConfig, loadConfig } from './config/load.js';
import { nothingConfigured } from './config/nothing-configured.js';
import { ownCommand } from './config/own-command.js';
import type { Config } from './config/schema.js';
import { isValidServerName } from './config/server-schema.js';
import { sessionBus } from './config/session-bus.js';
import { goCacheFolder, stateFolder } from './config/state-folder.js';
import { LOCAL_CALLER } from './domain/execution.js';
import type { KeyringChoice } from './domain/key.js';
import { isLogged, type Log } from './domain/log.js';
import { type Audience, NOBODY } from './domain/question.js';
import { CallerQuotas } from './domain/quotas.js';
import type { UpstreamDefinition } from './domain/upstream.js';
import { VERSION } from './domain/version.js';
import { AuditLog } from './host/audit-log.js';
import { Host } from './host/host.js';
import { Inventory } from './host/inventory.js';
import type { Logins } from './host/logins.js';
import { KeptResults } from './host/results.js';
import { Runtime } from './host/runtime.js';
import { Telemetry } from './host/telemetry.js';
import { logTelemetry } from './host/telemetry-log.js';
import type { Profile } from './profiles/profile.js';
import { createProfile, executeSettings, type Machine } from './profiles/registry.js';
import { runnerSettings } from './profiles/runner/settings.js';
import { createUnifiedProfile } from './profiles/unified/profile.js';
import { accessToken } from './store/access-token.js';
import { CatalogCache } from './store/catalog-cache.js';
import { MasterKey } from './store/master-key.js';
import { ObservedTypesFile } from './store/observed-types-file.js';
import { COMMAND_LINE_CALLER } from './surfaces/cli/caller.js';
import type { Composed, ComposedInventory, HostSettings, ServeOptions } from './surfaces/cli/composed.js';
import { AgentClient, ANY_CLIENT } from './surfaces/mcp/agent-client.js';
import { type McpOptions, sessionOptions } from './surfaces/mcp/door.js';
import { FIRST_LISTING_MS } from './surfaces/mcp/first-listing.js';
import type { Adapter } from './upstream/adapter.js';

const DOORS = {
  stdio: () => import('./surfaces/mcp/stdio.js'),
  http: () => import('./compose-http.js'),
} as const;

/** What a program that uses the library adds to the settings. */
export interface Additions {
  /** The configuration itself, instead of a file. */
  readonly config?: unknown;
  /** Functions of the program, as servers. */
  readonly adapters?: readonly Adapter[];
}

/** Puts the program together: the one place that constructs things and hands them to each other. */
export async function compose(
  settings: HostSettings,
  { config: inline, adapters = [] }: Additions = {},
): Promise<Composed & { readonly servers: Servers }> {
  // The protocol's library is loaded for those who serve it, and meanwhile: other commands do not wait for it.
  const door = settings.door === undefined ? undefined : DOORS[settings.door]();
  const loaded = await loadSettings(settings, inline);
  const agentClient = new AgentClient();
  const redactor = await openRedactor(loaded);
  const definitions = definitionsOf(loaded);
  const records = recordsOf(loaded, definitions);
  const [{ servers, catalog, inventory, learned, gate }, machine] = await Promise.all([
    openInventory(loaded, { audience: audienceOf(settings, agentClient), records, redactor, adapters, definitions }),
    lookAround(loaded.config),
    door,
    settings.door === undefined ? undefined : records.scripts.openIfAny(),
  ]);
  const telemetry = new Telemetry();
  const tracing = await openTracing(loaded.config, {
    onSpan: settings.onSpan,
    onProblem: (message) => {
      if (settings.door === undefined) process.stderr.write(`codemode: ${message}\n`);
      else telemetry.emit({ type: 'problem', message });
    },
  });
  const runtime = new Runtime(async () => {
    const { openRuntime } = await import('./compose-runtime.js');
    const retryOf = (id: string) => servers.definitions.get(id)?.retry ?? { maxAttempts: 1, delayMs: 0 };
    return openRuntime(loaded.config, {
      registry: servers.registry,
      policy: gate.policy,
      redactor,
      records,
      searchPath: readEnvironment().PATH ?? '',
      // Nobody comes after the one program of a command.
      keepsProcesses: settings.door !== undefined,
      keepsWorkers: settings.isOneShot !== true,
      ...(tracing.tracer === undefined ? {} : { tracer: tracing.tracer }),
      observer: telemetry,
      goCacheFolder: goCacheFolder(loaded.config, readEnvironment(), process.getuid?.()),
      retryOf,
    });
  });
  const host = new Host({
    ...tracing,
    runtime,
    catalog,
    gate,
    results: new KeptResults(records.quotas),
    quotas: records.quotas,
    records,
    sleeping: records.sleeping,
    scripts: records.scripts,
    telemetry,
    firstListingMs: loaded.config.catalog.firstListing ?? FIRST_LISTING_MS.describing,
    patienceMs: loaded.config.approvals.grace,
    servesApprovals: settings.door === 'http',
    ...(machine.runtimes.length === 0 ? {} : { processLimits: runnerSettings(loaded.config).limits }),
    ...(machine.go === undefined ? {} : { goPackages: loaded.config.go.precompile }),
    ...(learned === undefined ? {} : { observed: learned }),
    sessionOptionsOf: (caller, profile) =>
      sessionOptions(profileOfRun(loaded.config, machine, profile), codeModeOf(loaded.config, undefined), caller),
  });
  // Who is started by a client has its first questions to answer; everybody else wants to know now.
  if (settings.door !== 'stdio') await host.open();
  const { config } = loaded;
  const warnings = [...loaded.warnings, ...machineWarnings(machine, config)];
  const nothing = adapters.length === 0 ? nothingConfigured(loaded) : undefined;
  return {
    host,
    inventory,
    config,
    warnings,
    ...(nothing === undefined ? {} : { nothingConfigured: nothing }),
    servers,
    serveStdio: async ({ stop, onOpen, ...options }) => {
      const { serveMcpStdio } = await DOORS.stdio();
      const { maxRequestSize: maxMessageBytes } = config.server;
      await serveMcpStdio({
        ...mcpOptions(host, config, createProfile(config, machine), options, redactor),
        maxMessageBytes,
        agentClient,
        stop,
        onOpen,
      });
    },
    serveHttp: async (options) => {
      const { openHttp } = await DOORS.http();
      return openHttp(
        mcpOptions(host, config, createProfile(config, machine), options, redactor),
        servers,
        config,
        await readAccessToken(),
      );
    },
  };
}

/** Who can be asked what servers ask. */
function audienceOf({ door }: HostSettings, agentClient: AgentClient): Audience {
  if (door === undefined) return NOBODY;
  return door === 'stdio' ? agentClient : ANY_CLIENT;
}

/** The same without what runs programs: servers and tools can be looked at where no jail is to be had. */
export async function composeInventory(settings: HostSettings): Promise<ComposedInventory> {
  const loaded = await loadSettings(settings);
  const redactor = await openRedactor(loaded);
  return {
    inventory: (
      await openInventory(loaded, {
        audience: NOBODY,
        records: recordsOf(loaded),
        redactor,
        definitions: definitionsOf(loaded),
      })
    ).inventory,
    loaded,
  };
}

/** Only what was recorded of calls. A broken configuration does not hide it: a key that is there needs no setting. */
export async function composeAudit(settings: HostSettings): Promise<AuditLog> {
  // Nobody is asked whether a file is trusted: what was recorded can be read without any.
  const { confirmTrust: _, ...unasked } = settings;
  const key = await composeKey(unasked).catch(() => keyOf('auto'));
  const folder = stateFolder(readEnvironment());
  const [{ Database }, { AuditStore }] = await Promise.all([import('./store/database.js'), import('./store/audit.js')]);
  const database = await Database.open(folder);
  return new AuditLog({
    store: AuditStore.open(database, await key.read(), folder),
    close: () => database.close(),
  });
}

/** What outlives the program, by itself: decisions are made and runs are looked at where no jail is to be had. */
export async function composeRecords(settings: HostSettings): Promise<Records> {
  return recordsOf(await loadSettings(settings));
}

/** The servers there are, by name: read as they are now, wherever one is looked up. */
function definitionsOf({ upstreams }: LoadedConfig): Map<string, UpstreamDefinition> {
  return new Map(upstreams.map((definition) => [definition.id, definition]));
}

function recordsOf(loaded: LoadedConfig, definitions = definitionsOf(loaded)): Records {
  const environment = readEnvironment();
  const { config } = loaded;
  const identityOf = ({ target }: UpstreamDefinition) => fingerprint(withoutSecrets(target));
  const identities = [...definitions].map(([id, definition]) => [id, identityOf(definition)] as const);
  return openRecords({
    stateFolder: stateFolder(environment),
    masterKey: keyOf(config.security.keyring),
    givenSecret: environment.CODEMODE_APPROVER_SECRET,
    fingerprintOf: (id) => {
      const definition = definitions.get(id);
      return definition === undefined ? '' : identityOf(definition);
    },
    setting: settingOf(config.profile, identities),
    expireAfterMs: config.approvals.expireAfter,
    quotas: new CallerQuotas(config.quotas),
    audit: config.audit.enabled
      ? { isRequired: config.audit.required, retentionMs: config.audit.retention }
      : undefined,
  });
}

/** Where the key of the state folder is. */
export async function composeKey(settings: HostSettings): Promise<MasterKey> {
  return keyOf((await loadSettings(settings)).config.security.keyring);
}

function keyOf(choice: KeyringChoice): MasterKey {
  const environment = readEnvironment();
  return new MasterKey({
    stateFolder: stateFolder(environment),
    choice,
    keyring: sessionBus(environment, process.getuid?.()),
  });
}

/** Logging in and out of servers: needs neither a jail nor a connection. */
export async function composeLogins(settings: HostSettings): Promise<{ logins: Logins; loaded: LoadedConfig }> {
  const loaded = await loadSettings(settings);
  const [{ Logins }, credentials] = await Promise.all([import('./host/logins.js'), loadCredentials(recordsOf(loaded))]);
  return { logins: new Logins(credentials, loaded.upstreams, loaded.disabledServers), loaded };
}

/** The configuration that these settings lead to. Throws `bad_config` and `untrusted_config`. */
export async function loadSettings(settings: HostSettings, inline?: unknown): Promise<LoadedConfig> {
  const environment = readEnvironment();
  const loaded = await loadConfig({
    cwd: process.cwd(),
    environment,
    flags: flagsOf(settings),
    findMistakes: async (config, upstreams, disabled) => {
      const unreadable = new Set(disabled.map(({ id }) => id));
      const isUnreadable = (server: string) => unreadable.has(server);
      return policyMistakes(await policyOptions(config, upstreams), isUnreadable).map(({ path, problem }) => ({
        path: ['policy', ...path],
        problem,
      }));
    },
    ...(inline === undefined ? {} : { inline }),
    ...(settings.configFile === undefined ? {} : { configFile: settings.configFile }),
    ...(settings.projectFolder === undefined ? {} : { projectFolder: settings.projectFolder }),
    ...(settings.takesProxyFile === undefined ? {} : { takesProxyFile: settings.takesProxyFile }),
    ...(settings.confirmTrust === undefined ? {} : { confirmTrust: settings.confirmTrust }),
  });
  const places = { file: loaded.file, stateFolder: stateFolder(environment) };
  return { ...loaded, warnings: [...loaded.warnings, ...exposureWarnings(loaded.upstreams, places)] };
}

interface InventoryCircumstances {
  readonly audience: Audience;
  readonly records: Records;
  readonly redactor: Redactor;
  readonly definitions: Map<string, UpstreamDefinition>;
  readonly adapters?: readonly Adapter[];
}

/** The program may have been started by its path: then `codemode` alone means nothing to the user's shell. */
function asTypedHere(): string {
  const { shell } = ownCommand(readEnvironment(), process.cwd());
  return shell === 'codemode' ? '' : ` (codemode is typed here as: ${shell})`;
}

/** No client gives up on a command: it can wait for a server that takes long to start, and says whom it waits for. */
const ONE_SHOT_PATIENCE_MS = 30_000;

async function openInventory(
  loaded: LoadedConfig,
  { audience, records, redactor, definitions, adapters = [] }: InventoryCircumstances,
) {
  const environment = readEnvironment();
  const servers = new Servers({
    clientInfo: { name: 'codemode', version: VERSION },
    definitions,
    // One without a name of its own is told of, and cannot be imported by anybody.
    disabled: loaded.disabledServers.filter(({ id }) => isValidServerName(id) && id in loaded.config.mcpServers),
    adapters,
    audience,
    redactor,
    openCredentials: () => loadCredentials(records, redactor),
  });
  const fingerprintOf = (id: string) => servers.fingerprintOf(id);
  const nothing = nothingConfigured(loaded);
  const catalog = new Catalog({
    registry: servers.registry,
    cache: new CatalogCache(stateFolder(environment)),
    fingerprintOf,
    descriptionOf: (id) => definitions.get(id)?.description,
    connectTimeoutMsOf: (id) => definitions.get(id)?.connectTimeoutMs,
    ...(nothing === undefined ? {} : { emptyNotice: `No servers are configured: ${nothing}${asTypedHere()}` }),
    ...(audience === NOBODY ? { patienceMs: ONE_SHOT_PATIENCE_MS } : {}),
    ttlMs: loaded.config.catalog.ttl,
    clean: (value) => redactor.bulk(value),
  });
  const file = new ObservedTypesFile(stateFolder(environment));
  const [learned] = await Promise.all([
    loaded.config.learnTypes ? LearnedTypes.open({ file, fingerprintOf }) : undefined,
    catalog.load(),
  ]);
  const gate = await openGate(loaded, servers);
  const inventory = new Inventory({
    catalog,
    gate,
    viewer: { caller: COMMAND_LINE_CALLER, profile: loaded.config.profile },
    definitions: loaded.upstreams,
    disabled: [
      ...loaded.disabledServers.filter(({ id }) => !servers.registry.has(id)),
      ...Object.keys(loaded.config.mcpServers)
        .filter((id) => !servers.registry.has(id) && !loaded.disabledServers.some((each) => each.id === id))
        .map((id) => ({ id })),
    ],
    codeMode: codeModeOf(loaded.config),
    ...learned?.of(LOCAL_CALLER),
  });
  return { servers, catalog, inventory, learned, gate };
}

/** The token of the HTTP surface; made if there is none yet. */
export async function readAccessToken(): Promise<string> {
  return accessToken(stateFolder(readEnvironment()));
}

/** REST speaks a contract of its own, whatever profile is configured: its runs are woken under it. */
function profileOfRun(config: Config, machine: Machine, name: string): Profile {
  return name === 'unified' ? createUnifiedProfile(executeSettings(config)) : createProfile(config, machine);
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
    version: VERSION,
    answerWithinMs: config.server.answerWithin,
    asksPeople: config.approvals.elicitation,
    ...(config.catalog.firstListing === undefined ? {} : { firstListingMs: config.catalog.firstListing }),
    log: clean,
  };
}

function flagsOf({ isolation, profile, host, port, logLevel }: HostSettings): FlagValue[] {
  const flags = [
    { path: ['sandbox', 'isolation'], value: isolation, flag: '--isolation' },
    { path: ['profile'], value: profile, flag: '--profile' },
    { path: ['server', 'host'], value: host, flag: '--host' },
    { path: ['server', 'port'], value: port, flag: '--port' },
    { path: ['logging', 'level'], value: logLevel, flag: '--log-level' },
  ];
  return flags.flatMap(({ value, ...flag }) => (value === undefined ? [] : [{ ...flag, value }]));
}

/** The credentials of this state folder. Loaded by whoever connects a server first, or logs in. */
async function loadCredentials(records: Records, redactor?: Redactor): Promise<Credentials> {
  const { openCredentials } = await import('./compose-credentials.js');
  return openCredentials(records, redactor);
}
