import type { Broker, BrokerOutcome } from '../broker/broker.js';
import type { CapabilityTool } from '../broker/capabilities/capability-tools.js';
import { isServerGranted } from '../broker/capabilities/run-grants.js';
import type { RunContext } from '../broker/run-context.js';
import { type CatalogSnapshot, isUnavailable } from '../catalog/snapshot.js';
import type { ApprovalState } from '../domain/approval.js';
import type { CallVerdict } from '../domain/audit.js';
import type { CallReply, GuestCall, GuestError } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
import type { Respondent } from '../domain/question.js';
import { isRepeatable, type Tool } from '../domain/tool.js';
import {
  noSuchTool,
  propertyCount,
  serverDown,
  tooManyArguments,
  tooManyCalls,
  ungrantedServer,
} from './call-refusals.js';
import type { CalledTool } from './called-tool.js';
import type { CallHooks } from './execution.js';
import { PartialAnswers, type PartialSoFar } from './partial-answers.js';
import { type FailedCall, type TraceEntry, traceOf } from './tool-trace.js';
import { UnfinishedCalls, unfinishedSummary } from './unfinished-calls.js';

export interface CallFailure {
  readonly serverId: string;
  readonly violation?: string;
  readonly verdict?: CallVerdict;
  /** The token that let the run in had expired. */
  readonly isExpired?: true;
  /** What came of asking a person. */
  readonly approvalState?: ApprovalState;
}

export interface ToolCallsOptions {
  readonly run: RunContext;
  /** The tools that the run sees. */
  readonly seen: { readonly snapshot: CatalogSnapshot };
  readonly broker: Broker;
  readonly maxToolCalls: number;
  /** The contract's words for an outcome. */
  readonly present: (outcome: BrokerOutcome) => CallReply;
  /** The contract's way to give arguments. */
  readonly arrange?: (tool: Tool, input: readonly JsonValue[]) => readonly JsonValue[];
  /** Learns the shape of what a tool without a declared output has answered. Absent: nothing is learned. */
  readonly observe?: (tool: Tool, value: JsonValue) => void;
  readonly onProgress?: (message: string) => void;
  /** Who answers what servers ask while they work on a call. */
  readonly respondent?: Respondent;
}

/** What a program that sleeps has done. */
export interface CallsSoFar {
  readonly trace: readonly TraceEntry[];
  readonly warnings: readonly string[];
  readonly redactions: Readonly<Record<string, number>>;
  readonly made: number;
  /** Of these, calls of servers that were sent; a run that an older codemode suspended does not say. */
  readonly sent?: number;
  readonly partial?: PartialSoFar;
}

const NO_CALLS: CallsSoFar = { trace: [], warnings: [], redactions: {}, made: 0, sent: 0 };

/** Larger answers are not worth the time it takes to look at them. */
const MAX_OBSERVED_CHARACTERS = 500_000;
/** Of one of them a program may die; it meets the first ones first. */
const MAX_KNOWN_FAILURES = 100;
const MAX_TRACE_ENTRIES = 10_000;

