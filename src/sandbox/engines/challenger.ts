import type { WorkerToHost } from '../../wire/messages.js';
import { digestOf, type Journal } from '../journal/journal.js';
import type { EnginePlace } from './engine.js';

/** What a message of the other engine means for the run. */
export type Verdict =
  /** It is replaying what is known. */
  | 'catching up'
  /** It is ahead of the engine that has the run: it has made the next call, come to the end, or waits for the same. */
  | 'ahead'
  /** It did something else than the journal says: the engines differ for this program. */
  | 'diverged'
  /** It failed, or cannot run the program: the other engine knows what becomes of it. */
  | 'failed'
  | 'unfit';

/** What a replay may say beyond the journal before it is ahead: logs and clock reads of one slice of work. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * A run that is replayed in a faster engine while it goes on in its own. Between two deliveries a program has no effects, so
 * both may compute: the first that gets further has the run. The worker is hostile, so what it says is held to the journal.
 */
export class Challenger {
  readonly #journal: Journal;
  /** The run's own engine is not given the delivery that caused this, unless this one fails. */
  readonly isAlone: boolean;
  place: EnginePlace | undefined;
  #said = 0;
  #kept: { readonly message: WorkerToHost; readonly body: Buffer }[] = [];
  #keptBytes = 0;

  constructor(journal: Journal, isAlone: boolean) {
    this.#journal = journal;
    this.isAlone = isAlone;
  }

  /** How many calls of the journal it has repeated. */
  get said(): number {
    return this.#said;
  }

  hear(message: WorkerToHost, body: Buffer, place: EnginePlace): Verdict {
    switch (message.type) {
      case 'call/request':
        return this.#called(message.call, message.target, body);
      case 'execution/log':
      case 'clock/read':
        return this.#keep(message, body);
      case 'execution/waiting':
        return place.isQuiet && place.isUpToDate ? this.#arrived() : 'catching up';
      case 'execution/end':
        return message.failure === null ? this.#arrived() : 'failed';
      case 'execution/unfit':
        return 'unfit';
      case 'execution/suspended':
      case 'execution/computing':
      case 'call/site':
      case 'worker/ready':
        return 'diverged';
    }
  }

  /** What it said beyond the journal, in order: the run hears it when the run is its own. */
  takeKept(): readonly { readonly message: WorkerToHost; readonly body: Buffer }[] {
    return this.#kept.splice(0);
  }

  #called(number: number, target: string, body: Buffer): Verdict {
    if (number !== this.#said + 1) return 'diverged';
    const known = this.#journal.calls[number - 1];
    if (known === undefined) return 'ahead';
    this.#said = number;
    return known.target === target && known.argumentsDigest === digestOf(body) ? 'catching up' : 'diverged';
  }

  #arrived(): Verdict {
    return this.#said === this.#journal.calls.length ? 'ahead' : 'diverged';
  }

  #keep(message: WorkerToHost, body: Buffer): Verdict {
    this.#keptBytes += body.byteLength + 64;
    if (this.#keptBytes > MAX_KEPT_BYTES) return 'diverged';
    this.#kept.push({ message, body });
    return 'catching up';
  }
}
