import type { CallReply, GuestCall } from '../domain/execution.js';
import { deferred } from '../lib/deferred.js';

/** A worker that has not handed a program over by then is not going to: an image of the largest memory takes two seconds. */
const SUSPEND_TIMEOUT_MS = 20_000;

/** A program on its way out of its worker: whoever waits for its image, and answers that came meanwhile. */
export class Departure {
  readonly #image = deferred<Buffer>();
  readonly #timer: NodeJS.Timeout;
  readonly #held: { readonly call: GuestCall; readonly reply: CallReply }[] = [];
  /** Its time stood still already when it was asked to leave. */
  readonly timeWasHeld: boolean;

  /** Its own time stands still from here on, so nothing else would end a worker that keeps it: `onLate` does. */
  constructor(timeWasHeld: boolean, onLate: () => void) {
    this.timeWasHeld = timeWasHeld;
    this.#timer = setTimeout(onLate, SUSPEND_TIMEOUT_MS);
  }

  get image(): Promise<Buffer> {
    return this.#image.promise;
  }

  /** The image may be taken already: what is delivered now would be in the journal and not in it. */
  hold(call: GuestCall, reply: CallReply): void {
    this.#held.push({ call, reply });
  }

  /** It has left. */
  complete(image: Buffer): void {
    clearTimeout(this.#timer);
    this.#image.resolve(image);
  }

  /** It has not. */
  fail(reason: Error): void {
    clearTimeout(this.#timer);
    this.#image.reject(reason);
  }

  /** What came while it was not decided whether the program leaves. */
  takeHeld(): readonly { readonly call: GuestCall; readonly reply: CallReply }[] {
    return this.#held.splice(0);
  }
}
