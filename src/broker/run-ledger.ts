import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.js';
import { ReceivedData } from './policy/flow.js';

/** What the pipeline remembers of a run between calls. It is stored as JSON with a suspended run. */
export class RunLedger {
  /** The servers whose data the program has received. */
  readonly received: ReceivedData;
  /** The cost of its calls so far, in millionths. */
  spent: number;

  constructor(received = new ReceivedData(), spent = 0) {
    this.received = received;
    this.spent = spent;
  }

  toJSON(): JsonObject {
    return { received: this.received.toJSON(), spent: this.spent };
  }

  /** Throws if the value is not from `toJSON`: a run must not be resumed with an empty ledger. */
  static fromJSON(value: JsonValue): RunLedger {
    const { received, spent } = isJsonObject(value) ? value : ({} as JsonObject);
    if (received === undefined || typeof spent !== 'number' || !Number.isSafeInteger(spent) || spent < 0)
      throw new TypeError('no state of a run');
    return new RunLedger(ReceivedData.fromJSON(received), spent);
  }
}
