import type { Config } from '../../config/schema.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import type { Host } from '../../host/host.js';

/** What the command line needs from whoever puts the program together. */
export interface HostSettings {
  readonly configFile?: string;
  readonly isolation?: IsolationLevel;
}
/** The program, put together and not yet used. */
export interface Composed {
  readonly host: Host;
  readonly config: Config;
  /** What was odd about the configuration and was got over. */
  readonly warnings: readonly string[];
}
export type Compose = (settings: HostSettings) => Promise<Composed>;
