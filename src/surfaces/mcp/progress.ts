import type { ServerContext } from '@modelcontextprotocol/server';
import { type StepSource, stepText } from '../../domain/step.js';
import type { CallProgress } from '../../domain/upstream.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { oneLine } from '../../lib/text/bounded-text.js';

/** A client that gets no message for long assumes that nothing happens. */
const STILL_RUNNING_EVERY_MS = 5_000;
/** Minimum time between two messages. A tool's more frequent reports are throttled. */
const MIN_INTERVAL_MS = 100;
const MAX_MESSAGE_CHARACTERS = 500;
/** Messages of one call that the client has not read. Further ones are dropped: a later one replaces them. */
const MAX_UNTAKEN = 64;

/** Reports the progress of a call to a client that asked for it. The value always increases, as the protocol requires. */
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

  /** Undefined if the client did not ask for progress. */
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

  /** The current long step; `undefined` when it is over. */
  step(step: StepSource | undefined): void {
    this.#step = step;
  }

  /** Sends the latest message. Messages in between are dropped if they come too fast. */
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

/** Relays an upstream's progress on a call that the client made directly, values included. */
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
  // Text of a server, or the name of one of its tools.
  const shown = omitUndefined({ message: ifDefined(message, (message) => oneLine(message, MAX_MESSAGE_CHARACTERS)) });
  try {
    const params = { progressToken: token, ...progress, ...shown };
    await context.mcpReq.notify({ method: 'notifications/progress', params });
  } catch {
    // The client is gone; its call is cancelled by its own signal.
  }
}
