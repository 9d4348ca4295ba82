import { type SealBinding, seal, unseal } from '../lib/secrets/sealed.js';
import type { StoredRun } from './runs.js';

type Owner = Pick<StoredRun, 'id' | 'caller'>;

/** Seals what is stored of a run, bound to the run and to the kind of content. Moved to another place, it does not open. */
export class RunSeals {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** Context, title, response or recording of a run, bound to its caller. */
  seal(kind: 'context' | 'title' | 'response' | 'recording', { id, caller }: Owner, text: string): Buffer {
    return this.#seal(kind, [id, caller], text);
  }

  /** Earlier versions bound the content to the run alone. */
  unseal(kind: string, { id, caller }: Owner, bytes: Uint8Array): string | undefined {
    return this.#unseal(kind, [id, caller], bytes) ?? this.#unseal(kind, [id], bytes);
  }

  sealModules(digest: string, json: string): Buffer {
    return this.#seal('modules', [digest], json);
  }

  unsealModules(digest: string, bytes: Uint8Array): string | undefined {
    return this.#unseal('modules', [digest], bytes);
  }

  /** The seal covers the state, so that nobody can turn a sent call into an unsent one, which would be sent again. */
  sealCall(id: string, number: number, state: 'made' | 'sent', json: string): Buffer {
    return this.#seal('call', [id, String(number), state], json);
  }

  unsealCall(id: string, { number, state, call }: CallRow): string | undefined {
    return this.#unseal('call', [id, String(number), state], call) ?? this.#unseal('call', [id, String(number)], call);
  }

  sealDelivery(id: string, position: number, json: string): Buffer {
    return this.#seal('delivery', [id, String(position)], json);
  }

  unsealDelivery(id: string, position: number, bytes: Uint8Array): string | undefined {
    return this.#unseal('delivery', [id, String(position)], bytes);
  }

  #seal(kind: string, owner: readonly string[], text: string): Buffer {
    return seal(this.#key, binding(kind, owner), Buffer.from(text));
  }

  #unseal(kind: string, owner: readonly string[], bytes: Uint8Array): string | undefined {
    return unseal(this.#key, binding(kind, owner), bytes)?.toString('utf8');
  }
}

/** A call of a resumed run, as stored in its row. */
export interface CallRow {
  readonly number: number;
  readonly state: string;
  readonly call: Buffer;
}

function binding(kind: string, owner: readonly string[]): SealBinding {
  return { purpose: `run ${kind}`, owner };
}
