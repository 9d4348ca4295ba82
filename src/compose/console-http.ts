import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/schema/schema.js';
import { consoleLink } from '../domain/console/api.js';
import { HostError, isHostError } from '../domain/errors.js';
import type { Log } from '../domain/log.js';
import type { ConsoleAccess } from '../host/admin/console/access.js';
import type { Host } from '../host/host.js';
import { processIdentity } from '../lib/files/process-identity.js';
import type { HttpService, LinkMaker } from '../surfaces/cli/composed.js';
import type { ConsoleSurface } from '../surfaces/console/console-surface.js';
import { Gate, type TokenRules } from '../surfaces/http/gate.js';
import { createListener } from '../surfaces/http/listener.js';

/** How long calls in flight may take during a graceful shutdown. */
export const SHUTDOWN_GRACE_MS = 10_000;
/** Time for responses that are being sent, when no call is in flight. */
export const CLOSE_TIMEOUT_MS = 1_000;
/** Listen backlog. Node's default of 511 is less than the number of clients that connect at once here. */
const BACKLOG = 2_048;

/** Serves only the console, for a person on this machine. Agents' clients are not served. */
export async function openConsoleHttp(
  { host, config, log, port }: { host: Host; config: Config; log: Log; port: number },
  openConsole: OpenConsole,
): Promise<HttpService> {
  const address = '127.0.0.1';
  const gate = new Gate({ hosts: [], isOpenToNetwork: false, origins: [] }, NO_TOKENS);
  const { surface: page, access } = await openConsole({ log });
  // If the port is taken, the console opens on another one. The link names the port in use.
  const start = async (wanted: number) => {
    const app = createListener({ gate, maxRequestBytes: config.server.maxRequestSize, log });
    page.mount(app);
    return { app, url: await listen(app, { host: address, port: wanted }) };
  };
  const { app, url } = await start(port).catch((error: unknown) => {
    if (port === 0 || !isHostError(error, 'bad_config')) throw error;
    log(`port ${port} cannot be used, so the console uses another one`, 'warn');
    return start(0);
  });
  const announced = await announce(access, url, address, app);
  host.warm(log).catch((error: unknown) => {
    log(`servers could not be prepared: ${String(error)}`, 'error');
  });
  return {
    url,
    consoleLink: announced.link,
    close: async () => {
      await announced.withdraw(log);
      page.close();
      await host.drain(SHUTDOWN_GRACE_MS);
      const timer = setTimeout(() => app.server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await app.close();
      clearTimeout(timer);
    },
  };
}

export type OpenConsole = (options: {
  readonly log: Log;
  readonly urlOf?: () => string;
}) => Promise<{ readonly surface: ConsoleSurface; readonly access: ConsoleAccess }>;

/** If only the console is served, no token opens anything. */
const NO_TOKENS: TokenRules = { identify: () => undefined, adviceFor: () => 'only the console is served here' };

/** Announces the console's address to other processes that use this state folder, until it is withdrawn. */
export async function announce(
  access: ConsoleAccess,
  url: string,
  host: string,
  app: { close(): PromiseLike<unknown> },
) {
  const holder = processIdentity() ?? `${process.pid}:unknown`;
  // If it listens on every address, a person on this machine uses loopback.
  const reached = ['0.0.0.0', '::'].includes(host) ? url.replace(/\/\/.*:/, '//127.0.0.1:') : url;
  try {
    await access.hostServes({ holder, url: reached });
  } catch (error) {
    // An open listener would keep a process alive whose start has failed, and nobody would start it again.
    await app.close();
    throw error;
  }
  return {
    link: async (maker: LinkMaker) => consoleLink(reached, await access.makeLink(maker, holder)),
    /** `hosts()` deletes the entry of a process that is gone, so a database that fails now must not keep runs from being drained. */
    withdraw: async (log: Log) => {
      try {
        await access.hostStops(holder);
      } catch (error) {
        log(`the console's address could not be withdrawn: ${String(error)}`, 'warn');
      }
    },
  };
}

/** Resolves with the address. Throws `bad_config`. */
export async function listen(app: FastifyInstance, { host, port }: { host: string; port: number }): Promise<string> {
  try {
    await app.listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    await app.close();
    throw new HostError('bad_config', cannotListen(host, port, (error as NodeJS.ErrnoException).code), {
      cause: error,
    });
  }
  const { port: taken } = app.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${taken}`;
}

function cannotListen(host: string, port: number, code: string | undefined): string {
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is in use; choose another one with --port`;
  if (code === 'EACCES') return `port ${port} of ${host} needs root; choose one above 1023 with --port`;
  return `cannot listen on ${host} port ${port} (${code ?? 'unknown reason'}); choose others with --host and --port`;
}
