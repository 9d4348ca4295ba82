import type { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { LOCAL_CALLER } from '../../domain/run.js';
import type { Isolation } from '../../host/host.js';
import { deferred } from '../../lib/async/deferred.js';
import type { AgentClient } from './agent-client.js';
import { ClientListing } from './client-listing.js';
import { kindsOf } from './client-question.js';
import { CommonListing, onToolNews } from './common-listing.js';
import { type ClientConnection, type McpOptions, openSession } from './mcp-session.js';
import { QuestionRequests } from './question-requests.js';
import { readableMessages } from './readable-messages.js';
import { ClientRespondent } from './respondent.js';
import { createServer } from './server.js';

export interface StdioOptions extends McpOptions {
  /** A longer message from the client closes the connection. */
  readonly maxMessageBytes: number;
  readonly agentClient: AgentClient;
  /** Stops it from outside. */
  readonly stop: AbortSignal;
  /** Called when programs can run, with the isolation in use. */
  readonly onOpen: (isolation: Isolation) => void;
}

/** How long to wait for a client to list the tools before the jail is opened anyway. */
const PATIENCE_MS = 250;
/** Time to write the responses to calls that arrived before the jail turned out to be unavailable. */
const LAST_WORDS_MS = 50;

/**
 * Speaks MCP with the one client that started this process, in either era, until the client closes the pipe or `stop` is aborted.
 * Its first requests are answered from disk, while the jail is probed and servers connect in the background. stdout carries only
 * the protocol. Throws `jail_unavailable`, even if some requests were already answered.
 */
export async function serveMcpStdio(options: StdioOptions): Promise<void> {
  const { host, log, agentClient, stop } = options;
  const gone = new AbortController();
  const listed = deferred<void>();
  const opened = deferred<Isolation>();
  const session = openSession(options, LOCAL_CALLER);
  const listing = new ClientListing(new CommonListing(options), session, { isKept: true });
  const connection: ClientConnection = {
    options,
    listing,
    session,
    gone: gone.signal,
    clientKey: session.caller,
    // The client belongs to the user who started this process.
    person: {},
    questions: new QuestionRequests(),
    onListed: () => listed.resolve(),
  };
  const messages = readableMessages(process.stdin);
  const wire = new Wire(messages, process.stdout, { maxBufferSize: options.maxMessageBytes });
  let current: Server | undefined;

  // After the current response: it must not wait for processes to start.
  const open = once(() => setImmediate(() => host.open().then(opened.resolve, opened.reject)));
  const warm = once(() => {
    const told = (error: unknown) => log(`servers could not be prepared: ${String(error)}`, 'error');
    patience(listed.promise).then(() => {
      open();
      opened.promise.then(() => host.warm(log).catch(told), ended);
    }, ended);
  });
  const handle = serveStdio(
    ({ era }) => {
      const server = createServer(connection);
      current = server;
      // Servers are connected once it is known which of their questions the client answers.
      if (era === 'modern') {
        agentClient.attachModern();
        warm();
      } else
        server.oninitialized = () => {
          const respondent = new ClientRespondent(connection, server);
          agentClient.attach(respondent, kindsOf(server.getClientCapabilities() ?? {}));
          warm();
        };
      return server;
    },
    { transport: wire, onerror: (error) => log(`the client's message could not be handled: ${error.message}`, 'warn') },
  );
  const stopNews = onToolNews(host, () => {
    const { tools, resources } = listing.news();
    if (tools) current?.sendToolListChanged().catch(() => {});
    if (resources) current?.sendResourceListChanged().catch(() => {});
  });
  opened.promise.then(options.onOpen, ended);

  try {
    await Promise.race([whenOpen(), aborted(stop)]);
  } catch (error) {
    await new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS));
    throw error;
  } finally {
    stopNews();
    agentClient.detach();
    gone.abort();
    connection.questions.close();
    await handle.close();
    messages.destroy();
  }

  /** Opens the jail even if the client disconnected at once, so that a missing jail is still reported. */
  async function whenOpen(): Promise<void> {
    await Promise.race([wire.closed, patience(listed.promise)]);
    open();
    await opened.promise;
    await wire.closed;
  }
}

function patience(event: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    void event.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The failure is reported by the code that awaits it. */
function ended(): void {}

/** Reports its end, whatever the reason: the client closed it, it broke, or a message was too long. */
class Wire extends StdioServerTransport {
  readonly #closed = deferred<void>();

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#closed.resolve();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
