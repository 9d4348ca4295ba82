// biome-ignore-all lint/complexity/noArguments: Web IDL counts the arguments that were given.
import { formDecode, formEncode, wellFormed } from './percent-encoding.js';

type Pair = [name: string, value: string];

/** The callback that a URL gives its `searchParams`, to write the query back. */
export type QueryListener = (query: string | null) => void;

// Set by the class's static block: the only access to its private fields from outside, and not reachable by a program.
let linkedParams: (query: string, listener: QueryListener) => URLSearchParams;
let replacePairs: (params: URLSearchParams, query: string) => void;

/** The `searchParams` of a URL: every change is passed to `listener`. */
export function createLinkedSearchParams(query: string, listener: QueryListener): URLSearchParams {
  return linkedParams(query, listener);
}

/** The other direction: the URL's query has changed. */
export function updateLinkedSearchParams(params: URLSearchParams, query: string): void {
  replacePairs(params, query);
}

/** `URLSearchParams` of the WHATWG URL standard. */
export class URLSearchParams {
  #pairs: Pair[] = [];
  #listener: QueryListener | undefined;

  static {
    linkedParams = (query, listener) => {
      const params = new URLSearchParams();
      params.#pairs = parsePairs(query);
      params.#listener = listener;
      return params;
    };
    replacePairs = (params, query) => {
      params.#pairs = parsePairs(query);
    };
  }

  constructor(init: unknown = '') {
    if ((typeof init === 'object' && init !== null) || typeof init === 'function') this.#pairs = pairsOf(init);
    else {
      const text = toText(init);
      this.#pairs = parsePairs(text.startsWith('?') ? text.slice(1) : text);
    }
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    requireArguments('append', arguments.length, 2);
    this.#pairs.push([toText(name), toText(value)]);
    this.#changed();
  }

  delete(name: unknown, value: unknown = undefined): void {
    requireArguments('delete', arguments.length, 1);
    const isMatch = matcher(name, value);
    this.#pairs = this.#pairs.filter((pair) => !isMatch(pair));
    this.#changed();
  }

  get(name: unknown): string | null {
    requireArguments('get', arguments.length, 1);
    const isMatch = matcher(name, undefined);
    return this.#pairs.find(isMatch)?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    requireArguments('getAll', arguments.length, 1);
    return this.#pairs.filter(matcher(name, undefined)).map((pair) => pair[1]);
  }

  has(name: unknown, value: unknown = undefined): boolean {
    requireArguments('has', arguments.length, 1);
    return this.#pairs.some(matcher(name, value));
  }

  set(name: unknown, value: unknown): void {
    requireArguments('set', arguments.length, 2);
    const pair: Pair = [toText(name), toText(value)];
    const first = this.#pairs.findIndex(([other]) => other === pair[0]);
    if (first < 0) this.#pairs.push(pair);
    else {
      this.#pairs = this.#pairs.filter(([other], index) => other !== pair[0] || index === first);
      this.#pairs[first] = pair;
    }
    this.#changed();
  }

  /** Sorts by UTF-16 code units of the names; pairs with the same name keep their order. */
  sort(): void {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#changed();
  }

  forEach(callback: unknown, thisArgument: unknown = undefined): void {
    if (typeof callback !== 'function') throw new TypeError('URLSearchParams.forEach: the callback is not a function');
    for (let index = 0; index < this.#pairs.length; index++) {
      const [name, value] = this.#pairs[index] as Pair;
      Reflect.apply(callback, thisArgument, [value, name, this]);
    }
  }

  entries(): IterableIterator<Pair> {
    return new PairIterator(
      () => this.#pairs,
      ([name, value]): Pair => [name, value],
    ) as never;
  }

  keys(): IterableIterator<string> {
    return new PairIterator(
      () => this.#pairs,
      (pair) => pair[0],
    ) as never;
  }

  values(): IterableIterator<string> {
    return new PairIterator(
      () => this.#pairs,
      (pair) => pair[1],
    ) as never;
  }

  toString(): string {
    return this.#pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join('&');
  }

  declare [Symbol.iterator]: () => IterableIterator<Pair>;
  declare readonly [Symbol.toStringTag]: string;

