import type { ServerContext } from '@modelcontextprotocol/server';
import { type StepSource, stepText } from '../../domain/step.js';
import type { CallProgress } from '../../domain/upstream.js';
import { oneLine } from '../../lib/text/bounded-text.js';

/** A client that hears nothing for long believes that nothing happens. */
const STILL_RUNNING_EVERY_MS = 5_000;
/** A tool that reports more often than this is told less often than that. */
const MIN_INTERVAL_MS = 100;
const MAX_MESSAGE_CHARACTERS = 500;
/** News of one call that the client has not taken; what comes meanwhile is dropped, and the next is as good. */
const MAX_UNTAKEN = 64;

/** Tells a client that asked for it how a call is going. What is told counts up, as the protocol demands. */
export class Progress implements Disposable {
  readonly #context: ServerContext;
  readonly #token: string | number;
  readonly #startedAt = performance.now();
  readonly #ticks: NodeJS.Timeout;
  #step: StepSource | undefined;
  #count = 0;
  #isOver = false;
  #lastAt = Number.NEGATIVE_INFINITY;
  #waiting: { message: string; timer: NodeJS.Timeout } | undefined;

  /** Nothing, for a client that did not ask. */
  static of(context: ServerContext): Progress | undefined {
    const token = context.mcpReq._meta?.progressToken;
    return token === undefined ? undefined : new Progress(context, token);
  }

  private constructor(context: ServerContext, token: string | number) {
    this.#context = context;
    this.#token = token;
    this.#ticks = setInterval(() => {
      const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
      this.say(this.#step === undefined ? `still running, ${seconds} s` : stepText(this.#step(), seconds));
    }, STILL_RUNNING_EVERY_MS);
    this.say('started');
  }

  /** What takes long from now on; `undefined` when that is over. */
  step(step: StepSource | undefined): void {
    this.#step = step;
  }

  /** The latest message goes out; those in between are dropped when they come too fast. */
  say(message: string): void {
    if (this.#isOver) return;
    const waitMs = this.#lastAt + MIN_INTERVAL_MS - performance.now();
    if (this.#waiting !== undefined) this.#waiting.message = message;
    else if (waitMs <= 0) this.#send({ progress: this.#count + 1, message });
    else {
      const timer = setTimeout(() => {
        const latest = this.#waiting?.message ?? message;
        this.#waiting = undefined;
        this.#send({ progress: this.#count + 1, message: latest });
      }, waitMs);
      this.#waiting = { message, timer };
    }
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearInterval(this.#ticks);
    clearTimeout(this.#waiting?.timer);
  }

  #send({ progress, message = '' }: CallProgress): void {
    this.#count = progress;
    this.#lastAt = performance.now();
    void notifyProgress(this.#context, this.#token, { progress, message });
  }
}

/** Passes on what an upstream says about a call that the client made itself, figures and all. */
export function progressRelay(context: ServerContext): ((progress: CallProgress) => void) | undefined {
  const token = context.mcpReq._meta?.progressToken;
  if (token === undefined) return undefined;
  let untaken = 0;
  return (progress) => {
    if (untaken >= MAX_UNTAKEN) return;
    untaken += 1;
    void notifyProgress(context, token, progress).finally(() => {
      untaken -= 1;
    });
  };
}

async function notifyProgress(context: ServerContext, token: string | number, progress: CallProgress): Promise<void> {
  const { message } = progress;
  // A server's words, or the name of one of its tools.
  const shown = message === undefined ? {} : { message: oneLine(message, MAX_MESSAGE_CHARACTERS) };
  try {
    const params = { progressToken: token, ...progress, ...shown };
    await context.mcpReq.notify({ method: 'notifications/progress', params });
  } catch {
    // The client is gone; its call ends by its own signal.
  }
}
