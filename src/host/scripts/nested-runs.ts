import { randomUUID } from 'node:crypto';
import { Slots } from '../../broker/limits/slots.js';
import type { RunContext } from '../../broker/run-context.js';
import type { CallVerdict } from '../../domain/audit.js';
import { NUMBERS_OF_ONE_PROGRAM } from '../../domain/call-number.js';
import { isHostError } from '../../domain/errors.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Limits } from '../../domain/limits.js';
import type {
  CallReply,
  Failure,
  GuestCall,
  GuestError,
  LogEntry,
  Program,
  RunId,
  VirtualModule,
} from '../../domain/run.js';
import { CLASSIC_CALLS, type ScriptHead, type StoredScript } from '../../domain/script.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { RunReport } from '../../sandbox/run-report.js';
import type { Sandbox } from '../../sandbox/sandbox.js';
import type { CallForm } from '../calls/call-form.js';
import { type CallerTurns, PROGRAM_ENDED } from '../calls/caller-turns.js';
import { recordedCall } from '../recordings/recorded-call.js';
import { MAX_NESTED_ANSWER_CHARACTERS, MAX_NESTED_CALLS, type NestedScript } from '../recordings/run-notes.js';
import { Run, type RunCallDelegate, type RunClient } from '../runs/run.js';
import { type Asker, NestedCalls, type ProgramAnswerer } from './nested-calls.js';
import { scriptFunctions } from './script-functions.js';
import { inputModule, LIST_SCRIPTS, RUN_SCRIPT, SAVE_SCRIPT, scriptCalled, targetOfScript } from './scripts-module.js';
import type { ScriptLibrary } from './stored-scripts.js';

/** Nesting depth of scripts. A deeper nesting means that a script runs itself. */
const MAX_DEPTH = 4;
/** The most stored scripts of one run, at any depth. */
const MAX_RUNS = 100;
/** Concurrent nested runs of one depth; the others are queued. Each has its own memory, in one worker. */
const MAX_AT_ONCE = 8;

/** A call of `@codemode/scripts` that the policy decides about. */
export interface DecidedCall {
  /** The number as approvals have it. */
  readonly number: number;
  readonly delegate: RunCallDelegate;
  readonly asker: Asker;
}

/** The broker's decisions about stored scripts. */
export interface ScriptDecisions {
  /** Why a script must not run: its tools have changed, and nothing allows it anyway. Undefined: it may run. */
  refusalOf(script: StoredScript, call: DecidedCall): Promise<CallReply | undefined>;
  /** Stores a program for its caller, if allowed. Throws `bad_input` and `not_found`. */
  save(wish: JsonValue | undefined, call: DecidedCall): Promise<CallReply>;
}

/** The stored state of a suspended run's nested scripts. */
export interface NestedSoFar {
  readonly runs: number;
  readonly logs: readonly NestedLog[];
  readonly scripts?: readonly NestedScript[];
}

interface NestedLog extends Omit<LogEntry, 'timeMs'> {
  readonly atMs: number;
}

export interface NestedRunsOptions {
  readonly scripts: ScriptLibrary;
  readonly turns: CallerTurns;
  readonly sandbox: Sandbox;
  /** The modules of every program of the run, besides script functions. */
  readonly modules: (scripts: readonly ScriptHead[]) => readonly VirtualModule[];
  /** The limits of the run. Its scripts' usage counts towards them. */
  readonly limits: Limits;
  readonly calls: ProgramAnswerer;
  readonly decisions: ScriptDecisions;
  readonly patienceMs: number;
  readonly client: RunClient;
}

/**
 * The stored scripts that a run's program runs. Each gets its own sandbox and nothing else: its calls are calls of the run, with
 * the run's caller, budgets, limits and record of received data.
 */
