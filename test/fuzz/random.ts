/** Numbers from a seed, so that a case that fails can be made again. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** mulberry32 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  below(limit: number): number {
    return this.next() % limit;
  }

  chance(oneIn: number): boolean {
    return this.below(oneIn) === 0;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  list<Item>(most: number, make: () => Item): Item[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }

  /** Pieces that have broken something somewhere: ends of strings and comments, names of ours, what cannot be seen. */
  text(): string {
    return this.list(4, () => (this.chance(3) ? this.#character() : this.pick(PIECES))).join('');
  }

  #character(): string {
    return String.fromCodePoint(this.pick([this.below(0x80), this.below(0x3000), this.below(0x110000)]));
  }

  key(): string {
    return this.chance(3) ? this.text() : this.pick(KEYS);
  }

  number(): number {
    return this.pick([0, -0, 1, -1, 1.5, 1e21, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, this.next(), this.below(1_000)]);
  }

  json(depth = 4): unknown {
    switch (this.below(depth > 0 ? 7 : 5)) {
      case 0:
        return null;
      case 1:
        return this.chance(2);
      case 2:
        return this.number();
      case 3:
      case 4:
        return this.text();
      case 5:
        return this.list(4, () => this.json(depth - 1));
      default:
        return Object.fromEntries(this.list(4, () => [this.key(), this.json(depth - 1)]));
    }
  }

  bytes(most: number): Buffer {
    return Buffer.from(this.list(most, () => this.below(256)));
  }

  /** The same bytes with a few of them changed, cut, doubled or filled with something else. */
  mutated(original: Uint8Array): Buffer {
    let bytes = Buffer.from(original);
    for (let times = 1 + this.below(4); times > 0; times--) {
      const at = this.below(bytes.length + 1);
      const to = Math.min(bytes.length, at + 1 + this.below(16));
      const between = this.pick([
        () => this.bytes(8),
        () => Buffer.alloc(0),
        () => Buffer.from(this.text()),
        () => bytes.subarray(at, to),
        () => Buffer.from([0xff, 0xff, 0xff, 0xff]),
      ])();
      bytes = Buffer.concat([bytes.subarray(0, at), between, bytes.subarray(this.chance(2) ? at : to)]);
      if (bytes.length > 0 && this.chance(2)) bytes[this.below(bytes.length)] = this.below(256);
    }
    return bytes;
  }

  /** The same value with some part of it replaced, removed or added. */
  changed(value: unknown, depth = 6): unknown {
    if (depth === 0 || this.chance(6) || value === null || typeof value !== 'object') return this.json(2);
    if (Array.isArray(value)) {
      const at = this.below(value.length + 1);
      return [...value.slice(0, at), this.changed(value[at], depth - 1), ...value.slice(at + this.below(2))];
    }
    const entries = Object.entries(value);
    const at = this.below(entries.length + 1);
    const [key = this.key(), each] = entries[at] ?? [];
    const name = this.chance(5) ? this.key() : key;
    const rest = entries.filter(([other]) => other !== key);
    return Object.fromEntries(this.chance(5) ? rest : [...rest, [name, this.changed(each, depth - 1)]]);
  }
}

const PIECES = [
  ...['', ' ', 'a', 'name', '"', "'", '`', '\\', '\\"', '*/', '/*', '//', '#', '"""', "'''", '```', '${x}', '{{', '}}'],
  ...['\n', '\r', '\t', '\0', '\u001b[31m', '\u009b', '\u007f', '\u2028', '\u0085', '\u200b', '\u202e', '\ufeff'],
  ...['\u{e0041}', '\ufe0f', '\u200d', '👩🏽‍💻', '\ud800', '\udc00', '\u3164', 'é', 'ß', 'İ', 'x'.repeat(300)],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'then',
    'default',
    'class',
    'func',
    'def',
    'import',
    '//go:embed x',
    '../..',
  ],
  ...[
    '</script>',
    '<|im_start|>',
    '; DROP',
    '${HOME}',
    '$(id)',
    '%00',
    '#/$defs/a',
    '0',
    '-1',
    '1e999',
    'true',
    'null',
  ],
];
const KEYS = [
  ...[
    'type',
    'properties',
    'items',
    'enum',
    'const',
    '$ref',
    '$defs',
    'anyOf',
    'allOf',
    'oneOf',
    'required',
    'default',
  ],
  ...[
    'title',
    'description',
    'format',
    'pattern',
    'additionalProperties',
    'id',
    'jsonrpc',
    'method',
    'params',
    'result',
  ],
  ...['error', 'code', 'message', 'name', 'tools', 'content', 'structuredContent', 'isError', '_meta', 'nextCursor'],
];
