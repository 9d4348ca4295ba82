import type { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { LOCAL_CALLER } from '../../domain/execution.js';
import type { Isolation } from '../../host/host.js';
import { deferred } from '../../lib/deferred.js';
import type { AgentClient } from './agent-client.js';
import { ClientListing } from './client-listing.js';
import { kindsOf } from './client-question.js';
import { CommonListing, onToolNews } from './common-listing.js';
import { type Door, type McpOptions, openSession } from './door.js';
import { QuestionRounds } from './question-rounds.js';
import { ClientRespondent } from './respondent.js';
import { createServer } from './server.js';

export interface StdioOptions extends McpOptions {
  /** A longer message of the client ends the connection. */
  readonly maxMessageBytes: number;
  readonly agentClient: AgentClient;
  /** Ends it from outside. */
  readonly stop: AbortSignal;
  /** Called when programs can be run, and how. */
  readonly onOpen: (isolation: Isolation) => void;
}

/** A client that has asked for no tools by then is waited for no longer. */
const PATIENCE_MS = 250;
/** For the answers to calls that came in before the jail turned out not to be had. */
const LAST_WORDS_MS = 50;

/**
 * Speaks MCP with the one client that started this process, in either era, until its end of the pipe is closed or `stop` is
 * aborted. Its first questions are answered from what is on disk; the jail is tried out and servers are connected behind
 * the answers. Standard output is the protocol's. Throws `jail_unavailable`, whatever the client was told by then.
 */
export async function serveMcpStdio(options: StdioOptions): Promise<void> {
  const { host, log, agentClient, stop } = options;
  const gone = new AbortController();
  const listed = deferred<void>();
  const opened = deferred<Isolation>();
  const session = openSession(options, LOCAL_CALLER);
  const listing = new ClientListing(new CommonListing(options), session, { isKept: true });
  const door: Door = {
    options,
    listing,
    session,
    gone: gone.signal,
    clientKey: session.caller,
    // The client belongs to the user who started this process.
    person: {},
    rounds: new QuestionRounds(),
    onListed: () => listed.resolve(),
  };
  const wire = new Wire(process.stdin, process.stdout, { maxBufferSize: options.maxMessageBytes });
  let current: Server | undefined;

  // After the answer that is under way: it must not wait for processes to start.
  const open = once(() => setImmediate(() => host.open().then(opened.resolve, opened.reject)));
  const warm = once(() => {
    const told = (error: unknown) => log(`servers could not be prepared: ${String(error)}`, 'error');
    patience(listed.promise).then(() => {
      open();
      opened.promise.then(() => host.warm((message) => log(message, 'info')).catch(told), ended);
    }, ended);
  });
  const handle = serveStdio(
    ({ era }) => {
      const server = createServer(door);
      current = server;
      // Servers are connected once it is known which of their questions the client answers.
      if (era === 'modern') {
        agentClient.attachModern();
        warm();
      } else
        server.oninitialized = () => {
          const respondent = new ClientRespondent(door, server);
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
    door.rounds.close();
    await handle.close();
  }

  /** Also where the client has gone at once: that this machine has no jail is then said all the same. */
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

/** The failure itself is told by who waits for it. */
function ended(): void {}

/** Says when it has ended, for whatever reason: its client closed it, it broke, or a message was too long. */
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
