import type { Catalog } from '../../catalog/catalog.js';
import { toolSignature } from '../../catalog/declarations/typescript/signature.js';
import {
  type CatalogServer,
  type CatalogSnapshot,
  type CatalogTool,
  notForCode,
  seenServer,
  toolNamed,
} from '../../catalog/snapshot.js';
import type { CallVerdict } from '../../domain/audit.js';
import type { JsonValue } from '../../domain/json.js';
import type { CallReply, Failure, GuestCall, GuestError } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { nearest } from '../../lib/text/nearest.js';
import type { CallForm, CallingProgram } from '../calls/call-form.js';
import type { ToolCalls } from '../calls/tool-calls.js';
import type { RunCallDelegate } from '../runs/run.js';
import type { RunCatalog } from '../runs/run-catalog.js';
import type { EndedScriptCall } from '../runs/run-types.js';
import { DOWN_HINT, STARTING_HINT } from '../tools/discovery.js';

export interface ScriptCallsOptions {
  readonly tools: RunCatalog;
  /** Reports the state of a server that is still starting, and searches tools by words. */
  readonly catalog: Pick<Catalog, 'startingNote' | 'search'>;
  /** The only servers it may call, by any of their names; empty: all. */
  readonly allowedServers: readonly string[];
  readonly maxToolCalls: number;
  readonly onCall?: (ended: EndedScriptCall) => void;
}

/**
 * The tool calls of a script, whose arguments name the server, the tool and its input. An invalid call returns an error value to
 * the script. A limit, or a server that is not allowed, ends the script, and the script cannot catch that.
 */
export class ScriptCalls {
  readonly #calls: ToolCalls;
  readonly #options: ScriptCallsOptions;
  readonly #allowed: ReadonlySet<string>;

  constructor(calls: ToolCalls, options: ScriptCallsOptions) {
    this.#calls = calls;
    this.#options = options;
    // By identity if the server exists: the list and the call may use different names for it.
    this.#allowed = new Set(options.allowedServers.map((name) => identityOf(name, options.tools.snapshot)));
  }

