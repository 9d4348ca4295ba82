import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Broker } from './broker/broker.js';
import { Catalog } from './catalog/catalog.js';
import { inheritedEnvironment, readEnvironment } from './config/environment.js';
import { type LoadedConfig, loadConfig } from './config/load.js';
import type { Config } from './config/schema.js';
import { stateFolder } from './config/state-folder.js';
import { Host } from './host/host.js';
import { Inventory } from './host/inventory.js';
import { KeptResults } from './host/results.js';
import { openJail } from './sandbox/jail/probe.js';
import type { PoolOptions } from './sandbox/pool.js';
import { Sandbox } from './sandbox/sandbox.js';
import { SEAL_KEY_BYTES } from './sandbox/sealing.js';
import { CatalogCache } from './store/catalog-cache.js';
import type { Composed, ComposedInventory, HostSettings } from './surfaces/cli/composed.js';
import { UpstreamRegistry } from './upstream/registry.js';

/** Programs that wait for a worker before one more is refused. */
const MAX_QUEUED = 1_000;
const MAX_RUNS_PER_WORKER = 256;
/** A worker is replaced after so many programs, whatever state they left it in. */
const MAX_RUNS_IN_LIFE = 10_000;
/** A listing older than this is asked for again in the background. */
const CATALOG_TTL_MS = 10 * 60 * 1000;

/** Puts the program together: the one place that constructs things and hands them to each other. */
export async function compose(settings: HostSettings): Promise<Composed> {
  const loaded = await loadSettings(settings);
  const sandbox = await openSandbox(loaded.config);
  const { registry, catalog, inventory } = await openInventory(loaded);
  const broker = new Broker({
    registry,
    checkArguments: () => ({ ok: true }),
    checkOutput: () => undefined,
    isOutputStrict: loaded.config.strictOutput,
  });
  return {
    host: new Host({ sandbox, catalog, broker, results: new KeptResults() }),
    inventory,
    config: loaded.config,
    warnings: loaded.warnings,
  };
}

/** The same without what runs programs: servers and tools can be looked at where no jail is to be had. */
export async function composeInventory(settings: HostSettings): Promise<ComposedInventory> {
  const loaded = await loadSettings(settings);
  return { inventory: (await openInventory(loaded)).inventory, loaded };
}

/** The configuration that these settings lead to. Throws `bad_config`. */
export async function loadSettings(settings: HostSettings): Promise<LoadedConfig> {
  return loadConfig({
    cwd: process.cwd(),
    environment: readEnvironment(),
    flags:
      settings.isolation === undefined
        ? []
        : [{ path: ['sandbox', 'isolation'], value: settings.isolation, flag: '--isolation' }],
    ...(settings.configFile === undefined ? {} : { configFile: settings.configFile }),
  });
}

async function openInventory(loaded: LoadedConfig) {
  const environment = readEnvironment();
  const registry = openRegistry(loaded, inheritedEnvironment(environment));
  const definitions = new Map(loaded.upstreams.map((definition) => [definition.id, definition]));
  const catalog = new Catalog({
    registry,
    cache: new CatalogCache(stateFolder(environment)),
    fingerprintOf: (id) => fingerprint(definitions.get(id)?.target),
    descriptionOf: (id) => definitions.get(id)?.description,
    ttlMs: CATALOG_TTL_MS,
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

async function openSandbox(config: Config): Promise<Sandbox> {
  const { isolation, unsafelyAllowNoJail } = config.sandbox;
  return new Sandbox({
    jail: await openJail({ isolation, unsafelyAllowNoJail }),
    workerFolder: workerFolder(),
    pool: poolOptions(config),
    // Nothing is stored beyond this process yet, so neither is the key.
    sealKey: randomBytes(SEAL_KEY_BYTES),
  });
}

function poolOptions({ sandbox: { workers } }: Config): PoolOptions {
  return {
    min: workers.min,
    max: workers.max ?? Math.max(workers.min, availableParallelism(), 2),
    idleMs: workers.idleTimeout,
    maxQueued: MAX_QUEUED,
    maxRunsPerWorker: MAX_RUNS_PER_WORKER,
    maxRunsInLife: MAX_RUNS_IN_LIFE,
  };
}

function openRegistry({ upstreams }: LoadedConfig, baseEnvironment: Record<string, string>): UpstreamRegistry {
  const registry = new UpstreamRegistry({ clientInfo: { name: 'codemode', version: VERSION }, baseEnvironment });
  for (const definition of upstreams) registry.register(definition);
  return registry;
}

const VERSION = '0.1.0';

/** Of how a server is reached, secrets included: only the digest is written anywhere. */
function fingerprint(target: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(target ?? null))
    .digest('hex');
}

/** `dist/worker`, from the built program as well as from its sources. */
function workerFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, 'worker', 'manifest.json');
  return existsSync(beside) ? dirname(beside) : join(here, '..', 'dist', 'worker');
}
