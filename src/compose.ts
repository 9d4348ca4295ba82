import { createHash } from 'node:crypto';
import { credentialsOf, secretsIn } from './broker/redaction/known-secrets.js';
import { redactRequests } from './broker/redaction/redact-call.js';
import { Redactor } from './broker/redaction/redactor.js';
import { Catalog } from './catalog/catalog.js';
import { ObservedTypes } from './catalog/observed/observed-types.js';
import { openRecords, type Records } from './compose-records.js';
import { codeModeOf } from './config/code-mode.js';
import { inheritedEnvironment, readEnvironment } from './config/environment.js';
import type { FlagValue } from './config/layers.js';
import { type LoadedConfig, loadConfig } from './config/load.js';
import type { Config } from './config/schema.js';
import { stateFolder } from './config/state-folder.js';
import type { UpstreamRequestHandlers, UpstreamTarget } from './domain/upstream.js';
import { AuditLog } from './host/audit-log.js';
import { Host } from './host/host.js';
import { Inventory } from './host/inventory.js';
import { KeptResults } from './host/results.js';
import { Runtime } from './host/runtime.js';
import { createProfile } from './profiles/registry.js';
import { accessToken } from './store/access-token.js';
import { CatalogCache } from './store/catalog-cache.js';
import { masterKey } from './store/master-key.js';
import type { Composed, ComposedInventory, HostSettings, ServeOptions } from './surfaces/cli/composed.js';
import { AgentClient } from './surfaces/mcp/agent-client.js';
import { type McpOptions, sessionOptions } from './surfaces/mcp/door.js';
import { UpstreamRegistry } from './upstream/registry.js';

/** A listing older than this is asked for again in the background. */
const CATALOG_TTL_MS = 10 * 60 * 1000;

/** Most clients give up at 60 s, some a little earlier. */
const ANSWER_WITHIN_MS = 50_000;

const DOORS = {
  stdio: () => import('./surfaces/mcp/stdio.js'),
  http: () => import('./compose-http.js'),
} as const;

/** Puts the program together: the one place that constructs things and hands them to each other. */
export async function compose(settings: HostSettings): Promise<Composed> {
  // The protocol's library is loaded for those who serve it, and meanwhile: other commands do not wait for it.
  const door = settings.door === undefined ? undefined : DOORS[settings.door]();
  const loaded = await loadSettings(settings);
  const agentClient = new AgentClient();
  const redactor = await openRedactor(loaded);
  const [{ registry, catalog, inventory }] = await Promise.all([openInventory(loaded, agentClient, redactor), door]);
  const records = recordsOf(loaded);
  const runtime = new Runtime(async () => {
    const { openRuntime } = await import('./compose-runtime.js');
    const folder = stateFolder(readEnvironment());
    return openRuntime(loaded.config, { registry, redactor, records, stateFolder: folder });
  });
  const observed = loaded.config.learnTypes ? { observed: new ObservedTypes() } : {};
  const host = new Host({
    runtime,
    catalog,
    results: new KeptResults(),
    records,
    sleeping: records.sleeping,
    patienceMs: loaded.config.approvals.grace,
    ...observed,
    sessionOptionsOf: (caller) =>
      sessionOptions(createProfile(loaded.config), codeModeOf(loaded.config, undefined), caller),
  });
  // Who is started by a client has its first questions to answer; everybody else wants to know now.
  if (settings.door !== 'stdio') await host.open();
  const { config, warnings } = loaded;
  return {
    host,
    inventory,
    config,
    warnings,
    serveStdio: async ({ stop, onOpen, ...options }) => {
      const { serveMcpStdio } = await DOORS.stdio();
      const { maxRequestSize: maxMessageBytes } = config.server;
      await serveMcpStdio({
        ...mcpOptions(host, config, options, redactor),
        maxMessageBytes,
        agentClient,
        stop,
        onOpen,
      });
    },
    serveHttp: async (options) => {
      const { openHttp } = await DOORS.http();
      return openHttp(mcpOptions(host, config, options, redactor), config, await readAccessToken());
    },
  };
}

/** The same without what runs programs: servers and tools can be looked at where no jail is to be had. */
export async function composeInventory(settings: HostSettings): Promise<ComposedInventory> {
  const loaded = await loadSettings(settings);
  const redactor = await openRedactor(loaded);
  return { inventory: (await openInventory(loaded, new AgentClient(), redactor)).inventory, loaded };
}

/** Only what was recorded of calls. */
export async function composeAudit(): Promise<AuditLog> {
  const folder = stateFolder(readEnvironment());
  const [{ Database }, { AuditStore }] = await Promise.all([import('./store/database.js'), import('./store/audit.js')]);
  const database = await Database.open(folder);
  return new AuditLog({
    store: AuditStore.open(database, await masterKey(folder), folder),
    close: () => database.close(),
  });
}

