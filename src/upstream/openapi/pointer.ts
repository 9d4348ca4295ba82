import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';

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
    let current: JsonValue | undefined = this.#document;
    for (const token of reference.slice(2).split('/')) {
      const key = unescaped(token);
      if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
      current = (current as JsonObject)[key];
    }
    return current;
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

function unescaped(token: string): string {
  const plain = token.replaceAll('~1', '/').replaceAll('~0', '~');
  if (!plain.includes('%')) return plain;
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
