import { HostError } from '../../domain/errors.js';
import type { CallReply, GuestCall } from '../../domain/run.js';
import { deferred } from '../../lib/async/deferred.js';
import { MAX_IMAGE_BYTES } from '../../wire/messages.js';

/** A worker that has not returned the image after this time never will: an image of the largest memory takes two seconds. */
const SUSPEND_TIMEOUT_MS = 20_000;

/** Why a suspension failed. */
const STAYED = {
  'worker lost': () =>
    new HostError(
      'worker_lost',
      'the worker was lost while it suspended the program; the program continues in another worker',
    ),
  'too large': () =>
    new HostError(
      'bad_input',
      `the program holds too much to be suspended (${MAX_IMAGE_BYTES} bytes at most); it continues`,
    ),
  ended: () => new HostError('bad_input', 'the program ended before it could be suspended'),
};

/** A suspension in progress: the promise of the image, and the replies that arrive in the meantime. */
export class Suspension {
  readonly #image = deferred<Buffer>();
  readonly #timer: NodeJS.Timeout;
  readonly #held: { readonly call: GuestCall; readonly reply: CallReply }[] = [];

  /** The program's timeout is paused from here on, so only `onLate` can end a worker that does not return the image. */
  constructor(onLate: () => void) {
    this.#timer = setTimeout(onLate, SUSPEND_TIMEOUT_MS);
  }

  get image(): Promise<Buffer> {
    return this.#image.promise;
  }

  /** Holds a reply back: the image may exist already, and a delivery made now would be in the journal but not in the image. */
  hold(call: GuestCall, reply: CallReply): void {
    this.#held.push({ call, reply });
  }

  /** The worker returned the image. */
  complete(image: Buffer): void {
    clearTimeout(this.#timer);
    this.#image.resolve(image);
  }

  /** The program stays in its worker. */
  fail(reason: keyof typeof STAYED): void {
    clearTimeout(this.#timer);
    this.#image.reject(STAYED[reason]());
  }

  /** The replies that arrived during the suspension. */
  takeHeld(): readonly { readonly call: GuestCall; readonly reply: CallReply }[] {
    return this.#held.splice(0);
  }
}
