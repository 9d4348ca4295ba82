import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HostError } from '../../domain/errors.js';
import { deferred } from '../../lib/async/deferred.js';

const PATH = '/callback';
const MAX_CONNECTIONS = 16;
const MAX_ADDRESS_CHARACTERS = 16 * 1024;
const HEADERS_TIMEOUT_MS = 5_000;

/** The parameters of the browser's redirect, and a function that shows the final page. */
export interface BrowserAnswer {
  readonly parameters: URLSearchParams;
  finish(wasGood: boolean): void;
}

/**
 * The redirect target of the browser: one loopback address, for one login. It accepts one request, which must carry the
 * login's state, and echoes nothing. Other requests are refused and change nothing: a page that guesses the port can
 * neither end a login nor inject an authorization code.
 */
export class LoopbackReceiver {
  readonly #server;
  readonly #state: string;
  readonly #answer = deferred<BrowserAnswer>();
  #isUsed = false;

  private constructor(state: string) {
    this.#state = state;
    this.#server = createServer(
      { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: HEADERS_TIMEOUT_MS },
      (request, response) => this.#receive(request, response),
    );
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Throws `bad_input` if the required port is taken. */
  static async open(
    state: string,
    { port, isMust }: { readonly port: number; readonly isMust: boolean },
  ): Promise<LoopbackReceiver> {
    const receiver = new LoopbackReceiver(state);
    const listen = (each: number): Promise<void> =>
      new Promise((resolve, reject) => {
        receiver.#server.once('error', reject);
        receiver.#server.listen(each, '127.0.0.1', () => resolve());
      });
    try {
      await listen(port);
    } catch (error) {
      if (isMust || port === 0)
        throw new HostError('bad_input', `port ${port} of 127.0.0.1, the redirect port of this login, is in use`, {
          cause: error,
        });
      await listen(0);
    }
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get redirectUri(): string {
    return `http://127.0.0.1:${this.port}${PATH}`;
  }

  /** The first request with the right state. */
  answer(signal: AbortSignal): Promise<BrowserAnswer> {
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      this.#answer.promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
      setTimeout(() => this.#server.closeAllConnections(), CLOSE_GRACE_MS).unref();
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', method, headers } = request;
    if (method !== 'GET' || url.length > MAX_ADDRESS_CHARACTERS || headers.host !== `127.0.0.1:${this.port}`)
      return send(response, 400, PAGES.foreign);
    const { pathname, searchParams } = new URL(url.replace(/^\/+/, '/'), 'http://127.0.0.1');
    if (pathname !== PATH) return send(response, 404, PAGES.foreign);
    // Each parameter at most once: with two codes it would be unclear which one counts.
    const isClear = PARAMETERS.every((name) => searchParams.getAll(name).length <= 1);
    if (!isClear || !isSame(searchParams.get('state') ?? '', this.#state)) return send(response, 400, PAGES.foreign);
    if (this.#isUsed) return send(response, 410, PAGES.used);
    this.#isUsed = true;
    this.#answer.resolve({
      parameters: searchParams,
      finish: (wasGood) => send(response, 200, wasGood ? PAGES.good : PAGES.bad),
    });
  }
}

const CLOSE_GRACE_MS = 500;
const PARAMETERS = ['state', 'code', 'iss', 'error', 'error_description'] as const;

const PAGES = {
  good: 'You are logged in, and you can close this window.',
  bad: 'The login did not work. The terminal or the console where you started it says why. You can close this window.',
  used: 'This login has ended. You can close this window.',
  foreign: 'This request does not belong to a login.',
} as const;

function send(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(`<!doctype html><html lang="en"><title>codemode</title><p>${text}</p></html>\n`);
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}