export class NestedRuns {
  readonly #options: NestedRunsOptions;
  /** The scripts that were run, for people. */
  readonly scripts: NestedScript[];
  readonly #logs: NestedLog[];
  /** By depth: a queued script never holds a slot that a script ahead of it waits for. */
  readonly #places: Slots[] = [];
  #runs: number;
  #answerCharacters = 0;
  #logBytes: number;

  constructor(options: NestedRunsOptions, { runs, logs, scripts = [] }: NestedSoFar = { runs: 0, logs: [] }) {
    this.#options = options;
    this.#runs = runs;
    this.#logs = [...logs];
    this.scripts = [...scripts];
    this.#logBytes = options.limits.maxLogBytes;
    for (const { message } of logs) this.#logBytes -= Buffer.byteLength(message);
  }

  get soFar(): NestedSoFar {
    return { runs: this.#runs, logs: this.#logs, scripts: this.scripts };
  }

  /** The report of a run with the logs of its scripts included. */
  withLogs(report: RunReport): RunReport {
    if (this.#logs.length === 0) return report;
    const { startedAtMs } = report.journal;
    const ours = this.#logs.map(({ atMs, ...entry }) => ({ ...entry, timeMs: Math.max(0, atMs - startedAtMs) }));
    return { ...report, logs: [...report.logs, ...ours].sort((left, right) => left.timeMs - right.timeMs) };
  }

  /** Answers a call of `@codemode/scripts`. An invalid call is an error of the program. */
  async answer(
    target: string,
    input: readonly JsonValue[],
    delegate: RunCallDelegate,
    asker: Asker,
    /** The call's number as approvals have it. */
    number: number,
  ): Promise<CallReply> {
    try {
      if (target === LIST_SCRIPTS) return await this.#list(asker, delegate);
      if (target === RUN_SCRIPT) return await this.#run(input, delegate, asker, number);
      if (target === SAVE_SCRIPT) return await this.#options.decisions.save(input[0], { number, delegate, asker });
      const called = scriptCalled(target);
      if (called !== undefined) return await this.#run([called, ...input], delegate, asker, number);
    } catch (error) {
      if (!isHostError(error)) throw error;
      const errorClass = error.code === 'not_found' ? 'ToolNotFoundError' : 'ToolCallError';
      return refused(errorClass, error.message, 'See listScripts() of @codemode/scripts for what there is.');
    }
    return refused(
      'CodemodeError',
      `there is no ${target} in @codemode/scripts`,
      'Use listScripts, runScript or save.',
    );
  }

  /** Runs a script that a program calls as a tool of a server: what it returns is presented like the answer of a tool. */
  async answerAsTool(
    { tool, number, input }: { readonly tool: Tool; readonly number: number; readonly input: JsonValue | undefined },
    delegate: RunCallDelegate,
    asker: Asker,
    { present }: Pick<CallForm, 'present'>,
  ): Promise<CallReply> {
    const reply = await this.answer(targetOfScript(tool.name), [input ?? null], delegate, asker, number);
    if (!reply.ok)
      return 'ends' in reply ? reply : present({ ok: false, error: reply.error, ...verdictOf(reply.error) });
    const structuredJson = textOf(reply.json);
    const content = [{ type: 'text', text: structuredJson }];
    const structuredContent = JSON.parse(structuredJson) as JsonValue;
    return present({ ok: true, warnings: [], reply: { content, structuredContent, structuredJson, isError: false } });
  }

  async #list({ context: { caller } }: Asker, { signal }: RunCallDelegate): Promise<CallReply> {
    const { turns, scripts } = this.#options;
    const listed = await turns.take(caller, signal, async () => describedScripts(await scripts.list()));
    return listed === undefined ? PROGRAM_ENDED : { ok: true, json: JSON.stringify(listed) };
  }

  #placesAt(depth: number): Slots {
    this.#places[depth] ??= new Slots(MAX_AT_ONCE, this.#options.limits.timeoutMs);
    return this.#places[depth];
  }

