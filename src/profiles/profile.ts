import type { EngineName } from '../domain/engine.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { Log } from '../domain/log.js';
import type { ProfileName } from '../domain/profile-name.js';
import type { ScriptHead } from '../domain/script.js';
import type { StopSignal } from '../domain/stop-signal.js';
import type { TraceContext } from '../domain/trace.js';
import type { RunClient } from '../host/runs/run-client.js';
import type { Presentation, SuspendedSummary } from '../host/runs/run-types.js';
import type { Session } from '../host/session.js';
import type { CatalogServer, CatalogTool, ToolView } from '../host/tools/tool-view.js';

/** One outward contract over the core: mostly data. It holds no state, decides no policy and knows no other profile. */
export interface Profile {
  readonly name: ProfileName;
  readonly presentation: Presentation;
  /** What the agent is offered instead of the tools that programs call. */
  readonly tools: readonly ExposedTool[];
  /** Results above it are kept for a later program instead of being passed on. */
  readonly maxResultBytes: number;
  /** What the agent has to know before its first program. `scripts`: what is stored for it to run. */
  instructions(view: ToolView, scripts?: readonly ScriptHead[]): string;
  /** The types of one server's module, on request. */
  declarations(server: CatalogServer, view: ToolView): string;
  /** Declarations of the modules that every program has, where programs are checked by their types. */
  readonly checkedLibrary?: string;
  /** Programs are bodies of functions, in which tools are members of `mcp`. */
  readonly checksBodies?: true;
  /** What these types are, where they are not TypeScript. */
  readonly declarationFormat?: DeclarationFormat;
  /** Tools that this profile cannot offer, with the message for a client that calls one of them anyway. */
  readonly missingTools?: ReadonlyMap<string, string>;
  readonly playground: PlaygroundHints;
  /** How a program reaches a tool, for an agent that has called it directly. */
  callExample?(tool: CatalogTool): string;
}

/** What the console's playground needs to write and send a program of the contract. */
export interface PlaygroundHints {
  readonly languages: readonly string[];
  /** A first program. It works without any server. */
  readonly example: string;
  /** The arguments of the contract's tool, with the time limit in the contract's own words. */
  input(code: string, timeoutMs: number | undefined): JsonObject;
}

/** What is said of a file of types. */
export interface DeclarationFormat {
  readonly fileName: string;
  readonly mimeType: string;
  readonly describe: (server: CatalogServer) => string;
}

/** A tool of the contract's own: how it is listed, and how a call of it becomes a call on a session. */
export interface ExposedTool {
  /** As it is listed. */
  readonly name: string;
  /** Other names by which a call finds it. */
  readonly aliases?: readonly string[];
  readonly title: string;
  description(view: ToolView): string;
  readonly inputSchema: JsonObject;
  /** Absent where nobody promises what is answered. */
  readonly outputSchema?: JsonObject;
  readonly meta?: JsonObject;
  /** A client that loads tools after a search for them may do so with this one. */
  readonly isLoadedLate?: true;
  /** Answers whatever the agent sends. What is thrown here is a mistake of ours. */
  call(session: Session, input: JsonValue, context: CallContext): Promise<OutwardAnswer>;
}

/** What a surface knows about the one who waits for an answer. */
export interface CallContext extends RunClient {
  readonly signal: StopSignal;
  /** When the token that the request came with expires: no call begins later. */
  readonly authorizedUntilMs?: number;
  /** Told the run's id before anything of it runs. */
  readonly onBegin?: (runId: string) => void;
  /** The host's own log, for contracts that send console output there. */
  readonly log?: Log;
  /** The step of a trace that the call is. */
  readonly trace?: TraceContext;
}

export interface OutwardAnswer {
  readonly structured: JsonObject;
  /** What is said in its place to clients that take text; absent: the same as JSON. */
  readonly text?: string;
  /** Facts for programs, in `_meta`: models are not shown it. */
  readonly meta?: JsonObject;
  /** What an agent should read beside the answer, where the contract has no place of its own for it. */
  readonly notes?: readonly string[];
  /** Images and sound of the answer, as MCP content blocks. */
  readonly media: readonly JsonObject[];
  /** The host could not do its work. A program that failed is an ordinary answer. */
  readonly isError: boolean;
  /** The run waits for a person. */
  readonly suspended?: SuspendedSummary;
  /** The client was answered, and the run continues without it. */
  readonly isStillRunning: boolean;
  /** What its program ended in, where there is a choice. It is for people: an agent has no use for it. */
  readonly engine?: EngineName;
}
