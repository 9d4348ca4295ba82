import type { BrokerOutcome } from '../../broker/broker.js';
import type { RunContext } from '../../broker/run-context.js';
import type { Approval } from '../../domain/approval.js';
import type { CapabilitySet } from '../../domain/capability.js';
import type { EngineChoice, EngineName } from '../../domain/engine.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Limits } from '../../domain/limits.js';
import type {
  CallReply,
  EndedState,
  GuestCall,
  LogEntry,
  Outcome,
  ResourceUsage,
  SourceLanguage,
} from '../../domain/run.js';
import type { StopSignal } from '../../domain/stop-signal.js';
import type { Tool } from '../../domain/tool.js';
import type { TraceContext } from '../../domain/trace.js';
import type { TypeProblem } from '../../domain/type-check.js';
import type { PartialAnswer } from '../calls/partial-answers.js';
import type { CallFailure } from '../calls/tool-calls.js';
import type { TraceEntry } from '../calls/tool-trace.js';
import type { RunClient } from './run-client.js';

/** A program, and the client that waits for it. */
export interface RunRequest extends RunClient {
  readonly source: string;
  readonly language: SourceLanguage;
  readonly limits: Limits;
  /** Absent: as configured. */
  readonly engine?: EngineChoice;
  /** What the client calls it: comes back with its answer, however late that is. */
  readonly label?: string;
  /** Absent: it is a module. */
  readonly script?: ScriptRequest;
  /** What a stored script is run with: `input` of `@codemode/input`. */
  readonly input?: JsonObject;
  /** The program is the body of a function, and this its `context`. */
  readonly context?: JsonObject;
  /** What the program may reach; absent under contracts that know no capabilities. */
  readonly grants?: CapabilitySet;
  /** When the token that the request came with expires: no call begins later. */
  readonly authorizedUntilMs?: number;
  /** Names of servers the program is about to use: they are connected first, and missed at once. */
  readonly requestedServers?: readonly string[];
  readonly signal?: StopSignal;
  /** Told the run's id before anything of it runs. */
  readonly onBegin?: (runId: string) => void;
  readonly onLog?: (entry: LogEntry, runId: string) => void;
  /** The step of a trace that the run is a part of. */
  readonly trace?: TraceContext;
}

/** A classic script instead of a module. Its calls block it, so it is never suspended: it ends before its client gets a response. */
export interface ScriptRequest {
  /** The global `input`. */
  readonly input: JsonObject;
  /** Name of the global function that calls a tool: server, tool, arguments. */
  readonly callTool: string;
  /** Name of the one that runs a stored script: name, input. */
  readonly callScript: string;
  /** The only servers it may call; empty: all. */
  readonly allowedServers: readonly string[];
  /** Told of every call of a tool when it is over. */
  readonly onCall?: (ended: EndedScriptCall) => void;
}

/** A call as a script made it, without what was sent and answered. */
export interface EndedScriptCall {
  readonly server: string;
  readonly tool: string;
  readonly durationMs: number;
  /** Absent where it succeeded. */
  readonly error?: string;
}

