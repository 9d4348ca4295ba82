import type { Broker, BrokerOutcome } from '../../broker/broker.js';
import type { CallDelegate } from '../../broker/call.js';
import type { CapabilityTool } from '../../broker/capabilities/capability-tools.js';
import { isServerGranted } from '../../broker/capabilities/run-grants.js';
import { lostAnswerError } from '../../broker/refusals.js';
import { replyBytes } from '../../broker/reply-bytes.js';
import type { RunContext } from '../../broker/run-context.js';
import { type CatalogSnapshot, isUnavailable } from '../../catalog/snapshot.js';
import type { ApprovalState } from '../../domain/approval.js';
import type { CallVerdict } from '../../domain/audit.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Respondent } from '../../domain/question.js';
import type { CallReply, GuestCall, GuestError, RunFigures } from '../../domain/run.js';
import { isRepeatable } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { visibleLine } from '../../lib/text/visible-text.js';
import type { SentCall } from '../processes/continuation.js';
import { type CallRetry, MAX_RETRIES } from '../recordings/run-notes.js';
import type { RunCallDelegate, RunClient } from '../runs/run.js';
import { type CallFailure, failureOf, isOwnServer } from './call-failure.js';
import { type CallForm, type CallingProgram, namedIn, observe } from './call-form.js';
import {
  noSuchTool,
  propertyCount,
  serverDown,
  tooManyArguments,
  tooManyCalls,
  ungrantedServer,
} from './call-refusals.js';
import { type CalledTool, calledName } from './called-tool.js';
import { isJsonText } from './json-text-hint.js';
import { misnamedArguments } from './misnamed-arguments.js';
import { PartialAnswers, type PartialSoFar } from './partial-answers.js';
import { type TraceEntry, traceOf } from './tool-trace.js';
import { UnfinishedCalls, unfinishedSummary } from './unfinished-calls.js';

export interface ToolCallsOptions extends CallForm {
  readonly run: RunContext;
  /** The tools that the run sees. */
  readonly seen: { readonly snapshot: CatalogSnapshot };
  readonly broker: Broker;
  readonly maxToolCalls: number;
  readonly client: RunClient;
}

/** The stored calls of a suspended run. */
export interface CallsSoFar {
  readonly trace: readonly TraceEntry[];
  readonly warnings: readonly string[];
  readonly redactions: Readonly<Record<string, number>>;
  readonly made: number;
  /** The number of these calls that were sent to servers. Absent if an older codemode suspended the run. */
  readonly sent?: number;
  /** Bytes that tools have answered. */
  readonly toolBytes?: number;
  readonly partial?: PartialSoFar;
  readonly retries?: readonly CallRetry[];
}

const NO_CALLS: CallsSoFar = { trace: [], warnings: [], redactions: {}, made: 0, sent: 0 };

/** A program may fail with one of these errors. It meets the first ones first. */
const MAX_KNOWN_FAILURES = 100;
/** For each kind, for a hint. */
const MAX_NOTED = 3;
const MAX_TRACE_ENTRIES = 10_000;

