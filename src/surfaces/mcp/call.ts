import {
  type CallToolResult,
  INVALID_PARAMS,
  isSpecType,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { authorizedUntil } from '../../domain/principal.js';
import type { TraceContext } from '../../domain/trace.js';
import type { BrokerOutcome } from '../../host/session.js';
import type { DirectTool } from '../../host/tools/tool-view.js';
import { LinkedAbort } from '../../lib/async/linked-abort.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { nearest } from '../../lib/text/nearest.js';
import { quoteVisibly, visibleLine } from '../../lib/text/visible-text.js';
import type { ExposedTool, OutwardAnswer } from '../../profiles/profile.js';
import { askerOf, deciderOf, formsOf } from './approval-form.js';
import { approvalRequest, asksIn, continueApproval } from './approval-requests.js';
import type { CallResult, CallSide } from './elicitation-call.js';
import { findTool } from './find-tool.js';
import type { ClientConnection } from './mcp-session.js';
import { principalOf } from './principal-info.js';
import { Progress, progressRelay } from './progress.js';
import { noteResult, startRequestSpan, traceOf } from './request-span.js';
import { capabilitiesOf } from './request-state.js';
import { ClientRespondent } from './respondent.js';

interface ToolRequest {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
}

/** Answers `tools/call`. The agent's mistakes are reported in the result. Only an unlisted name is a protocol error. */
export async function callTool(
  connection: ClientConnection,
  server: Server,
  request: ToolRequest,
  context: ServerContext,
): Promise<CallResult> {
  const { tracer } = connection.options.host;
  const span = tracer && startRequestSpan(tracer, context, findTool(connection, request.name)?.tool.name);
  try {
    return noteResult(
      span,
      await answerRequest(connection, server, request, context, span?.context ?? traceOf(context)),
    );
  } catch (error) {
    span?.fail(error instanceof ProtocolError ? String(error.code) : 'internal');
    throw error;
  } finally {
    span?.end();
  }
}

async function answerRequest(
  connection: ClientConnection,
  server: Server,
  request: ToolRequest,
  context: ServerContext,
  trace: TraceContext | undefined,
): Promise<CallResult> {
  const known = omitUndefined({ trace });
  if (capabilitiesOf(context) !== undefined) {
    const work = (side: CallSide) => perform(connection, server, request, context, { ...side, ...known });
    return connection.questions.answer(context, { ...connection, caller: connection.session.caller }, work);
  }
  const respondent = new ClientRespondent(connection, server, context);
  const showForm = formsOf(server);
  const forms = omitUndefined({ showForm });
  const signals = [context.mcpReq.signal, context.http?.req?.signal];
  try {
    return await perform(connection, server, request, context, { signals, respondent, ...forms, ...known });
  } finally {
    respondent.requestAnswered();
  }
}

async function perform(
  connection: ClientConnection,
  server: Server,
  { name, arguments: input = {} }: ToolRequest,
  context: ServerContext,
  side: CallSide,
): Promise<CallResult> {
  const found = findTool(connection, name);
  if (found === undefined) throw new ProtocolError(INVALID_PARAMS, unknownTool(connection, name));
  return found.kind === 'exposed'
    ? callExposed(connection, server, found.tool, input as JsonObject, context, side)
    : callDirect(connection, server, found.tool, input as JsonObject, context, side);
}

async function callExposed(
  connection: ClientConnection,
  server: Server,
  tool: ExposedTool,
  input: JsonValue,
  context: ServerContext,
  { signals, respondent, requestAnswered, showForm, trace }: CallSide,
): Promise<CallResult> {
  // A run is cancelled if the client cancels the request, closes its connection, or disappears.
  const ended = new LinkedAbort([...signals, connection.gone]);
  using progress = Progress.of(context);
  requestAnswered?.addEventListener('abort', () => progress?.[Symbol.dispose](), { once: true });
  const askPerson = askerOf(connection, showForm, deciderOf(connection, server.getClientVersion()?.name));
  let isStillRunning = false;
  const notices: string[] = [];
  try {
    const later = await continueApproval(connection, context);
    if (later !== undefined) return later;
    const answer = await tool.call(connection.session, input, {
      signal: ended.signal,
      log: connection.options.log,
      onNotice: (text) => notices.push(text),
      respondent,
      ...expiryOf(context),
      ...omitUndefined({ trace, askPerson }),
      ...(asksIn(connection, context) ? { suspendsToAsk: true } : {}),
      ...(progress === undefined
        ? { answerWithinMs: connection.options.answerWithinMs }
        : { onProgress: (message) => progress.say(message), onStep: (step) => progress.step(step) }),
    });
    isStillRunning = answer.isStillRunning;
    const question =
      answer.suspended === undefined ? undefined : await approvalRequest(connection, answer.suspended, context);
    if (question !== undefined) return question;
    const text = answer.text ?? JSON.stringify(answer.structured);
    const notes = [...(answer.notes ?? []), ...notices, ...noteOnOwnCommand(text, connection.options.ownCommand)];
    return {
      content: [
        { type: 'text', text },
        ...(answer.media as unknown as CallToolResult['content']),
        ...notes.map((text) => ({ type: 'text' as const, text })),
      ],
      // Most clients show their model only this. `notes` is not in the contract, so it is added only if there are any.
      structuredContent: notes.length === 0 ? answer.structured : { ...answer.structured, notes },
      ...(answer.isError ? { isError: true } : {}),
      ...metaOf(answer),
    };
  } catch (error) {
    return internalFailure(connection, error, trace);
  } finally {
    // The library also aborts the signal of a request that it has answered.
    ended.release(isStillRunning ? signals : undefined);
  }
}

/** An answer that asks for a command is of no use to somebody whose shell does not find it. */
function noteOnOwnCommand(text: string, ownCommand: string | undefined): string[] {
  if (ownCommand === undefined || !FOR_THE_USER.test(text)) return [];
  return [`The user has no command called codemode. For it they type: ${ownCommand}`];
}

const FOR_THE_USER = /\bcodemode (approvals approve|auth login|runs resume) /;

async function callDirect(
  connection: ClientConnection,
  server: Server,
  direct: DirectTool,
  input: JsonObject,
  context: ServerContext,
  { signals, respondent, requestAnswered, showForm, trace }: CallSide,
): Promise<CallToolResult> {
  const { inputSchema, outputSchema } = direct.tool.tool;
  const isWrapped = inputSchema?.type !== undefined && inputSchema.type !== 'object';
  const ended = new LinkedAbort([...signals, connection.gone]);
  const relay = progressRelay(context);
  try {
    const value = isWrapped ? (input.input ?? null) : input;
    const outcome = await connection.session.callDirect(direct, value, {
      signal: ended.signal,
      onProgress: (progress) => (requestAnswered?.aborted === true ? undefined : relay?.(progress)),
      askPerson: askerOf(connection, showForm, deciderOf(connection, server.getClientVersion()?.name)),
      respondent,
      trace,
      ...expiryOf(context),
    });
    return server.projectCallToolResult(resultOf(outcome), outputSchema) as CallToolResult;
  } catch (error) {
    return internalFailure(connection, error, trace);
  } finally {
    ended.release();
  }
}

/** Not shown to models. */
function metaOf({ meta, engine }: OutwardAnswer): Pick<CallToolResult, '_meta'> {
  const told = { ...meta, ...(engine === 'v8' ? { [ENGINE_KEY]: engine } : {}) };
  return Object.keys(told).length === 0 ? {} : { _meta: told };
}

/** Names the engine a program ended in, if it is not the one it started in. */
const ENGINE_KEY = 'io.github.codemode/engine';

function expiryOf({ http }: ServerContext): ReturnType<typeof authorizedUntil> {
  return authorizedUntil(principalOf(http?.authInfo) ?? {});
}

/** The upstream's result unchanged. A block that the protocol does not know becomes text: it would invalidate the whole result. */
function resultOf(outcome: BrokerOutcome): CallToolResult {
  if (outcome.reply === undefined) {
    const { message, hint } = outcome.ok ? { message: '', hint: '' } : outcome.error;
    return { content: [{ type: 'text', text: hint === '' ? message : `${message}\n${hint}` }], isError: true };
  }
  const { content, structuredContent, isError, meta } = outcome.reply;
  return {
    content: content.map((block) =>
      isSpecType.ContentBlock(block) ? block : { type: 'text', text: JSON.stringify(block) },
    ),
    ...omitUndefined({ structuredContent: structuredContent as JsonObject | undefined }),
    ...(isError || !outcome.ok ? { isError: true } : {}),
    ...omitUndefined({ _meta: meta }),
  };
}

function internalFailure(
  { options }: ClientConnection,
  error: unknown,
  trace: TraceContext | undefined,
): CallToolResult {
  options.log(
    `a call failed inside codemode: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    'error',
    trace === undefined ? undefined : { traceId: trace.traceId },
  );
  return { content: [{ type: 'text', text: 'something went wrong inside codemode; try again' }], isError: true };
}

function unknownTool({ listing, session, options }: ClientConnection, name: string): string {
  const { direct, forCode } = session.tools();
  const listed = [...listing.exposed, ...direct].map((tool) => tool.name);
  const inCode = forCode.servers
    .flatMap(({ tools }) => tools)
    .find(({ tool, target }) => tool.name === name || target === name);
  const [run] = listing.exposed;
  if (inCode !== undefined && run !== undefined) {
    const { server, exportName } = inCode;
    const imported = `import { ${exportName} } from '@codemode/servers/${server.path}'`;
    return `${visibleLine(name)} is called from a program: use ${run.name} with ${options.profile.callExample?.(inCode) ?? imported}`;
  }
  const missing = options.profile.missingTools?.get(name);
  if (missing !== undefined) return missing;
  const close = nearest(name, listed, 3);
  return `there is no tool ${quoteVisibly(name)}; ${close.length > 0 ? `did you mean ${close.join(' or ')}?` : 'ask for tools/list'}`;
}
