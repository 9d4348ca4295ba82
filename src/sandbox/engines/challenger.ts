import type { WorkerToHost } from '../../wire/messages.js';
import { digestOf, type Journal } from '../journal/journal.js';
import type { EnginePlace } from './engine.js';

/** What a message from the other engine means for the run. */
export type Verdict =
  /** It is replaying the journal. */
  | 'catching up'
  /** It is ahead of the engine that has the run: it has made the next call, reached the end, or waits for the same delivery. */
  | 'ahead'
  /** It deviated from the journal: the engines differ for this program. */
  | 'diverged'
  /** It failed, or cannot run the program: the run's own engine decides the outcome. */
  | 'failed'
  | 'unfit';

/** Bytes that a replay may send beyond the journal before it is ahead: logs and clock reads of one slice of work. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * A replay of a run in a faster engine while the run continues in its own. Between two deliveries a program has no effects, so
 * both may compute: the first to get further takes the run. The worker is hostile, so its messages are checked against the
 * journal.
 */
export class Challenger {
  readonly #journal: Journal;
  /** The run's own engine does not get the delivery that started this replay, unless the replay fails. */
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

  /** Its messages beyond the journal, in order. The run receives them once this engine has the run. */
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
