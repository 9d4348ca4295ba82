import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { WebSocket } from 'ws';
import type { WebSocketTarget } from '../../domain/upstream.js';
import { oneLine } from '../../lib/bounded-text.js';
import { NotSentError } from './failures.js';
import { parseMessages } from './messages.js';

const SUBPROTOCOL = 'mcp';
/** A peer that lets a ping go unanswered for one whole interval is taken for dead. */
const HEARTBEAT_MS = 30_000;
const CLOSE_GRACE_MS = 1_000;

export interface WebSocketOptions {
  readonly target: WebSocketTarget;
  readonly maxMessageBytes: number;
  readonly handshakeTimeoutMs: number;
  readonly onNoise: (line: string) => void;
}

/** One message in each text frame, on a socket that is watched by pings. */
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
    });
    this.#socket = socket;
    socket.on('message', (data, isBinary) => this.#receive(data.toString(), isBinary));
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

  #beat(): void {
    if (!this.#isAlive) {
      this.#socket?.terminate();
      return;
    }
    this.#isAlive = false;
    this.#socket?.ping();
  }

  #receive(text: string, isBinary: boolean): void {
    let messages: JSONRPCMessage[];
    try {
      messages = parseMessages(text);
    } catch {
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