  #changed(): void {
    if (this.#listener === undefined) return;
    const query = this.toString();
    this.#listener(query === '' ? null : query);
  }
}

/** Reads the list at every step, so that changes during iteration are visible, as the standard requires. */
class PairIterator<Item> {
  #pairs: () => readonly Pair[];
  #pick: (pair: Pair) => Item;
  #next = 0;

  constructor(pairs: () => readonly Pair[], pick: (pair: Pair) => Item) {
    // Throws for a `this` that is not a URLSearchParams when the iterator is created, not at its first step.
    pairs();
    this.#pairs = pairs;
    this.#pick = pick;
  }

  next(): IteratorResult<Item, undefined> {
    const pair = this.#pairs()[this.#next];
    if (pair === undefined) return { value: undefined, done: true };
    this.#next++;
    return { value: this.#pick(pair), done: false };
  }
}
shapeLikeWebIdl();

function parsePairs(query: string): Pair[] {
  const pairs: Pair[] = [];
  if (query === '') return pairs;
  for (const part of query.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    pairs.push(
      equals < 0 ? [formDecode(part), ''] : [formDecode(part.slice(0, equals)), formDecode(part.slice(equals + 1))],
    );
  }
  return pairs;
}

/** A sequence of pairs if the object is iterable, a record of strings otherwise. */
function pairsOf(init: object): Pair[] {
  const method: unknown = (init as { [Symbol.iterator]?: unknown })[Symbol.iterator];
  if (method === undefined || method === null) {
    const record = new Map<string, string>();
    for (const key of Reflect.ownKeys(init)) {
      if (!Reflect.getOwnPropertyDescriptor(init, key)?.enumerable) continue;
      // A symbol is not a string, and Web IDL throws for it rather than skipping it.
      record.set(toText(key), toText((init as Record<PropertyKey, unknown>)[key]));
    }
    return [...record];
  }
  if (typeof method !== 'function') throw new TypeError('URLSearchParams: Symbol.iterator is not a function');
  return Array.from(init as Iterable<unknown>, (item) => {
    if ((typeof item !== 'object' && typeof item !== 'function') || item === null) throw notAPair();
    const pair = [...(item as Iterable<unknown>)];
    if (pair.length !== 2) throw notAPair();
    return [toText(pair[0]), toText(pair[1])];
  });
}

function matcher(name: unknown, value: unknown): (pair: Pair) => boolean {
  const wantedName = toText(name);
  if (value === undefined) return (pair) => pair[0] === wantedName;
  const wantedValue = toText(value);
  return (pair) => pair[0] === wantedName && pair[1] === wantedValue;
}

function toText(value: unknown): string {
  // String(symbol) does not throw, and Web IDL does.
  return wellFormed(typeof value === 'string' ? value : `${value as string}`);
}

function requireArguments(method: string, given: number, needed: number): void {
  if (given < needed) throw new TypeError(`URLSearchParams.${method} needs ${needed} argument(s), ${given} given`);
}

function notAPair(): TypeError {
  return new TypeError('URLSearchParams: each item must be a pair of a name and a value');
}

function shapeLikeWebIdl(): void {
  const prototype = URLSearchParams.prototype;
  for (const name of Object.getOwnPropertyNames(prototype)) {
    if (name !== 'constructor') Object.defineProperty(prototype, name, { enumerable: true });
  }
  Object.defineProperty(prototype, Symbol.iterator, { value: prototype.entries, writable: true, configurable: true });
  Object.defineProperty(prototype, Symbol.toStringTag, { value: 'URLSearchParams', configurable: true });
  // A minifier may rename the class.
  Object.defineProperty(URLSearchParams, 'name', { value: 'URLSearchParams', configurable: true });
  const iteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
  Object.setPrototypeOf(PairIterator.prototype, iteratorPrototype);
  Object.defineProperty(PairIterator.prototype, 'next', { enumerable: true });
  Object.defineProperty(PairIterator.prototype, Symbol.toStringTag, {
    value: 'URLSearchParams Iterator',
    configurable: true,
  });
  Reflect.deleteProperty(PairIterator.prototype, 'constructor');
}