  /** The tool that a call names, if it exists. */
  toolOf([serverName, toolName]: readonly JsonValue[]): CatalogTool | undefined {
    if (typeof serverName !== 'string' || typeof toolName !== 'string') return undefined;
    const server = serverNamed(serverName, this.#options.tools.snapshot);
    return server === undefined ? undefined : toolNamed(toolName, server);
  }

  /** Waits for the called server if it is still starting. */
  async awaitServer([name]: readonly JsonValue[]): Promise<void> {
    const { tools } = this.#options;
    if (typeof name === 'string' && this.#isAllowed(name)) await tools.fillIn(serverNamed(name, tools.snapshot));
  }

  async answer(
    call: GuestCall,
    input: readonly JsonValue[],
    delegate: RunCallDelegate,
    by: CallingProgram,
    runScript: (script: CatalogTool, input: JsonValue | undefined) => Promise<CallReply>,
  ): Promise<CallReply> {
    const { tools, maxToolCalls, catalog } = this.#options;
    await this.awaitServer(input);
    const { snapshot } = tools;
    const found = this.toolOf(input);
    if (!this.#calls.countOne()) return this.#end(tooManyCalls(maxToolCalls), 'limited', found, call, delegate, by);
    const [serverName, toolName, given] = input;
    const mistake = mistakeIn(input);
    if (mistake !== undefined) return this.#refused(input, by.form, mistake, 'invalid_arguments');
    const name = serverName as string;
    if (!this.#isAllowed(name)) return this.#end(serverNotAllowed(name), 'denied', found, call, delegate, by);
    if (found === undefined) return this.#refused(input, by.form, noSuch(name, toolName as string, snapshot, catalog));
    if (found.server.holdsScripts === true) return runScript(found, given);
    const before = this.#calls.trace.length;
    // A script writes the tool's own name and the user's name for the server.
    const called = { ...found, exportName: found.tool.name, serverName: found.server.id };
    const reply = await this.#calls.send(called, call, given ?? undefined, delegate, by);
    const made = this.#calls.trace[before];
    if (made !== undefined) this.#tell(input, made.durationMs, made.error);
    return reply;
  }

  /** Ends a module's program at a call to a server that the request does not allow. Undefined: it is allowed. */
  async endAtForbidden(
    found: CatalogTool | undefined,
    call: GuestCall,
    delegate: RunCallDelegate,
    by: CallingProgram,
  ): Promise<CallReply | undefined> {
    if (found === undefined || this.#isAllowed(found.server.id)) return undefined;
    return this.#end(serverNotAllowed(found.server.id), 'denied', found, call, delegate, by);
  }

  #refused(input: readonly JsonValue[], { present }: CallForm, error: GuestError, verdict?: CallVerdict): CallReply {
    const [server, tool] = input;
    this.#tell(input, 0, error.message);
    this.#calls.noteRefused({ serverId: nameIn(server), toolName: nameIn(tool) }, error);
    return present({ ok: false, error, ...omitUndefined({ verdict }) });
  }

  #tell([server, tool]: readonly JsonValue[], durationMs: number, error?: string): void {
    const names = { server: nameIn(server), tool: nameIn(tool) };
    this.#options.onCall?.({ ...names, durationMs, ...omitUndefined({ error }) });
  }

  #isAllowed(name: string): boolean {
    return this.#allowed.size === 0 || this.#allowed.has(identityOf(name, this.#options.tools.snapshot));
  }

  /** Recorded if there is a tool to record it for. */
  async #end(
    ends: Failure,
    verdict: 'limited' | 'denied',
    found: CatalogTool | undefined,
    call: GuestCall,
    delegate: RunCallDelegate,
    by: CallingProgram,
  ): Promise<CallReply> {
    const { message, name: errorClass } = ends;
    // A script is run by the host: there is no server to record the call for.
    if (found !== undefined && found.server.holdsScripts !== true)
      await this.#calls.refuse(found, call, { errorClass, message, hint: '' }, verdict, delegate, by);
    return { ok: false, ends };
  }
}

/** The user's name for a server takes precedence, then the name that programs of other contracts use. */
export function serverNamed(name: string, snapshot: CatalogSnapshot): CatalogServer | undefined {
  return seenServer(
    snapshot,
    ({ servers, serverByPath }) => servers.find(({ id }) => id === name) ?? serverByPath.get(name.replace(/^mcp:/, '')),
  );
}

function identityOf(name: string, snapshot: CatalogSnapshot): string {
  const server = serverNamed(name, snapshot);
  return server === undefined ? `name ${name}` : `id ${server.id}`;
}

function mistakeIn([server, tool, , ...more]: readonly JsonValue[]): GuestError | undefined {
  const refuse = (message: string): GuestError => ({
    errorClass: 'SchemaValidationError',
    message,
    hint: "Call it as call_tool('server', 'tool', { name: value }).",
  });
  if (typeof server !== 'string' || server === '')
    return refuse(`the first argument must be the name of a server, not ${shown(server)}`);
  if (typeof tool !== 'string' || tool === '')
    return refuse(`the second argument must be the name of a tool, not ${shown(tool)}`);
  return more.length > 0 ? refuse(`there are at most three arguments, not ${more.length + 3}`) : undefined;
}

function nameIn(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.slice(0, MAX_SHOWN_CHARACTERS) : '?';
}

const MAX_SHOWN_CHARACTERS = 60;
const MAX_NAMED = 20;

function shown(value: JsonValue | undefined): string {
  return value === undefined || value === null ? 'nothing' : JSON.stringify(value).slice(0, MAX_SHOWN_CHARACTERS);
}

function noSuch(
  serverName: string,
  toolName: string,
  snapshot: CatalogSnapshot,
  catalog: Pick<Catalog, 'startingNote' | 'search'>,
): GuestError {
  const server = serverNamed(serverName, snapshot);
  if (server === undefined)
    return {
      errorClass: 'ServerNotFoundError',
      message: `there is no server ${JSON.stringify(serverName)}`,
      hint: suggestion(
        serverName,
        snapshot.servers.map(({ id }) => id),
        snapshot.notice ?? 'No server is connected.',
      ),
    };
  if (server.isStarting === true)
    return {
      errorClass: 'ServerNotFoundError',
      message: `${server.id}: ${catalog.startingNote(server.id)}`,
      hint: STARTING_HINT,
    };
  if (server.tools.length === 0 && server.problem !== undefined)
    return {
      errorClass: 'ServerNotFoundError',
      message: `${server.id} is not available: ${server.problem}`,
      hint: DOWN_HINT,
    };
  const direct = notForCode(toolName, server);
  if (direct !== undefined) return { errorClass: 'ToolNotFoundError', ...direct };
  return {
    errorClass: 'ToolNotFoundError',
    message: `${server.id} has no tool ${JSON.stringify(toolName)}`,
    hint:
      fitting(toolName, server, snapshot, catalog) ??
      suggestion(
        toolName,
        server.tools.map(({ tool }) => tool.name),
        'It has no tools now.',
      ),
  };
}

const MAX_FITTING = 5;

/** Tools of a large server that match the words of a name, with their signatures: a script has no other way to search. */
function fitting(
  name: string,
  server: CatalogServer,
  snapshot: CatalogSnapshot,
  catalog: Pick<Catalog, 'search'>,
): string | undefined {
  const names = server.tools.map(({ tool }) => tool.name);
  if (names.length <= MAX_NAMED || nearest(name, names, 1).length > 0) return undefined;
  const hits = catalog.search(name, { serverId: server.id, limit: MAX_FITTING }, snapshot);
  if (hits.length === 0) return undefined;
  const found = hits.map(({ tool }) => toolSignature(tool, tool.name)).join('; ');
  return `Of its ${names.length} tools these fit the words: ${found}.`;
}

function suggestion(name: string, known: readonly string[], none: string): string {
  const quoted = (names: readonly string[], between: string) => names.map((each) => JSON.stringify(each)).join(between);
  const close = nearest(name, known, 3);
  if (close.length > 0) return `Did you mean ${quoted(close, ' or ')}?`;
  const more = known.length > MAX_NAMED ? ` and ${known.length - MAX_NAMED} more` : '';
  return known.length === 0 ? none : `There are: ${quoted(known.slice(0, MAX_NAMED), ', ')}${more}.`;
}

function tooManyCalls(most: number): Failure {
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'calls',
    // In a request 0 means no limit. A fraction below 1 allows no call.
    message: `Exceeded maximum tool calls limit (${most === 0 ? 'less than 1' : most})`,
    hint: 'Ask for more in one call.',
  };
}

function serverNotAllowed(name: string): Failure {
  return {
    kind: 'forbidden',
    name: 'Error',
    message: `Server '${name}' is not in the allowed servers list`,
    hint: 'Call only the servers that the request allows.',
  };
}