export interface RunSummary {
  readonly runId: string;
  readonly label?: string;
  readonly outcome: Outcome;
  readonly logs: readonly LogEntry[];
  readonly logsCut: boolean;
  readonly trace: readonly TraceEntry[];
  readonly durationMs: number;
  readonly usage: ResourceUsage;
  /** The engine in which it ended; absent for programs of other interpreters. */
  readonly engine?: EngineName;
  /** Calls that were sent to servers, whatever the outcome. */
  readonly callCount: number;
  /** Whether the program may be run again: nothing that it called minds being called twice. */
  readonly isRepeatable: boolean;
  /** Failed calls, by error message. */
  readonly failures: ReadonlyMap<string, CallFailure>;
  readonly limits: Limits;
  readonly isolation: IsolationLevel;
  /** Tool answers that do not match the declared output schema. */
  readonly warnings: readonly string[];
  /** Arguments that a tool does not declare and that were probably meant to be others. */
  readonly misnamed?: readonly string[];
  /** It gave no result and logged nothing, and its source does not say what the result is. */
  readonly isSilent?: boolean;
  /** Paginated answers with a next page that the program did not request. */
  readonly partialAnswers: readonly PartialAnswer[];
  /** The number of redactions in answers and in the program's result, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  readonly unavailable: readonly UnavailableServer[];
  /** Where no server is configured: what the user has to type. */
  readonly notice?: string;
  /** Types of servers that this caller has used for the first time and was not told about before. */
  readonly declarations: readonly ServerTypes[];
  /** MCP content blocks that were removed from the result because it was too large with them. */
  readonly media?: readonly JsonObject[];
  /** Under which name a result too large to pass on is kept. */
  readonly keptResult?: { readonly handle: string; readonly bytes: number; readonly mostBytes: number };
  /** Calls without an answer that may have taken effect (`server/tool`). */
  readonly unfinished?: readonly string[];
  /** Keeps the messages of all logs for a later run, and gives the name. Absent where nothing is kept between runs. */
  readonly keepLogs?: () => string;
  /** What the types of a program that failed may explain. */
  readonly typeWarnings?: readonly TypeProblem[];
  /** Why its types were not checked: the checker was there and failed. Said once in a session. */
  readonly typesUnchecked?: string;
  /** Under which name is kept what a program that failed had assigned to its result by then. */
  readonly keptSoFar?: { readonly handle: string; readonly bytes: number };
}

export interface ServerTypes {
  readonly path: string;
  /** Export names of the tools that are declared, and `*` where as many came as there was room for. */
  readonly tools: readonly string[];
  readonly text: string;
  /** The server came after the client had its list of tools. */
  readonly isNew?: true;
}

export interface UnavailableServer {
  readonly name: string;
  readonly reason: string;
  /** What to write instead, where the name is wrong. Otherwise the user has to look. */
  readonly hint?: string;
  /** It may still come: the same program may work in a few seconds. */
  readonly isStarting?: true;
  /** The request itself asked for it. */
  readonly isRequested?: true;
}

/** A run that is suspended until a person has decided. */
export interface SuspendedSummary {
  readonly runId: string;
  readonly label?: string;
  readonly approvals: readonly Approval[];
  readonly logs: readonly LogEntry[];
  readonly trace: readonly TraceEntry[];
  /** Calls that were sent to servers so far. */
  readonly callCount: number;
  /** Used until it was suspended. */
  readonly durationMs: number;
  readonly usage: ResourceUsage;
}

export interface EndedAnswer {
  readonly state: EndedState;
  readonly summary: RunSummary;
}

export type RunAnswer =
  | EndedAnswer
  | { readonly state: 'suspended'; readonly summary: SuspendedSummary }
  | { readonly state: 'running'; readonly runId: string };

export function isEnded(answer: RunAnswer): answer is EndedAnswer {
  return answer.state !== 'suspended' && answer.state !== 'running';
}

/** The words of one contract, as far as a run needs them. */
export interface Presentation {
  reply(outcome: BrokerOutcome): CallReply;
  /** What a program works with of an answer, where its contract puts something around it. */
  seen?(answer: JsonValue): JsonValue;
  /** Brings the arguments of a call into the one that tools take; absent where programs give them so. */
  arrange?(tool: Tool, input: readonly JsonValue[]): readonly JsonValue[];
  /** Takes what is not text out of a result that is too large to pass on as it is. */
  separateMedia?(
    resultJson: string,
  ): { readonly resultJson: string; readonly media: readonly JsonObject[] } | undefined;
  response(summary: RunSummary): JsonValue;
  suspended(summary: SuspendedSummary): JsonValue;
}

/** What is known of a run besides its program, before anything of it has run. */
export interface RunFacts {
  readonly label?: string;
  readonly context: RunContext;
  readonly limits: Limits;
  readonly requestedServers: readonly string[];
  /** What its client's token granted; absent: whatever the configuration allows. */
  readonly bounds?: CapabilitySet;
}

/** A call that a program made, with the arguments as values. */
export interface MadeCall {
  readonly call: GuestCall;
  readonly input: readonly JsonValue[];
}
