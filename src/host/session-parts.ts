import type { PolicyGate } from '../broker/policy/gate.js';
import type { Catalog } from '../catalog/catalog.js';
import type { LearnedTypes } from '../catalog/observed/learned-types.js';
import type { CatalogServer } from '../catalog/snapshot.js';
import type { CapabilitySet } from '../domain/capability.js';
import type { CallerId } from '../domain/execution.js';
import type { Tracer } from '../domain/trace.js';
import type { LiveRuns } from './live-runs.js';
import type { KeptResults } from './results.js';
import type { Presentation } from './run.js';
import type { Runtime } from './runtime.js';
import type { SleepingRuns } from './sleeping-runs.js';
import type { ScriptLibrary } from './stored-scripts.js';
import type { Telemetry } from './telemetry.js';
import type { CodeModeSettings, ToolView } from './tool-view.js';

/** How one caller's session differs from another's. */
export interface SessionOptions {
  readonly caller: CallerId;
  /** Where the protocol has sessions, which of the caller's this is: what is kept for it is its own. */
  readonly sessionId?: string;
  /** Name of the contract. */
  readonly profile: string;
  readonly presentation: Presentation;
  readonly codeMode: CodeModeSettings;
  /** Names that no direct tool may take. */
  readonly reservedNames: readonly string[];
  /** Results above it are kept for a later run instead of being handed over. */
  readonly maxResultBytes: number;
  /** The types of one server in the contract's own words; absent: TypeScript modules. */
  readonly declarations?: (server: CatalogServer, view: ToolView) => string;
  /** What the caller's token may reach; absent: whatever the configuration allows. */
  readonly bounds?: CapabilitySet;
}

/** What all sessions of a host share. */
export interface SessionParts {
  readonly runtime: Runtime;
  readonly catalog: Catalog;
  readonly gate: PolicyGate;
  readonly results: KeptResults;
  readonly sleeping: SleepingRuns;
  readonly scripts: ScriptLibrary;
  readonly telemetry: Telemetry;
  /** Absent where nobody wants traces. */
  readonly tracer?: Tracer;
  readonly live: LiveRuns;
  /** How long a server may keep a listing or a search waiting, counted from when it was asked. */
  readonly firstListingMs: number;
  /** How long a program keeps its place while all it waits for is a person. */
  readonly patienceMs: number;
  /** Whether people look at what waits for them here, though no client can ask them. */
  readonly servesApprovals?: boolean;
  /** Absent where learning is switched off. */
  readonly observed?: LearnedTypes;
}
