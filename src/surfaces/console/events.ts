import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleEvent } from '../../domain/console/events.js';
import { HostError } from '../../domain/errors.js';
import type { ConsoleOptions } from './console-options.js';
import type { FedEvent, Feed } from './feed.js';
import { sessionOf } from './guard.js';
import { API_HEADERS } from './page-headers.js';

const MAX_STREAMS = 100;
/** Backpressure limit: a page with more unread events is disconnected. It reconnects and loads everything again. */
const MAX_UNREAD_BYTES = 1024 * 1024;
const BEAT_EVERY_MS = 10_000;
/** How soon a session that was revoked elsewhere loses its stream. */
const CHECK_EVERY_MS = 1_000;
const RETRY_MS = 1_000;

/** The open event streams. */
export class EventStreams {
  readonly #feed: Feed;
  readonly #options: ConsoleOptions;
  readonly #open = new Set<EventStream>();

  constructor(feed: Feed, options: ConsoleOptions) {
    this.#feed = feed;
    this.#options = options;
  }

  /** Opens an event stream. Throws `sandbox_busy`. */
  async begin(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (this.#open.size >= MAX_STREAMS)
      throw new HostError('sandbox_busy', 'too many pages of the console are open; close some of them');
    const lastId = request.headers['last-event-id'];
    void reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      ...API_HEADERS,
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    });
    const refusal = async () => {
      const found = await sessionOf(request, this.#options.access);
      return 'status' in found ? found.message : undefined;
    };
    const stream = new EventStream(raw, refusal);
    this.#open.add(stream);
    let isOver = false;
    let leave: (() => void) | undefined;
    raw.on('close', () => {
      isOver = true;
      leave?.();
      stream.stop();
      this.#open.delete(stream);
    });
    const early: FedEvent[] = [];
    let tell = (fed: FedEvent): void => {
      early.push(fed);
    };
    const missed = this.#feed.since(typeof lastId === 'string' ? lastId : undefined);
    leave = await this.#feed.watch((fed) => tell(fed));
    if (isOver) {
      leave();
      return;
    }
    if (missed === undefined) stream.send({ id: this.#feed.lastId, event: { type: 'refresh' } });
    else for (const fed of missed) stream.send(fed);
    for (const fed of early) if (missed?.includes(fed) !== true) stream.send(fed);
    tell = (fed) => stream.send(fed);
  }

  /** Tells every page that the host is stopping. */
  close(): void {
    for (const stream of this.#open) stream.end({ type: 'host_stops' });
  }
}

class EventStream {
  readonly #raw: ServerResponse;
  readonly #refusal: () => Promise<string | undefined>;
  readonly #beat: NodeJS.Timeout;
  readonly #check: NodeJS.Timeout;

  constructor(raw: ServerResponse, refusal: () => Promise<string | undefined>) {
    this.#raw = raw;
    this.#refusal = refusal;
    raw.write(`retry: ${RETRY_MS}\n\n`);
    this.#beat = setInterval(() => this.#write(': still here\n\n'), BEAT_EVERY_MS).unref();
    this.#check = setInterval(() => void this.#checkSession(), CHECK_EVERY_MS).unref();
  }

  send({ id, event }: FedEvent): void {
    this.#write(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  end(event: ConsoleEvent): void {
    this.#write(`data: ${JSON.stringify(event)}\n\n`);
    this.stop();
    this.#raw.end();
  }

  stop(): void {
    clearInterval(this.#beat);
    clearInterval(this.#check);
  }

  async #checkSession(): Promise<void> {
    let message: string | undefined;
    try {
      message = await this.#refusal();
    } catch {
      message = 'The session cannot be checked: the store cannot be read.';
    }
    if (message !== undefined) this.end({ type: 'session_ended', message });
  }

  #write(text: string): void {
    if (this.#raw.destroyed || this.#raw.writableEnded) return;
    if (this.#raw.writableLength > MAX_UNREAD_BYTES) this.#raw.destroy();
    else this.#raw.write(text);
  }
}
