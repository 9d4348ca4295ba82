import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { decodeFragment, valueAt } from '../../domain/json-schema/references.js';

/** A reference may lead to another reference. Real documents have shorter chains, and a cycle never ends. */
const MAX_HOPS = 16;

/** References within one document. Nothing is ever fetched, and inherited properties are not reachable. */
export class Pointers {
  readonly #document: JsonObject;

  constructor(document: JsonObject) {
    this.#document = document;
  }

  /** The value at `#/a/b`. Undefined for other documents. */
  at(reference: string): JsonValue | undefined {
    if (!reference.startsWith('#/')) return undefined;
    return valueAt(this.#document, decodeFragment(reference.slice(1)) ?? reference.slice(1));
  }

  /** The object itself, or the one its `$ref` leads to. Undefined if that is not an object, or if the chain is too long. */
  follow(value: JsonValue | undefined): JsonObject | undefined {
    let current = value;
    for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
      if (!isJsonObject(current)) return undefined;
      if (typeof current.$ref !== 'string') return current;
      current = this.at(current.$ref);
    }
    return undefined;
  }
}
