import { HostError } from '../domain/errors.js';
import type { CallReply, GuestCall } from '../domain/execution.js';
import { deferred } from '../lib/deferred.js';
import { MAX_IMAGE_BYTES } from '../wire/messages.js';

/** A worker that has not handed a program over by then is not going to: an image of the largest memory takes two seconds. */
const SUSPEND_TIMEOUT_MS = 20_000;

/** Why a program did not leave after all. */
const STAYED = {
  'worker lost': () =>
    new HostError(
      'worker_lost',
      'the worker was lost while it suspended the program; the program goes on in another one',
    ),
  'too large': () =>
    new HostError(
      'bad_input',
      `the program holds too much to be suspended (${MAX_IMAGE_BYTES} bytes at most); it goes on`,
    ),
  ended: () => new HostError('bad_input', 'the program ended before it could be suspended'),
};

/** A program on its way out of its worker: whoever waits for its image, and answers that came meanwhile. */
export class Departure {
  readonly #image = deferred<Buffer>();
  readonly #timer: NodeJS.Timeout;
  readonly #held: { readonly call: GuestCall; readonly reply: CallReply }[] = [];

  /** Its own time stands still from here on, so nothing else would end a worker that keeps it: `onLate` does. */
  constructor(onLate: () => void) {
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
  fail(reason: keyof typeof STAYED): void {
    clearTimeout(this.#timer);
    this.#image.reject(STAYED[reason]());
  }

  /** What came while it was not decided whether the program leaves. */
  takeHeld(): readonly { readonly call: GuestCall; readonly reply: CallReply }[] {
    return this.#held.splice(0);
  }
}