  async #run(
    [name, given]: readonly JsonValue[],
    delegate: RunCallDelegate,
    asker: Asker,
    byCall: number,
  ): Promise<CallReply> {
    if (typeof name !== 'string')
      return refused('SchemaValidationError', 'runScript: name must be a string', 'Call runScript("name", { ... }).');
    if (asker.depth >= MAX_DEPTH)
      return overLimit(
        `scripts call each other more than ${MAX_DEPTH} levels deep`,
        'Look for a script that runs itself.',
      );
    if (this.#runs >= MAX_RUNS)
      return overLimit(
        `the run has already run ${MAX_RUNS} stored scripts, the most that one run may`,
        'Let one script do more.',
      );
    const number = ++this.#runs;
    const script = await this.#options.scripts.get(name);
    // A classic script keeps its worker until it is answered. If all workers waited for each other, they would deadlock.
    const blocks = [asker.contract, script.profile].includes('code_execution');
    if (blocks && !this.#options.sandbox.pool.hasRoomToBlock(asker.context.caller))
      return overLimit(`no process is free for script ${name}`, 'Run fewer scripts at once.');
    const { checkScriptInput } = await import('./script-input.js');
    const checked = checkScriptInput(script, given ?? undefined);
    if (!checked.ok) return checked;
    const refusal = await this.#options.decisions.refusalOf(script, { number: byCall, delegate, asker });
    if (refusal !== undefined) return refusal;
    const place = await this.#placesAt(asker.depth).enter(delegate.signal);
    if (place.kind !== 'entered')
      return overLimit(`no process became free for script ${name}`, 'Run fewer scripts at once.');
    const startedAtMs = Date.now();
    const noted: NestedScript = { name, codeDigest: script.digest, byCall, startedAtMs, calls: [] };
    this.scripts.push(noted);
    try {
      const report = await this.#execute(script, checked.input, delegate, noted, {
        context: contextOf(script, checked.input, asker, byCall),
        depth: asker.depth + 1,
        firstNumber: number * NUMBERS_OF_ONE_PROGRAM,
        contract: script.profile,
      });
      noted.isFailed = report.outcome.status === 'failed';
      this.#keepLogs(name, report);
      const { outcome } = report;
      if (outcome.status === 'completed') return { ok: true, json: outcome.resultJson };
      const { failure } = outcome;
      // A call that ends the nested program ends the run too: the outer program cannot catch it.
      if (failure.kind === 'forbidden' || failure.limit === 'calls') return { ok: false, ends: failure };
      return { ok: false, error: errorOf(name, failure) };
    } finally {
      noted.durationMs = Date.now() - startedAtMs;
      place.leave();
    }
  }

  async #execute(
    script: StoredScript,
    input: JsonObject,
    outer: RunCallDelegate,
    noted: NestedScript,
    asker: Asker,
  ): Promise<RunReport> {
    const { sandbox, limits, calls, patienceMs, client } = this.#options;
    const run = await Run.start(
      sandbox,
      {
        source: script.source,
        language: script.language,
        ...(await this.#formOf(script, input)),
        limits: {
          ...limits,
          // Not less than the remaining time: a timeout ends the run, not only the nested script.
          timeoutMs: Math.max(1, Math.min(limits.timeoutMs, Math.ceil(outer.remainingMs()))),
          maxLogBytes: Math.max(1, this.#logBytes),
        },
      },
      randomUUID() as RunId,
      {
        caller: asker.context.caller,
        calls: new NestedCalls(
          calls,
          (call, reply) => this.#note(noted, asker, call, reply),
          script.name,
          asker,
          outer,
        ),
        patienceMs,
        onHeld: (isHeld) => outer.onHeld(isHeld),
        signal: outer.signal,
        client,
      },
    );
    const end = await run.ended;
    if (end.state !== 'ended') throw new TypeError('a nested run cannot be suspended');
    return end.report;
  }

  #note(noted: NestedScript, { firstNumber }: Asker, call: GuestCall, reply: CallReply | undefined): void {
    const number = firstNumber + call.number;
    if (reply === undefined) {
      const known = this.scripts.reduce((sum, { calls }) => sum + calls.length, 0);
      if (known < MAX_NESTED_CALLS) noted.calls.push(recordedCall({ ...call, number }));
      return;
    }
    const made = noted.calls.find((each) => each.number === number);
    const answer = reply.ok ? { ok: true as const, json: textOf(reply.json) } : { ok: false as const };
    this.#answerCharacters += answer.ok ? answer.json.length : 0;
    if (made !== undefined && this.#answerCharacters <= MAX_NESTED_ANSWER_CHARACTERS) made.answer = answer;
  }

  async #formOf(stored: StoredScript, input: JsonObject): Promise<Pick<Program, 'modules' | 'script'>> {
    const { modules, scripts } = this.#options;
    if (stored.profile === 'code_execution')
      return { modules: [], script: { input, calls: [CLASSIC_CALLS.tool, CLASSIC_CALLS.script] } };
    const known = await scripts.functionsFor(stored.source);
    return { modules: [...modules(known), inputModule(input)] };
  }

  /** Nested logs share the log limit of the run and carry the script's name. */
  #keepLogs(name: string, { logs, journal }: RunReport): void {
    for (const { level, message, timeMs } of logs) {
      const line = `[${name}] ${message}`;
      this.#logBytes -= Buffer.byteLength(line);
      if (this.#logBytes < 0) return;
      this.#logs.push({ level, message: line, atMs: journal.startedAtMs + timeMs });
    }
  }
}

