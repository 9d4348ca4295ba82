import type { Redactor } from '../broker/redaction/redactor.js';
import { Catalog } from '../catalog/catalog.js';
import { LearnedTypes } from '../catalog/observed/learned-types.js';
import type { LoadedConfig } from '../config/load.js';
import { nothingConfigured } from '../config/nothing-configured.js';
import { ownCommand } from '../config/own-command.js';
import { codeModeOf } from '../config/schema/code-mode.js';
import { isValidServerName } from '../config/schema/server-schema.js';
import { readEnvironment } from '../config/variables/environment.js';
import { type Audience, NOBODY } from '../domain/question.js';
import { LOCAL_CALLER } from '../domain/run.js';
import type { UpstreamDefinition } from '../domain/upstream.js';
import { VERSION } from '../domain/version.js';
import { Inventory } from '../host/tools/inventory.js';
import { ifDefined, omitUndefined } from '../lib/omit-undefined.js';
import { COMMAND_LINE_CALLER } from '../surfaces/cli/caller.js';
import type { ComposedInventory, HostSettings } from '../surfaces/cli/composed.js';
import type { Adapter } from '../upstream/adapter.js';
import { openGate } from './policy.js';
import { quarantinesElsewhere } from './quarantines.js';
import type { Records } from './records.js';
import { openRedactor } from './redactor.js';
import { Servers } from './servers.js';
import { loadSettings } from './settings.js';
import { definitionsOf, loadCredentials, recordsOf } from './state.js';

/** The host without the sandbox: servers and tools can be inspected on a machine without a jail. */
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
    quarantinesElsewhere,
  };
}

interface InventoryContext {
  readonly audience: Audience;
  readonly records: Records;
  readonly redactor: Redactor;
  readonly definitions: Map<string, UpstreamDefinition>;
  readonly adapters?: readonly Adapter[];
}

/** How to type our command here. If it was started by its path, the user's shell does not know `codemode`. */
function asTypedHere(): string {
  const { shell } = ownCommand(readEnvironment(), process.cwd());
  return shell === 'codemode' ? '' : ` (codemode is typed here as: ${shell})`;
}

/** No client times out on a command, so it can wait for slow servers. It names the servers it waits for. */
const ONE_SHOT_PATIENCE_MS = 30_000;

export async function openInventory(
  loaded: LoadedConfig,
  { audience, records, redactor, definitions, adapters = [] }: InventoryContext,
) {
  const servers = new Servers({
    clientInfo: { name: 'codemode', version: VERSION },
    definitions,
    // A disabled server without a valid name of its own is only reported: no program can import it.
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
    cache: records.store.catalogCache,
    fingerprintOf,
    descriptionOf: (id) => definitions.get(id)?.description,
    connectTimeoutMsOf: (id) => definitions.get(id)?.connectTimeoutMs,
    ...omitUndefined({
      emptyNotice: ifDefined(nothing, (nothing) => `No servers are configured: ${nothing}${asTypedHere()}`),
    }),
    ...(audience === NOBODY ? { patienceMs: ONE_SHOT_PATIENCE_MS } : {}),
    ttlMs: loaded.config.catalog.ttl,
    clean: (value) => redactor.bulk(value),
  });
  const [learned] = await Promise.all([
    loaded.config.learnTypes ? LearnedTypes.open({ file: records.store.observedTypes, fingerprintOf }) : undefined,
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
    ...learned?.of({ caller: LOCAL_CALLER, profile: loaded.config.profile }),
  });
  return { servers, catalog, inventory, learned, gate };
}
