import type { LoadedConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import type { Host } from '../../host/host.js';
import type { Inventory } from '../../host/inventory.js';

/** What the command line needs from whoever puts the program together. */
export interface HostSettings {
  readonly configFile?: string;
  readonly isolation?: IsolationLevel;
}
/** The program, put together and not yet used. */
export interface Composed {
  readonly host: Host;
  /** Of the same servers and connections as the host, which closes them. */
  readonly inventory: Inventory;
  readonly config: Config;
  /** What was odd about the configuration and was got over. */
  readonly warnings: readonly string[];
}
/** As much of it as shows servers and tools. Whoever asked for it closes the inventory. */
export interface ComposedInventory {
  readonly inventory: Inventory;
  readonly loaded: LoadedConfig;
}
export interface Composition {
  compose(settings: HostSettings): Promise<Composed>;
  composeInventory(settings: HostSettings): Promise<ComposedInventory>;
  /** The configuration alone. */
  loadSettings(settings: HostSettings): Promise<LoadedConfig>;
}