/** The description of scripts for a program. */
function describedScripts(scripts: readonly ScriptHead[]): JsonObject[] {
  const functions = scriptFunctions(scripts);
  return scripts.map(({ name, description, inputSchema, outputSchema, version }) => ({
    ...{ name, description, version, function: functions.get(name) ?? null },
    ...omitUndefined({ inputSchema, outputSchema }),
  }));
}

function contextOf(script: StoredScript, input: JsonObject, { context }: Asker, parentCall: number): RunContext {
  const { source, digest: codeDigest, language } = script;
  return { ...context, source, codeDigest, parentCall, cannotSuspend: { language, input } };
}

function errorOf(
  name: string,
  { kind, name: thrown, message, hint, position, limit, errorClass }: Failure,
): GuestError {
  const isNamed = kind === 'exception' && thrown !== 'Error' && !message.startsWith(thrown);
  const place = position === undefined ? '' : ` (${name}:${position.line}:${position.column})`;
  return {
    errorClass: limit === undefined ? 'ToolCallError' : 'SandboxLimitError',
    message: `script ${name} failed: ${isNamed ? `${thrown}: ` : ''}${message}${place}`,
    hint: hint ?? 'Tell the user: the script is theirs to correct.',
    fields: {
      script: name,
      ...omitUndefined({ line: position?.line, column: position?.column, thrown: errorClass, limit }),
    },
  };
}

/** What a contract makes of the failure: an invalid input, a pending approval, a refusal, or a failure of the script. */
function verdictOf({ errorClass, fields }: GuestError): { readonly verdict?: CallVerdict } {
  if (errorClass === 'ToolNotFoundError') return {};
  if (errorClass === 'SchemaValidationError') return { verdict: 'invalid_arguments' };
  const { approvalState } = fields ?? {};
  if (approvalState === undefined) return { verdict: 'tool_error' };
  return { verdict: approvalState === 'PENDING' ? 'pending' : 'denied' };
}

function textOf(json: string | Uint8Array): string {
  return typeof json === 'string' ? json : Buffer.from(json).toString('utf8');
}

function overLimit(message: string, hint: string): CallReply {
  return { ok: false, error: { errorClass: 'SandboxLimitError', message, hint, fields: { limit: 'scripts' } } };
}

function refused(errorClass: string, message: string, hint: string): CallReply {
  return { ok: false, error: { errorClass, message, hint } };
}
