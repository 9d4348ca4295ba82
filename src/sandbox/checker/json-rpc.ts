import type { Readable, Writable } from 'node:stream';
import { isJsonObject, type JsonValue } from '../../domain/json.js';
import { Allowance } from '../../lib/allowance.js';
import { type Deferred, deferred } from '../../lib/async/deferred.js';

/** Answers a request that the peer sends while it handles ours: a method and its parameters. */
export type AnswerQuestion = (method: string, params: JsonValue | undefined) => JsonValue;

export interface RpcOptions {
  readonly input: Writable;
  readonly output: Readable;
  readonly answer: AnswerQuestion;
  readonly maxMessageBytes: number;
  /** The peer broke the protocol. Called once; nothing is read afterwards. */
  readonly onBroken: (reason: string) => void;
}

/** A compiler asks for some hundred files when it starts, and for a few with each program. */
const MESSAGES = { burst: 50_000, perSecond: 5_000 };
const BYTES = { burst: 128 * 1024 * 1024, perSecond: 32 * 1024 * 1024 };
/**
 * Bytes of answers that the peer has not read yet. Beyond this we stop reading: a request of a few words is answered with a whole
 * file.
 */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 256;
const LENGTH = /^Content-Length: (\d{1,9})$/im;

/** JSON-RPC 2.0 with `Content-Length` headers, as in the Language Server Protocol. Everything read is untrusted until parsed. */
export class RpcConnection {
  readonly #options: RpcOptions;
  readonly #open = new Map<number, Deferred<JsonValue>>();
  #chunks: Buffer[] = [];
  #bytes = 0;
  #wantedBytes = 0;
  #nextId = 1;
  #isBroken = false;
  readonly #messages = new Allowance(MESSAGES, performance.now());
  readonly #received = new Allowance(BYTES, performance.now());

  constructor(options: RpcOptions) {
    this.#options = options;
    options.output.on('data', (chunk: Buffer) => this.#read(chunk));
    options.output.on('error', () => {});
    options.input.on('error', () => {});
    options.input.on('drain', () => this.#readOn());
  }

  /** Rejects with the peer's error, or when the connection fails. */
  request(method: string, params: JsonValue): Promise<JsonValue> {
    const id = this.#nextId++;
    const reply = deferred<JsonValue>();
    this.#open.set(id, reply);
    this.#send({ jsonrpc: '2.0', id, method, params });
    return reply.promise;
  }

  /** Nothing more is read, and open requests fail. */
  fail(reason: string): void {
    this.#isBroken = true;
    this.#chunks = [];
    for (const reply of this.#open.values()) reply.reject(new Error(reason));
    this.#open.clear();
  }

  #send(message: JsonValue): void {
    if (this.#isBroken) return;
    const body = Buffer.from(JSON.stringify(message));
    this.#options.input.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}${HEAD_END}`), body]));
  }

  #read(chunk: Buffer): void {
    if (this.#isBroken) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#received.take(chunk.length, performance.now());
    this.#takeMessages();
  }

  /** Resumes reading, which was paused while the peer did not read our answers. */
  #readOn(): void {
    if (this.#isBroken || !this.#options.output.isPaused()) return;
    this.#takeMessages();
    if (!this.#isUnread()) this.#options.output.resume();
  }

  #isUnread(): boolean {
    return this.#options.input.writableLength > MAX_UNREAD_BYTES;
  }

  #takeMessages(): void {
    // A large message arrives in many chunks, which are joined once.
    if (this.#bytes < this.#wantedBytes) return;
    let rest = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks, this.#bytes);
    try {
      for (;;) {
        if (this.#isUnread()) {
          this.#options.output.pause();
          break;
        }
        const message = this.#take(rest);
        if (message === undefined) break;
        rest = rest.subarray(message.bytes);
        this.#spend();
        this.#receive(JSON.parse(message.text) as JsonValue);
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'it broke the protocol';
      this.fail(reason);
      return this.#options.onBroken(reason);
    }
    this.#chunks = [rest];
    this.#bytes = rest.length;
  }

  #spend(): void {
    const now = performance.now();
    this.#messages.take(1, now);
    if (this.#messages.waitMs(now) > 0 || this.#received.waitMs(now) > 0)
      throw new Error('it sent more than the type checker may send');
  }

  /** The first message of a buffer, if it is complete. */
  #take(buffer: Buffer): { readonly text: string; readonly bytes: number } | undefined {
    this.#wantedBytes = 0;
    const end = buffer.subarray(0, MAX_HEAD_BYTES).indexOf(HEAD_END);
    if (end < 0) {
      if (buffer.length >= MAX_HEAD_BYTES) throw new Error('it sent something that is not a message');
      return undefined;
    }
    const length = Number(LENGTH.exec(buffer.toString('latin1', 0, end))?.[1] ?? Number.NaN);
    if (!(length <= this.#options.maxMessageBytes)) throw new Error('it sent a larger message than it may');
    const from = end + HEAD_END.length;
    if (buffer.length < from + length) {
      this.#wantedBytes = from + length;
      return undefined;
    }
    return { text: buffer.toString('utf8', from, from + length), bytes: from + length };
  }

  #receive(message: JsonValue): void {
    if (!isJsonObject(message)) throw new Error('it sent something that is not a message');
    const { id, method, params, error, result } = message;
    if (typeof method === 'string') {
      if (id === undefined || id === null) return;
      return this.#send({ jsonrpc: '2.0', id, result: this.#options.answer(method, params) });
    }
    if (typeof id !== 'number') throw new Error('it answered a request that was not made');
    const reply = this.#open.get(id);
    if (reply === undefined) throw new Error('it answered a request that was not made');
    this.#open.delete(id);
    if (error === undefined || error === null) return reply.resolve(result ?? null);
    reply.reject(new Error(isJsonObject(error) ? String(error.message).slice(0, 500) : 'it refused the request'));
  }
}
