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
import type { CallFailure } from '../calls/call-failure.js';
import type { PartialAnswer } from '../calls/partial-answers.js';
import type { TraceEntry } from '../calls/tool-trace.js';
import type { RunClient } from './run-client.js';

/** Learns of a run before anything of it runs. `createdAtMs`: the one that is stored and shown. */
export type OnBegin = (runId: string, createdAtMs: number) => void;

/** A program, and the client that waits for it. */
export interface RunRequest extends RunClient {
  readonly source: string;
  readonly language: SourceLanguage;
  readonly limits: Limits;
  /** Absent: the configured engine. */
  readonly engine?: EngineChoice;
  /** The client's name for the run. It is returned with the answer, however late that is. */
  readonly label?: string;
  /** Absent: the program is a module. */
  readonly script?: ScriptRequest;
  /** The input of a stored script: `input` of `@codemode/input`. */
  readonly input?: JsonObject;
  /** Present if the program is a function body: its `context`. */
  readonly context?: JsonObject;
  /** The capabilities of the program; absent under contracts without capabilities. */
  readonly grants?: CapabilitySet;
  /** When the request's token expires. No call starts after that. */
  readonly authorizedUntilMs?: number;
  /** Names of servers that the program is about to use: they are connected first, and reported at once if missing. */
  readonly requestedServers?: readonly string[];
  readonly signal?: StopSignal;
  readonly onBegin?: OnBegin;
  readonly onLog?: (entry: LogEntry, runId: string) => void;
  /** The parent span. */
  readonly trace?: TraceContext;
}

/** A classic script instead of a module. Its calls block it, so it is never suspended: it ends before its client gets a response. */
export interface ScriptRequest {
  /** The global `input`. */
  readonly input: JsonObject;
  /** Name of the global function that calls a tool: server, tool, arguments. */
  readonly callTool: string;
  /** Name of the global function that runs a stored script: name, input. */
  readonly callScript: string;
  /** The only servers it may call; empty: all. */
  readonly allowedServers: readonly string[];
  /** Called with every tool call when it has ended. */
  readonly onCall?: (ended: EndedScriptCall) => void;
}

/** A script's call, without its input and answer. */
export interface EndedScriptCall {
  readonly server: string;
  readonly tool: string;
  readonly durationMs: number;
  /** Absent if it succeeded. */
  readonly error?: string;
}

export interface RunSummary {
  readonly runId: string;
  readonly label?: string;
  readonly outcome: Outcome;
  readonly logs: readonly LogEntry[];
  readonly logsCut: boolean;
  readonly trace: readonly TraceEntry[];
  /** What the program writes for the servers that it called, by path. Absent: the path. */
  readonly serverNames?: ReadonlyMap<string, string>;
  readonly durationMs: number;
  readonly usage: ResourceUsage;
  /** The engine in which the run ended; absent for programs on other interpreters. */
  readonly engine?: EngineName;
  /** Calls that were sent to servers, whatever the outcome. */
  readonly callCount: number;
  /** Whether the program may be run again: everything that it called is safe to call twice. */
  readonly isRepeatable: boolean;
  /** Failed calls, by error message. */
  readonly failures: ReadonlyMap<string, CallFailure>;
  readonly limits: Limits;
  readonly isolation: IsolationLevel;
  /** Tool answers that do not match the declared output schema. */
  readonly warnings: readonly string[];
  /** Arguments that a tool does not declare and that were probably misspelt. */
  readonly misnamed?: readonly string[];
  /** Runs that the program waited for and that failed, each with its error. */
  readonly failedRuns?: readonly string[];
  /** The program gave no result, logged nothing, and its source does not set the result. */
  readonly isSilent?: boolean;
  /** Paginated answers with a next page that the program did not request. */
  readonly partialAnswers: readonly PartialAnswer[];
  /** The number of redactions in answers and in the program's result, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  readonly unavailable: readonly UnavailableServer[];
  /** What the user has to type, if no server is configured. */
  readonly notice?: string;
  /** Types of servers that this caller has used for the first time and was not told about before. */
  readonly declarations: readonly ServerTypes[];
  /** MCP content blocks that were removed from the result because it was too large with them. */
  readonly media?: readonly JsonObject[];
  /** The handle of a result that is too large for the answer. */
  readonly keptResult?: { readonly handle: string; readonly bytes: number; readonly mostBytes: number };
  /** Calls without an answer that may have taken effect (`server/tool`). */
  readonly unfinished?: readonly string[];
  /** Keeps the messages of all logs for a later run and returns the handle. Absent if nothing is kept between runs. */
  readonly keepLogs?: () => string;
  /** Type warnings that may explain why the program failed. */
  readonly typeWarnings?: readonly TypeProblem[];
  /** Why types were not checked, if the checker was available and failed. Reported once in a session. */
  readonly typesUnchecked?: string;
  /** The handle of the result that a failed program had set so far. */
  readonly keptSoFar?: { readonly handle: string; readonly bytes: number };
}

export interface ServerTypes {
  readonly path: string;
  /** Export names of the declared tools, and `*` if as many were declared as fit. */
  readonly tools: readonly string[];
  readonly text: string;
  /** The server appeared after the client got its tool list. */
  readonly isNew?: true;
}

export interface UnavailableServer {
  readonly name: string;
  readonly reason: string;
  /** What to write instead, if the name is wrong. Otherwise the user has to check the server. */
  readonly hint?: string;
  /** The server may still come up: the same program may work in a few seconds. */
  readonly isStarting?: true;
  /** The request itself named the server. */
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
  /** Time used until it was suspended. */
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

/** The wording of one contract, as far as a run needs it. */
export interface Presentation {
  reply(outcome: BrokerOutcome): CallReply;
  /** The value inside an answer, if the contract wraps answers. */
  seen?(answer: JsonValue): JsonValue;
  /** Maps the arguments of a call to the tool's single input; absent if programs pass it that way. */
  arrange?(tool: Tool, input: readonly JsonValue[]): readonly JsonValue[];
  /** Separates media from a result that is too large to pass on. */
  separateMedia?(
    resultJson: string,
  ): { readonly resultJson: string; readonly media: readonly JsonObject[] } | undefined;
  response(summary: RunSummary): JsonValue;
  suspended(summary: SuspendedSummary): JsonValue;
  /** What a later program that waits for a run gets of its response; absent: all of it. */
  awaited?(response: JsonValue): JsonValue;
}

/** What is known about a run besides its program, before anything has run. */
export interface RunFacts {
  readonly label?: string;
  readonly context: RunContext;
  readonly limits: Limits;
  readonly requestedServers: readonly string[];
  /** The capabilities of its client's token; absent: whatever the configuration allows. */
  readonly bounds?: CapabilitySet;
}

/** A call that a program made, with the arguments as values. */
export interface MadeCall {
  readonly call: GuestCall;
  readonly input: readonly JsonValue[];
}
