import type { BrokerOutcome } from '../broker/broker.js';
import type { RunContext } from '../broker/run-context.js';
import type { Approval } from '../domain/approval.js';
import type { CapabilitySet } from '../domain/capability.js';
import type { CallReply, GuestCall, LogEntry, Outcome, ResourceUsage, SourceLanguage } from '../domain/execution.js';
import type { IsolationLevel } from '../domain/isolation.js';
import type { JsonObject, JsonValue } from '../domain/json.js';
import type { Limits } from '../domain/limits.js';
import type { Respondent } from '../domain/question.js';
import type { OnStep } from '../domain/step.js';
import type { StopSignal } from '../domain/stop-signal.js';
import type { Tool } from '../domain/tool.js';
import type { TraceContext } from '../domain/trace.js';
import type { AskPerson } from './execution.js';
import type { PartialAnswer } from './partial-answers.js';
import type { CallFailure } from './tool-calls.js';
import type { TraceEntry } from './tool-trace.js';

export interface RunRequest {
  readonly source: string;
  readonly language: SourceLanguage;
  readonly limits: Limits;
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
  /** The client gives up about then: a run that takes longer is answered with its id and goes on. */
  readonly answerWithinMs?: number;
  /** A way to the person in front of the client, where it has one. */
  readonly askPerson?: AskPerson;
  /** The person is asked with the answer: a program that waits for one is suspended at once, and `askPerson` is for those that cannot be. */
  readonly suspendsToAsk?: boolean;
  /** Told the run's id before anything of it runs. */
  readonly onBegin?: (runId: string) => void;
  /** Who answers what servers ask while they work on its calls. */
  readonly respondent?: Respondent;
  readonly onLog?: (entry: LogEntry, runId: string) => void;
  readonly onProgress?: (message: string) => void;
  readonly onStep?: OnStep;
  /** Told what the client should know besides the answer, for contracts that have no place for it. */
  readonly onNotice?: (text: string) => void;
  /** The step of a trace that the run is a part of. */
  readonly trace?: TraceContext;
}

/** How a person is asked about calls that a run makes once it was resumed. */
export type AskingWays = Pick<RunRequest, 'askPerson' | 'suspendsToAsk'>;

/** A classic script instead of a module. Its calls block it, so it is not put away: it ends before its client is answered. */
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
  /** Calls of servers that were sent, whatever came back. */
  readonly callCount: number;
  /** Whether the program may be run again: nothing that it called minds being called twice. */
  readonly isRepeatable: boolean;
  /** What calls failed with, by the words. */
  readonly failures: ReadonlyMap<string, CallFailure>;
  readonly limits: Limits;
  readonly isolation: IsolationLevel;
  /** What came back from tools and was not what they promise. */
  readonly warnings: readonly string[];
  /** Answers that said there is more, where the program did not go on. */
  readonly partialAnswers: readonly PartialAnswer[];
  /** How often something was taken out of answers and of what the program gave back, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  readonly unavailable: readonly UnavailableServer[];
  /** Where no server is configured: what the user has to type. */
  readonly notice?: string;
  /** Types of servers that this caller has used for the first time and was not told about before. */
  readonly declarations: readonly ServerTypes[];
  /** What was taken out of the result because it was too large with it: MCP content blocks. */
  readonly media?: readonly JsonObject[];
  /** Under which name a result too large to hand over is kept. */
  readonly keptResult?: { readonly handle: string; readonly bytes: number; readonly mostBytes: number };
  /** Keeps the messages of all logs for a later run, and gives the name. Absent where nothing is kept between runs. */
  readonly keepLogs?: () => string;
  /** Under which name is kept what a program that failed had assigned to its result by then. */
  readonly keptSoFar?: { readonly handle: string; readonly bytes: number };
}

export interface ServerTypes {
  readonly path: string;
  /** Export names of the tools that are declared. */
  readonly tools: readonly string[];
  readonly text: string;
  /** The server came after the client had its list of tools. */
  readonly isNew?: true;
}

export interface UnavailableServer {
  readonly name: string;
  readonly reason: string;
  /** It may still come: the same program may work in a few seconds. */
  readonly isStarting?: true;
  /** The request itself asked for it. */
  readonly isRequested?: true;
}

/** A run that sleeps until a person has decided. */
export interface SleepSummary {
  readonly runId: string;
  readonly label?: string;
  readonly approvals: readonly Approval[];
  readonly logs: readonly LogEntry[];
  readonly trace: readonly TraceEntry[];
  /** Calls of servers that were sent so far. */
  readonly callCount: number;
}

export type RunAnswer =
  | { readonly state: 'finished'; readonly summary: RunSummary }
  | { readonly state: 'asleep'; readonly summary: SleepSummary }
  | { readonly state: 'running'; readonly runId: string };

/** The words of one contract, as far as a run needs them. */
export interface Presentation {
  reply(outcome: BrokerOutcome): CallReply;
  /** Brings the arguments of a call into the one that tools take; absent where programs give them so. */
  arrange?(tool: Tool, input: readonly JsonValue[]): readonly JsonValue[];
  /** Takes what is not text out of a result that is too large to hand over as it is. */
  separateMedia?(
    resultJson: string,
  ): { readonly resultJson: string; readonly media: readonly JsonObject[] } | undefined;
  response(summary: RunSummary): JsonValue;
  sleeping(summary: SleepSummary): JsonValue;
}

/** What is known of a run besides its program, before anything of it has run. */
export interface RunFacts {
  readonly label?: string;
  readonly context: RunContext;
  readonly limits: Limits;
  readonly requestedServers: readonly string[];
}

/** A call that a program made, with the arguments as values. */
export interface MadeCall {
  readonly call: GuestCall;
  readonly input: readonly JsonValue[];
}