/** Knows every credential of the configuration. */
async function openRedactor({ config, upstreams }: LoadedConfig): Promise<Redactor> {
  const { extra, ...options } = config.redaction;
  const clientSecrets = Object.values(config.mcpServers).flatMap(({ auth }) =>
    auth?.type === 'oauth2' && auth.clientSecret !== undefined ? secretsIn('clientSecret', auth.clientSecret) : [],
  );
  const expressions =
    extra.length === 0 ? [] : (await import('./broker/redaction/expressions.js')).compileExpressions(extra);
  return new Redactor([...upstreams.flatMap(credentialsOf), ...clientSecrets], { ...options, extra: expressions });
}

/** What outlives the program, by itself: decisions are made and runs are looked at where no jail is to be had. */
export async function composeRecords(settings: HostSettings): Promise<Records> {
  return recordsOf(await loadSettings(settings));
}

function recordsOf({ upstreams, config }: LoadedConfig): Records {
  const environment = readEnvironment();
  const identities = new Map(upstreams.map(({ id, target }) => [id, fingerprint(withoutSecrets(target))]));
  return openRecords({
    stateFolder: stateFolder(environment),
    givenSecret: environment.CODEMODE_APPROVER_SECRET,
    fingerprintOf: (id) => identities.get(id) ?? '',
    setting: fingerprint([config.profile, ...[...identities].sort(([left], [right]) => (left < right ? -1 : 1))]),
    expireAfterMs: config.approvals.expireAfter,
  });
}

/** The configuration that these settings lead to. Throws `bad_config`. */
export async function loadSettings(settings: HostSettings): Promise<LoadedConfig> {
  return loadConfig({
    cwd: process.cwd(),
    environment: readEnvironment(),
    flags: flagsOf(settings),
    ...(settings.configFile === undefined ? {} : { configFile: settings.configFile }),
  });
}

async function openInventory(loaded: LoadedConfig, agentClient: AgentClient, redactor: Redactor) {
  const environment = readEnvironment();
  const registry = openRegistry(loaded, inheritedEnvironment(environment), redactRequests(redactor, agentClient));
  const definitions = new Map(loaded.upstreams.map((definition) => [definition.id, definition]));
  const catalog = new Catalog({
    registry,
    cache: new CatalogCache(stateFolder(environment)),
    fingerprintOf: (id) => fingerprint(definitions.get(id)?.target),
    descriptionOf: (id) => definitions.get(id)?.description,
    ttlMs: CATALOG_TTL_MS,
    clean: (value) => redactor.bulk(value),
  });
  await catalog.load();
  const inventory = new Inventory({
    catalog,
    definitions: loaded.upstreams,
    disabled: Object.keys(loaded.config.mcpServers).filter((id) => !definitions.has(id)),
    codeMode: loaded.config.defaults.codeMode,
  });
  return { registry, catalog, inventory };
}

/** The token of the HTTP surface; made if there is none yet. */
export async function readAccessToken(): Promise<string> {
  return accessToken(stateFolder(readEnvironment()));
}

function mcpOptions(
  host: Host,
  config: Config,
  { model, log }: Omit<ServeOptions, 'stop'>,
  redactor: Redactor,
): McpOptions {
  return {
    host,
    profile: createProfile(config),
    codeMode: codeModeOf(config, model),
    version: VERSION,
    answerWithinMs: ANSWER_WITHIN_MS,
    asksPeople: config.approvals.elicitation,
    log: (line) => log(redactor.text(line)),
  };
}

function flagsOf({ isolation, profile, host, port }: HostSettings): FlagValue[] {
  const flags = [
    { path: ['sandbox', 'isolation'], value: isolation, flag: '--isolation' },
    { path: ['profile'], value: profile, flag: '--profile' },
    { path: ['server', 'host'], value: host, flag: '--host' },
    { path: ['server', 'port'], value: port, flag: '--port' },
  ];
  return flags.flatMap(({ value, ...flag }) => (value === undefined ? [] : [{ ...flag, value }]));
}

function openRegistry(
  { upstreams }: LoadedConfig,
  baseEnvironment: Record<string, string>,
  handlers: UpstreamRequestHandlers,
): UpstreamRegistry {
  const clientInfo = { name: 'codemode', version: VERSION };
  const registry = new UpstreamRegistry({ clientInfo, baseEnvironment, handlers });
  for (const definition of upstreams) registry.register(definition);
  return registry;
}

const VERSION = '0.1.0';

/** What a server is, whatever key it is opened with: a new token is no other server. */
function withoutSecrets(target: UpstreamTarget): unknown {
  if (target.kind === 'stdio') return [target.kind, target.command, target.arguments, target.cwd];
  const { origin, pathname } = new URL(target.url);
  return [target.kind, origin, pathname];
}

/** Of how a server is reached, secrets included: only the digest is written anywhere. */
function fingerprint(target: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(target ?? null))
    .digest('hex');
}
