import type { EngineName } from '../domain/engine.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { Log } from '../domain/log.js';
import type { ProfileName } from '../domain/profile-name.js';
import type { ScriptHead } from '../domain/script.js';
import type { StopSignal } from '../domain/stop-signal.js';
import type { TraceContext } from '../domain/trace.js';
import type { RunClient } from '../host/runs/run-client.js';
import type { OnBegin, Presentation, SuspendedSummary } from '../host/runs/run-types.js';
import type { Session } from '../host/session.js';
import type { CatalogServer, CatalogTool, ToolView } from '../host/tools/tool-view.js';

/** One published contract over the core: mostly data. It holds no state, decides no policy and knows no other profile. */
export interface Profile {
  readonly name: ProfileName;
  readonly presentation: Presentation;
  /** The contract's own tools, offered instead of the tools that programs call. */
  readonly tools: readonly ExposedTool[];
  /** Larger results are kept for a later program instead of being passed on. */
  readonly maxResultBytes: number;
  /** What the agent has to know before its first program. `scripts`: the stored scripts that it may run. */
  instructions(view: ToolView, scripts?: readonly ScriptHead[]): string;
  /** The types of one server's module, on request. */
  declarations(server: CatalogServer, view: ToolView): string;
  /** Declarations of the modules that every program has, if programs are type-checked. */
  readonly checkedLibrary?: string;
  /** Programs are function bodies, in which tools are members of `mcp`. */
  readonly checksBodies?: true;
  /** The format of the declarations, if not TypeScript. */
  readonly declarationFormat?: DeclarationFormat;
  /** Tools that this profile cannot offer, with the message for a client that calls one of them anyway. */
  readonly missingTools?: ReadonlyMap<string, string>;
  readonly playground: PlaygroundHints;
  /** How a program calls a tool, for an agent that tried to call it directly. */
  callExample?(tool: CatalogTool): string;
}

/** What the console's playground needs to write and send a program of the contract. */
export interface PlaygroundHints {
  readonly languages: readonly string[];
  /** An initial program. It works without any server. */
  readonly example: string;
  /** The arguments of the contract's tool, with the timeout in the contract's own field. */
  input(code: string, timeoutMs: number | undefined): JsonObject;
}

/** The metadata of a declaration file. */
export interface DeclarationFormat {
  readonly fileName: string;
  readonly mimeType: string;
  readonly describe: (server: CatalogServer) => string;
}

/** One of the contract's own tools: how it is listed, and how its call becomes a call on a session. */
export interface ExposedTool {
  /** The listed name. */
  readonly name: string;
  /** Other names that find it. */
  readonly aliases?: readonly string[];
  readonly title: string;
  description(view: ToolView): string;
  readonly inputSchema: JsonObject;
  /** Absent if the answer's shape is not promised. */
  readonly outputSchema?: JsonObject;
  readonly meta?: JsonObject;
  /** A client that loads tools after searching for them may load this one that way. */
  readonly isLoadedLate?: true;
  /** Answers any input of the agent. A thrown error is a bug of ours. */
  call(session: Session, input: JsonValue, context: CallContext): Promise<OutwardAnswer>;
}

/** What a surface knows about the client that waits for an answer. */
export interface CallContext extends RunClient {
  readonly signal: StopSignal;
  /** When the request's token expires. No call starts after that. */
  readonly authorizedUntilMs?: number;
  readonly onBegin?: OnBegin;
  /** The host's own log, for contracts that send console output there. */
  readonly log?: Log;
  /** The span of the call. */
  readonly trace?: TraceContext;
}

export interface OutwardAnswer {
  readonly structured: JsonObject;
  /** The text for clients that take text; absent: the structured answer as JSON. */
  readonly text?: string;
  /** Facts for programs, in `_meta`: models do not see them. */
  readonly meta?: JsonObject;
  /** Notes for the agent beside the answer, if the contract has no field for them. */
  readonly notes?: readonly string[];
  /** Images and audio of the answer, as MCP content blocks. */
  readonly media: readonly JsonObject[];
  /** The host has failed. A failed program is an ordinary answer. */
  readonly isError: boolean;
  /** The run waits for a person. */
  readonly suspended?: SuspendedSummary;
  /** The client was answered, and the run continues without it. */
  readonly isStillRunning: boolean;
  /** The engine in which the program ended, if there is a choice. For people: an agent does not need it. */
  readonly engine?: EngineName;
}
