import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { WebSocket } from 'ws';
import type { WebSocketTarget } from '../../domain/targets/http.js';
import { oneLine } from '../../lib/text/bounded-text.js';
import { parseMessages } from './calls/messages.js';
import { NotSentError } from './failures.js';
import { MAX_WAIT_MS, type ReadBudget } from './read-budget.js';

const SUBPROTOCOL = 'mcp';
/** A peer that does not answer a ping for one whole interval counts as dead. */
const HEARTBEAT_MS = 30_000;
const CLOSE_GRACE_MS = 1_000;
/** How many bytes the peer may leave unread before its pings are no longer answered. */
const MAX_UNREAD_PONG_BYTES = 64 * 1024;

export interface WebSocketOptions {
  readonly target: WebSocketTarget;
  readonly maxMessageBytes: number;
  readonly budget: ReadBudget;
  readonly handshakeTimeoutMs: number;
  readonly onNoise: (line: string) => void;
}

/** One message per text frame, on a socket that is monitored by pings. */
export class WebSocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #options: WebSocketOptions;
  #socket: WebSocket | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #isAlive = true;

  constructor(options: WebSocketOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    const { target, maxMessageBytes, handshakeTimeoutMs } = this.#options;
    const socket = new WebSocket(target.url, SUBPROTOCOL, {
      headers: { ...target.headers },
      maxPayload: maxMessageBytes,
      handshakeTimeout: handshakeTimeoutMs,
      followRedirects: false,
      // One message per turn of the event loop, and pings count as messages.
      allowSynchronousEvents: false,
      autoPong: false,
    });
    this.#socket = socket;
    socket.on('message', (data: Buffer, isBinary) => {
      this.#options.budget.read(data.length);
      this.#receive(data, isBinary);
      this.#rest(socket);
    });
    socket.on('ping', (data: Buffer) => {
      this.#options.budget.unasked();
      if (socket.bufferedAmount < MAX_UNREAD_PONG_BYTES) socket.pong(data);
      this.#rest(socket);
    });
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('close', () => this.#finish());
    return new Promise((resolve, reject) => {
      socket.once('open', () => {
        this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
        resolve();
      });
      socket.on('error', (error) => {
        reject(error);
        this.onerror?.(error);
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || socket.readyState !== WebSocket.OPEN)
      return Promise.reject(new NotSentError('the socket is closed'));
    if (socket.bufferedAmount > this.#options.maxMessageBytes)
      return Promise.reject(new NotSentError('the server does not read what it is sent'));
    return new Promise((resolve, reject) => {
      socket.send(JSON.stringify(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return this.#finish();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => socket.terminate(), CLOSE_GRACE_MS);
      socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      socket.close();
    });
  }

  /** Closes without a closing handshake. */
  cut(): void {
    this.#socket?.terminate();
  }

  /** Pauses reading until the budget has room. */
  #rest(socket: WebSocket): void {
    const { budget } = this.#options;
    const waitMs = budget.waitMs();
    if (waitMs === 0 || budget.isOver || socket.isPaused) return;
    socket.pause();
    const readOn = (): void => {
      if (budget.waitMs() > 0 && !budget.isOver) setTimeout(readOn, MAX_WAIT_MS).unref();
      else socket.resume();
    };
    setTimeout(readOn, Math.min(waitMs, MAX_WAIT_MS)).unref();
  }

  #beat(): void {
    if (!this.#isAlive) {
      this.#socket?.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket?.ping();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { budget } = this.#options;
    if (budget.isOver) return;
    if (data.length > budget.maxMessageBytes) {
      budget.tooLong();
      return this.#options.onNoise('a message that was too long to be read');
    }
    const text = data.toString('utf8');
    let messages: JSONRPCMessage[];
    try {
      messages = parseMessages(text);
    } catch {
      budget.noise();
      this.#options.onNoise(isBinary ? 'binary data' : oneLine(text, 120));
      return;
    }
    for (const message of messages) this.onmessage?.(message);
  }

  #finish(): void {
    clearInterval(this.#heartbeat);
    const { onclose } = this;
    delete this.onclose;
    onclose?.();
  }
}