/** The tool calls of one program: counted, made, traced. The trace never holds inputs or outputs. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly trace: TraceEntry[];
  readonly warnings: Set<string>;
  /** Those without an answer. */
  readonly unfinished = new UnfinishedCalls();
  /** Which answers said that there is more. */
  readonly partialAnswers: PartialAnswers;
  /** How often something was taken out of an answer, by kind. */
  readonly redactions: Record<string, number>;
  /** What came of asking people, where they had to be asked. */
  readonly approvalStates = new Set<ApprovalState>();
  /** Which server failed a call with these words, and what the request would have had to be granted. */
  readonly failures = new Map<string, CallFailure>();
  /** Whether everything that it called may be called again: only then may the whole program be. */
  isRepeatable = true;
  #made: number;
  #sent: number;

  /** `soFar`: of a program that slept. */
  constructor(options: ToolCallsOptions, soFar: CallsSoFar = NO_CALLS) {
    this.#options = options;
    this.trace = [...soFar.trace];
    this.warnings = new Set(soFar.warnings);
    this.redactions = { ...soFar.redactions };
    this.partialAnswers = new PartialAnswers(soFar.partial);
    this.#made = soFar.made;
    this.#sent = soFar.sent ?? soFar.made;
  }

  /** Calls of servers that were sent, whatever came back. */
  get sentCount(): number {
    return this.#sent;
  }

  /** Of a program that has ended: with the calls that were under way. */
  traceAtEnd(): readonly TraceEntry[] {
    return [...this.trace, ...this.unfinished.trace()].slice(0, MAX_TRACE_ENTRIES);
  }

  get soFar(): CallsSoFar {
    return {
      trace: this.trace,
      warnings: [...this.warnings],
      redactions: this.redactions,
      made: this.#made,
      sent: this.#sent,
      partial: this.partialAnswers.soFar,
    };
  }

  /** `run`: on whose behalf, where it is not the run's own program that calls. */
  async answer(
    call: GuestCall,
    given: readonly JsonValue[],
    hooks: CallHooks,
    run: RunContext = this.#options.run,
  ): Promise<CallReply> {
    const { seen, maxToolCalls, arrange, present } = this.#options;
    const { snapshot } = seen;
    const found = snapshot.toolByTarget.get(call.target) ?? (await grantedTool(run, call.target));
    if (found === undefined) return present({ ok: false, error: this.#missing(call.target, snapshot, run) });
    const input = arrange?.(found.tool, given) ?? given;
    if (!this.countOne()) {
      const error = tooManyCalls(maxToolCalls);
      // Only the first is put on record: a loop would fill the disk.
      return this.#made === maxToolCalls + 1
        ? this.refuse(found, call, error, 'limited', hooks, run)
        : present({ ok: false, error, verdict: 'limited' });
    }
    if (input.length > 1) {
      const error = tooManyArguments(found, input.length, arrange === undefined ? 1 : propertyCount(found.tool));
      return this.refuse(found, call, error, 'invalid_arguments', hooks, run);
    }
    return this.make(found, call, input[0], hooks, run);
  }

  /** Why there is no such tool: its server is down, or nobody has it. */
  #missing(target: string, snapshot: CatalogSnapshot, { grants }: RunContext): GuestError {
    const server = snapshot.servers.find((each) => isUnavailable(each) && target.startsWith(`${each.path}/`));
    if (server === undefined) return noSuchTool(target, snapshot);
    const isGranted = grants === undefined || isServerGranted(server.id, grants.mcp);
    const error = isGranted ? serverDown(server, target) : ungrantedServer(server, target);
    const violation = error.fields?.violation;
    this.#remember(error, {
      serverId: server.id,
      verdict: 'not_sent',
      ...(typeof violation === 'string' ? { violation } : {}),
    });
    return error;
  }

  /** Whether one more call may be made. Every call counts, also one that comes to nothing. */
  countOne(): boolean {
    return ++this.#made <= this.#options.maxToolCalls;
  }

  /** Answers with an error what never reached the pipeline, and puts that on record. */
  async refuse(
    found: CalledTool,
    { number }: GuestCall,
    error: GuestError,
    verdict: CallVerdict,
    hooks: CallHooks,
    run: RunContext = this.#options.run,
  ): Promise<CallReply> {
    const { broker, present } = this.#options;
    return present(await broker.refuse({ run, number, input: undefined, ...wishFor(found, hooks) }, error, verdict));
  }

  /** Makes a call that was counted. */
  async make(
    found: CalledTool,
    { number }: GuestCall,
    input: JsonValue | undefined,
    hooks: CallHooks,
    run: RunContext = this.#options.run,
  ): Promise<CallReply> {
    const { broker, present, onProgress, respondent } = this.#options;
    const { tool, server, exportName } = found;
    if (!isRepeatable(tool)) this.isRepeatable = false;
    const startedAt = performance.now();
    const unfinished = this.unfinished.begin(server.path, tool);
    const outcome = await broker.handle({
      run,
      number,
      input,
      ...wishFor(found, hooks),
      onSending: () => {
        unfinished.isSent = true;
        if (!isOwnServer(tool.serverId)) this.#sent++;
        hooks.onSending?.();
      },
      ...(respondent && { respondent: reported(respondent, hooks) }),
      ...(onProgress && {
        onProgress: ({ message, progress, total }) =>
          onProgress(
            `${server.path}.${exportName}: ${message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`}`,
          ),
      }),
    });
    const wasCancelled = !outcome.ok && outcome.verdict === 'cancelled';
    this.unfinished.end(unfinished, wasCancelled);
    if (hooks.isSuspended?.() === true && !outcome.ok && outcome.verdict === 'pending') {
      // Nothing has come of it yet: it is made again, counted and traced, when the run is resumed.
      this.#made -= 1;
      return present(outcome);
    }
    const entry = traceOf(found, outcome, performance.now() - startedAt);
    if (this.trace.length < MAX_TRACE_ENTRIES)
      this.trace.push(wasCancelled ? { ...entry, error: unfinishedSummary(unfinished) } : entry);
    if (!outcome.ok) this.#remember(outcome.error, failureOf(tool, outcome));
    if (outcome.redactions !== undefined) this.countRedactions(outcome.redactions);
    if (outcome.approval !== undefined) this.approvalStates.add(outcome.approval.state);
    if (outcome.ok) {
      for (const warning of outcome.warnings) this.warnings.add(warning);
      const setPlace = this.partialAnswers.note(server.path, tool, input, outcome.reply);
      // Asked while the call is open: afterwards nobody can tell. Lines of a stored script are not lines of the program.
      if (setPlace !== undefined && run === this.#options.run) setPlace((await hooks.locate())[0]);
    }
    const reply = present(outcome);
    if (reply.ok && tool.outputSchema === undefined) this.#observe(tool, reply.json);
    return reply;
  }

  countRedactions(counts: Readonly<Record<string, number>>): void {
    for (const [kind, count] of Object.entries(counts)) this.redactions[kind] = (this.redactions[kind] ?? 0) + count;
  }

  #remember({ message }: GuestError, failure: CallFailure): void {
    if (this.failures.size < MAX_KNOWN_FAILURES) this.failures.set(message, failure);
  }

  #observe(tool: Tool, json: string | Uint8Array): void {
    const { observe } = this.#options;
    if (observe !== undefined && typeof json === 'string' && json.length <= MAX_OBSERVED_CHARACTERS)
      observe(tool, JSON.parse(json) as JsonValue);
  }
}

function wishFor({ tool, server, exportName }: CalledTool, hooks: CallHooks) {
  return { tool, serverPath: server.path, exportName, ...hooks };
}

/** The program does not spend its time while its client is asked. */
function reported(respondent: Respondent, { onHeld }: CallHooks): Respondent {
  const { key, capabilities } = respondent;
  let open = 0;
  return {
    key,
    capabilities,
    answer: async (question) => {
      if (open++ === 0) onHeld(true);
      try {
        return await respondent.answer(question);
      } finally {
        if (--open === 0) onHeld(false);
      }
    },
  };
}

/** Files are looked at where they are opened: what was not granted there is said in words. */
function failureOf({ serverId }: Tool, { error, verdict, approval }: FailedCall): CallFailure {
  const { message, fields } = error;
  const said = isOwnServer(serverId) ? /was not granted ((?:filesystem|network):.+)$/.exec(message)?.[1] : undefined;
  const violation = typeof fields?.violation === 'string' ? fields.violation : said;
  return {
    serverId,
    ...(violation === undefined ? {} : { violation }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(fields?.authorizationExpired === true ? { isExpired: true } : {}),
    ...(approval === undefined ? {} : { approvalState: approval.state }),
  };
}

/** One of ours, which capabilities grant: network and files. */
function isOwnServer(serverId: string): boolean {
  return serverId.startsWith('codemode/');
}

/** What a capability grants, for runs under a contract that knows them. The code that does it is loaded when it is used. */
async function grantedTool({ grants }: RunContext, target: string): Promise<CapabilityTool | undefined> {
  if (grants === undefined || !target.startsWith('codemode/')) return undefined;
  return (await import('../broker/capabilities/capability-tools.js')).CAPABILITY_TOOLS.get(target);
}
