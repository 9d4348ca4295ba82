import type { PolicyGate } from '../broker/policy/gate.js';
import type { Catalog } from '../catalog/catalog.js';
import type { LearnedTypes } from '../catalog/observed/learned-types.js';
import type { CatalogServer } from '../catalog/snapshot.js';
import type { CapabilitySet } from '../domain/capability.js';
import type { Limits } from '../domain/limits.js';
import type { CallerId } from '../domain/run.js';
import type { ScriptProfile } from '../domain/script.js';
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

/** The options of one caller's session. */
export interface SessionOptions {
  readonly caller: CallerId;
  /** The id of this session, if the protocol has sessions. Kept results belong to it. */
  readonly sessionId?: string;
  /** Name of the contract. */
  readonly profile: string;
  readonly presentation: Presentation;
  readonly codeMode: CodeModeSettings;
  /** Names that direct tools must not take. */
  readonly reservedNames: readonly string[];
  /** Larger results are kept for a later run instead of being passed on. */
  readonly maxResultBytes: number;
  /** The types of one server in the contract's language; absent: TypeScript modules. */
  readonly declarations?: (server: CatalogServer, view: ToolView) => string;
  /** Declarations of the modules that every program has. Absent: programs of this contract are not type-checked. */
  readonly checkedLibrary?: string;
  /** Programs are function bodies, in which tools are members of `mcp`. */
  readonly checksBodies?: true;
  /** The capabilities of the caller's token; absent: whatever the configuration allows. */
  readonly bounds?: CapabilitySet;
}

/** The parts that all sessions of a host share. */
export interface SessionParts {
  readonly runtime: Runtime;
  readonly catalog: Catalog;
  readonly gate: PolicyGate;
  readonly results: KeptResults;
  readonly turns: CallerTurns;
  readonly suspended: SuspendedRuns;
  readonly scripts: ScriptLibrary;
  /** The wording of the contracts that stored scripts are written for. */
  readonly presentations: Readonly<Record<ScriptProfile, Presentation>>;
  /** Limits of a stored script that a program on a real interpreter runs. */
  readonly scriptLimits: Limits;
  readonly telemetry: Telemetry;
  /** Absent if tracing is off. */
  readonly tracer?: Tracer;
  readonly live: LiveRuns;
  /** The configured capabilities: no token exceeds them. */
  readonly reach: CapabilitySet;
  /** How long a server may delay a listing or a search, counted from when it was asked. */
  readonly firstListingMs: number;
  /** How long a program stays in its worker while it waits only for a person. */
  readonly patienceMs: number;
  /** Whether people decide approvals through other surfaces when no client can ask them. */
  readonly servesApprovals?: boolean;
  /** Absent if learning is disabled. */
  readonly observed?: LearnedTypes;
}