/** The tool calls of one program: counts, makes and traces them. The trace never contains inputs or outputs. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly trace: TraceEntry[];
  readonly warnings: Set<string>;
  /** Arguments that were probably misspelt. */
  readonly misnamed = new Set<string>();
  /** Runs that the program waited for and that failed, each with its error. */
  readonly failedRuns = new Set<string>();
  /** Tools whose answer was text that looks like JSON: `server/tool`. */
  readonly jsonTexts = new Set<string>();
  /** Calls without an answer. */
  readonly unfinished = new UnfinishedCalls();
  /** Tracks answers that said there is more. */
  readonly partialAnswers: PartialAnswers;
  /** Attempts that failed before a call was sent again. */
  readonly retries: CallRetry[];
  /** The number of redactions in answers, by kind. */
  readonly redactions: Record<string, number>;
  /** The decisions of people, if approvals were needed. */
  readonly approvalStates = new Set<ApprovalState>();
  /** By error message: the server that failed a call, and the capability that the request was missing. */
  readonly failures = new Map<string, CallFailure>();
  /** Whether everything the program called may be called again. Only then may the whole program be run again. */
  isRepeatable = true;
  #made: number;
  #sent: number;
  #toolBytes: number;

  /** `soFar`: the calls of a resumed run before it was suspended. */
  constructor(options: ToolCallsOptions, soFar: CallsSoFar = NO_CALLS) {
    this.#options = options;
    this.trace = [...soFar.trace];
    this.warnings = new Set(soFar.warnings);
    this.redactions = { ...soFar.redactions };
    this.partialAnswers = new PartialAnswers(soFar.partial);
    this.retries = [...(soFar.retries ?? [])];
    this.#made = soFar.made;
    this.#sent = soFar.sent ?? soFar.made;
    this.#toolBytes = soFar.toolBytes ?? 0;
  }

  /** Calls that were sent to servers, whatever the outcome. */
  get sentCount(): number {
    return this.#sent;
  }

  /** For lists of runs. */
  get figures(): RunFigures {
    return { calls: Math.min(this.#made, this.#options.maxToolCalls), toolBytes: this.#toolBytes };
  }

  /** The trace of an ended program, including calls that were in flight. */
  traceAtEnd(): readonly TraceEntry[] {
    return [...this.trace, ...this.unfinished.trace()].slice(0, MAX_TRACE_ENTRIES);
  }

  /** What the program writes for the servers that it called, by path. */
  get serverNames(): ReadonlyMap<string, string> {
    const { seen, namesOf } = this.#options;
    const names = new Map<string, string>();
    if (namesOf === undefined) return names;
    for (const path of new Set(this.traceAtEnd().map(({ serverId }) => serverId))) {
      const [tool] = seen.snapshot.serverByPath.get(path)?.tools ?? [];
      if (tool !== undefined) names.set(path, namesOf(tool).serverName);
    }
    return names;
  }

  get soFar(): CallsSoFar {
    return {
      trace: this.trace,
      warnings: [...this.warnings],
      redactions: this.redactions,
      made: this.#made,
      sent: this.#sent,
      toolBytes: this.#toolBytes,
      partial: this.partialAnswers.soFar,
      retries: this.retries,
    };
  }

  /** Notes the first error in the answer of a run that the program waited for. */
  noteFailedRun(runId: string, response: JsonValue): void {
    const { diagnostics } = (isJsonObject(response) ? response : {}) as JsonObject;
    const errors = (Array.isArray(diagnostics) ? diagnostics : []).filter(isJsonObject);
    const { message } = errors.find(({ severity }) => severity === 'error') ?? {};
    if (typeof message === 'string' && this.failedRuns.size < MAX_NOTED)
      this.failedRuns.add(`run ${runId} failed: ${message}`);
  }

  /** The run's own program. */
  get own(): CallingProgram {
    return { run: this.#options.run, form: this.#options };
  }

  /** Finds the tool, counts the call and sends it. `by`: the program, if it is not the run's own. */
  async callTool(
    call: GuestCall,
    given: readonly JsonValue[],
    delegate: RunCallDelegate,
    by: CallingProgram = this.own,
  ): Promise<CallReply> {
    const { seen, maxToolCalls } = this.#options;
    const { run, form } = by;
    const { arrange, present } = form;
    const { snapshot } = seen;
    const listed = snapshot.toolByTarget.get(call.target);
    const found = listed === undefined ? await grantedTool(run, call.target) : namedIn(form, listed);
    if (found === undefined) return present({ ok: false, error: this.#missing(call.target, snapshot, run) });
    const input = arrange?.(found.tool, given) ?? given;
    if (!this.countOne()) {
      const error = tooManyCalls(maxToolCalls);
      // Only the first such call is recorded: a loop would fill the disk.
      return this.#made === maxToolCalls + 1
        ? this.refuse(found, call, error, 'limited', delegate, by)
        : present({ ok: false, error, verdict: 'limited' });
    }
    if (input.length > 1) {
      const error = tooManyArguments(found, input.length, arrange === undefined ? 1 : propertyCount(found.tool));
      return this.refuse(found, call, error, 'invalid_arguments', delegate, by);
    }
    return this.send(found, call, input[0], delegate, by);
  }

  /** Why the tool is missing: its server is down, or no server has it. */
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

  /** Whether one more call may be made. Every call counts, even one that is refused or fails. */
  countOne(): boolean {
    return ++this.#made <= this.#options.maxToolCalls;
  }

  /** Refuses a call that never reached the pipeline, and records that. */
  async refuse(
    found: CalledTool,
    { number }: GuestCall,
    error: GuestError,
    verdict: CallVerdict,
    delegate: RunCallDelegate,
    { run, form }: CallingProgram = this.own,
  ): Promise<CallReply> {
    const { broker } = this.#options;
    return form.present(
      await broker.refuse({ run, number, input: undefined, ...targetOf(found, delegate) }, error, verdict),
    );
  }

  /** Notes a call of no tool. To a script its error is a value, which the script may not look at. */
  noteRefused(names: Pick<TraceEntry, 'serverId' | 'toolName'>, { message, hint }: GuestError): void {
    const error = hint === '' ? message : `${message}. ${hint}`;
    if (this.trace.length < MAX_TRACE_ENTRIES) this.trace.push({ ...names, durationMs: 0, ok: false, error });
    this.#remember({ message: error }, { serverId: names.serverId });
  }

  /** Passes a counted call to the broker and records its outcome. */
  async send(
    found: CalledTool,
    call: GuestCall,
    input: JsonValue | undefined,
    delegate: RunCallDelegate,
    { run, form }: CallingProgram = this.own,
  ): Promise<CallReply> {
    const { tool, server } = found;
    const outcome = await this.carryOut(found, call, input, delegate, run);
    const reply = form.present(outcome);
    if (delegate.isSuspended?.() === true && !outcome.ok && outcome.verdict === 'pending') return reply;
    if (reply.ok && this.jsonTexts.size < MAX_NOTED && isJsonText(reply.json))
      this.jsonTexts.add(visibleLine(`${server.path}/${tool.name}`));
    if (reply.ok && outcome.ok && tool.outputSchema === undefined) observe(form, tool, reply.json, outcome.reply);
    return reply;
  }

  /** The same, but returns the raw outcome: for calls whose answer does not go to the program. */
  async carryOut(
    found: CalledTool,
    { number }: Pick<GuestCall, 'number'>,
    input: JsonValue | undefined,
    delegate: RunCallDelegate,
    run: RunContext = this.#options.run,
  ): Promise<BrokerOutcome> {
    const { broker, client } = this.#options;
    const { onProgress, respondent } = client;
    const { tool, server, serverName = server.path } = found;
    const { signal, isReplayed, locate, remainingMs, onPending, onDecided } = delegate;
    if (!isRepeatable(tool)) this.isRepeatable = false;
    const startedAt = performance.now();
    const unfinished = this.unfinished.begin(server.path, tool, serverName);
    const outcome = await broker.handle({
      run,
      number,
      input,
      ...targetOf(found, {
        // Named one by one: an object that is spread, and of which a field is replaced, takes 400 ns instead of 15.
        signal,
        isReplayed,
        locate,
        remainingMs,
        onPending,
        onDecided,
        onSending: () => {
          unfinished.isSent = true;
          if (!isOwnServer(tool.serverId)) this.#sent++;
          return delegate.onSending();
        },
        onRetry: (failure) => {
          if (this.retries.length < MAX_RETRIES) this.retries.push({ call: number, atMs: Date.now(), failure });
        },
      }),
      ...(respondent && { respondent: reported(respondent, delegate) }),
      ...(onProgress && {
        onProgress: ({ message, progress, total }) =>
          onProgress(`${calledName(found)}: ${message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`}`),
      }),
    });
    const wasCancelled = !outcome.ok && outcome.verdict === 'cancelled';
    this.unfinished.end(unfinished, wasCancelled);
    if (delegate.isSuspended?.() === true && !outcome.ok && outcome.verdict === 'pending') {
      // The call has had no effect yet. It is made, counted and traced again when the run is resumed.
      this.#made -= 1;
      return outcome;
    }
    const entry = traceOf(found, outcome, performance.now() - startedAt);
    if (this.trace.length < MAX_TRACE_ENTRIES)
      this.trace.push(wasCancelled ? { ...entry, error: unfinishedSummary(unfinished) } : entry);
    if (outcome.reply !== undefined) this.#toolBytes += replyBytes(outcome.reply);
    if (!outcome.ok) this.#remember(outcome.error, failureOf(tool, outcome));
    if (outcome.redactions !== undefined) this.countRedactions(outcome.redactions);
    if (outcome.approval !== undefined) this.approvalStates.add(outcome.approval.state);
    if (outcome.ok) {
      for (const warning of outcome.warnings) this.warnings.add(warning);
      if (this.misnamed.size < MAX_NOTED)
        for (const each of misnamedArguments(() => visibleLine(`${serverName}/${tool.name}`), tool, input))
          this.misnamed.add(each);
      const setPlace = this.partialAnswers.note(server.path, tool, { number, input }, outcome.reply);
      // Located while the call is open: afterwards the position is unknown. Lines of a stored script are not lines of the program.
      if (setPlace !== undefined && run === this.#options.run) setPlace((await delegate.locate())[0]);
    }
    return outcome;
  }

  /**
   * Answers a call from the record of an earlier run. Undefined if that is not allowed: the call is then made or refused like any
   * other.
   */
  async reuseAnswer(call: GuestCall, given: JsonValue | undefined, sent: SentCall, delegate: RunCallDelegate) {
    const { seen, run, broker, present } = this.#options;
    const listed = seen.snapshot.toolByTarget.get(call.target);
    if (listed === undefined || this.#made >= this.#options.maxToolCalls) return undefined;
    const found = namedIn(this.#options, listed);
    const target = targetOf(found, delegate);
    // The outcome is unknown. A call that changes nothing is made again.
    if (sent.reply === undefined && isRepeatable(found.tool)) return undefined;
    if (!(await broker.admitReuse({ run, number: call.number, input: given, ...target }))) return undefined;
    this.countOne();
    const lost = { ok: false, error: lostAnswerError(target), verdict: 'outcome_unknown' } as const;
    const reply = sent.reply ?? present(lost);
    const entry = { serverId: found.server.path, toolName: found.tool.name, durationMs: 0 };
    if (this.trace.length < MAX_TRACE_ENTRIES)
      this.trace.push(reply.ok ? { ...entry, ok: true } : { ...entry, ok: false, error: 'failed in an earlier run' });
    return reply;
  }

  countRedactions(counts: Readonly<Record<string, number>>): void {
    for (const [kind, count] of Object.entries(counts)) this.redactions[kind] = (this.redactions[kind] ?? 0) + count;
  }

  #remember({ message }: Pick<GuestError, 'message'>, failure: CallFailure): void {
    if (this.failures.size < MAX_KNOWN_FAILURES) this.failures.set(message, failure);
  }
}

function targetOf(
  { tool, server, exportName, serverName }: CalledTool,
  delegate: CallDelegate & Pick<RunCallDelegate, 'signal'>,
) {
  const named = omitUndefined({ serverName });
  return { tool, serverPath: server.path, exportName, ...named, signal: delegate.signal, delegate };
}

/** The program's timeout is paused while its client is asked. */
function reported(respondent: Respondent, { onHeld }: RunCallDelegate): Respondent {
  const { key, caller, capabilities } = respondent;
  let open = 0;
  return {
    key,
    caller,
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

/** The tool that a capability grants, under contracts with capabilities. Its code is loaded at the first use. */
async function grantedTool({ grants }: RunContext, target: string): Promise<CapabilityTool | undefined> {
  if (grants === undefined || !target.startsWith('codemode/')) return undefined;
  return (await import('../../broker/capabilities/capability-tools.js')).CAPABILITY_TOOLS.get(target);
}
