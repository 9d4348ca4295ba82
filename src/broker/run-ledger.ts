import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.js';
import { ReceivedData } from './policy/flow.js';

/** What the pipeline has to remember of a run from one call to the next. A run that sleeps takes it along as JSON. */
export class RunLedger {
  /** Of which servers the program holds data. */
  readonly received: ReceivedData;
  /** What its calls have cost so far, in millionths. */
  spent: number;

  constructor(received = new ReceivedData(), spent = 0) {
    this.received = received;
    this.spent = spent;
  }

  toJSON(): JsonObject {
    return { received: this.received.toJSON(), spent: this.spent };
  }

  /** Throws where it is not what `toJSON` gives: a run must not wake up with a clean slate. */
  static fromJSON(value: JsonValue): RunLedger {
    const { received, spent } = isJsonObject(value) ? value : ({} as JsonObject);
    if (received === undefined || typeof spent !== 'number' || !Number.isSafeInteger(spent) || spent < 0)
      throw new TypeError('no state of a run');
    return new RunLedger(ReceivedData.fromJSON(received), spent);
  }
}
