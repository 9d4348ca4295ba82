import type { PolicyGate } from '../broker/policy/gate.js';
import type { Catalog } from '../catalog/catalog.js';
import type { LearnedTypes } from '../catalog/observed/learned-types.js';
import type { CatalogServer } from '../catalog/snapshot.js';
import type { CapabilitySet } from '../domain/capability.js';
import type { CallerId } from '../domain/run.js';
import type { Tracer } from '../domain/trace.js';
import type { CallerTurns } from './calls/caller-turns.js';
import type { KeptResults } from './runs/kept-results.js';
import type { LiveRuns } from './runs/live-runs.js';
import type { Presentation } from './runs/run-types.js';
import type { SuspendedRuns } from './runs/suspended-runs.js';
import type { Runtime } from './runtime.js';
import type { ScriptLibrary } from './scripts/stored-scripts.js';
import type { Telemetry } from './telemetry.js';
import type { CodeModeSettings, ToolView } from './tools/tool-view.js';

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
  /** Results above it are kept for a later run instead of being passed on. */
  readonly maxResultBytes: number;
  /** The types of one server in the contract's own words; absent: TypeScript modules. */
  readonly declarations?: (server: CatalogServer, view: ToolView) => string;
  /** Declarations of the modules that every program has. Absent: the types of programs of this contract are not checked. */
  readonly checkedLibrary?: string;
  /** Programs are bodies of functions, in which tools are members of `mcp`. */
  readonly checksBodies?: true;
  /** What the caller's token may reach; absent: whatever the configuration allows. */
  readonly bounds?: CapabilitySet;
}

/** What all sessions of a host share. */
export interface SessionParts {
  readonly runtime: Runtime;
  readonly catalog: Catalog;
  readonly gate: PolicyGate;
  readonly results: KeptResults;
  readonly turns: CallerTurns;
  readonly suspended: SuspendedRuns;
  readonly scripts: ScriptLibrary;
  readonly telemetry: Telemetry;
  /** Absent if tracing is off. */
  readonly tracer?: Tracer;
  readonly live: LiveRuns;
  /** What the configuration grants: no token reaches further. */
  readonly reach: CapabilitySet;
  /** How long a server may keep a listing or a search waiting, counted from when it was asked. */
  readonly firstListingMs: number;
  /** How long a program keeps its place while all it waits for is a person. */
  readonly patienceMs: number;
  /** Whether people decide approvals through other surfaces when no client can ask them. */
  readonly servesApprovals?: boolean;
  /** Absent where learning is switched off. */
  readonly observed?: LearnedTypes;
}
