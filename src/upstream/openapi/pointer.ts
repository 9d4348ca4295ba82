import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import { decodeFragment, valueAt } from '../../domain/json-schema/references.js';

/** A reference may lead to a reference. Nobody goes this far, and a circle has no end. */
const MAX_HOPS = 16;

/** References within one document. Nothing is ever fetched, and nothing that every object inherits is reached. */
export class Pointers {
  readonly #document: JsonObject;

  constructor(document: JsonObject) {
    this.#document = document;
  }

  /** What is at `#/a/b`; nothing for other documents. */
  at(reference: string): JsonValue | undefined {
    if (!reference.startsWith('#/')) return undefined;
    return valueAt(this.#document, decodeFragment(reference.slice(1)) ?? reference.slice(1));
  }

  /** The object itself, or the one that its `$ref` leads to. Nothing where that is not an object, or never ends. */
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
