import { expect, test, vi } from 'vitest';
import { randomNumbers } from '../../../test/support/schema-values.js';
import { typeCheck } from '../../../test/support/type-check.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import type { Tool } from '../../domain/tool.js';
import { declareModule } from '../declarations/typescript/typescript.js';
import { SHARED_DECLARATIONS } from '../declarations/typescript/typescript-frames.js';
import { ObservedTypes } from './observed-types.js';

/** Thousands of values: seconds, where other work takes the machine. */
vi.setConfig({ testTimeout: 60_000 });

const ME = 'me' as CallerId;
const FIELDS = [
  'id',
  'name',
  'userId',
  'created_at',
  'content-type',
  '@type',
  'items',
  'owner',
  'tags',
  'count',
  'next',
];

/** Results with secrets in them as values and as keys, and the secrets. */
class ResultMaker {
  readonly secrets: string[] = [];
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  result(): JsonValue {
    const value = this.#value(0);
    return this.#below(4) === 0 ? JSON.stringify(value) : value;
  }

  #value(depth: number): JsonValue {
    const choice = this.#below(depth > 3 ? 4 : 8);
    if (choice === 0) return this.#below(100_000);
    if (choice === 1) return this.#below(2) === 0 ? null : true;
    if (choice < 4) return this.#secret();
    if (choice === 4) return Array.from({ length: this.#below(4) }, () => this.#value(depth + 1));
    const object: JsonObject = {};
    for (let count = this.#below(6); count > 0; count -= 1) {
      object[this.#below(3) === 0 ? this.#secret() : this.#pick(FIELDS)] = this.#value(depth + 1);
    }
    return object;
  }

  #secret(): string {
    const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
    const token = (length: number, alphabet = letters) =>
      Array.from({ length }, () => alphabet[this.#below(alphabet.length)]).join('');
    const digits = (length: number) => token(length, '0123456789');
    const hex = (length: number) => token(length, '0123456789abcdef');
    const secret = this.#pick<() => string>([
      () => token(24 + this.#below(16)),
      () => `sk-${token(24)}`,
      () => `ghp_${token(36)}`,
      () => `AKIA${token(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')}7X`,
      () => hex(32),
      () => `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`,
      () => `${token(8, 'abcdefghij')}@example.com`,
      () => `Ann ${token(6, 'abcdefghij')}`,
      () => `${2000 + this.#below(50)}-0${1 + this.#below(9)}-1${this.#below(10)}`,
      () => `+49 ${digits(10)}`,
      () => digits(9),
      () => `/home/${token(7, 'abcdefghij')}/notes.txt`,
      () => `https://example.com/${token(10)}`,
      () => `*/ evil_${token(6)}(); /*`,
      () => `\u202e${token(12)}\n`,
    ])();
    this.secrets.push(secret);
    return secret;
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
}

test('1,000 results with secrets as values and keys leak none, and the types compile as strict', () => {
  const maker = new ResultMaker(2025);
  const types = new ObservedTypes();
  const tools: Tool[] = Array.from({ length: 100 }, (_, index) => ({ serverId: 's', name: `tool_${index}` }));
  for (let index = 0; index < 1_000; index += 1) {
    types.observe(ME, 's', (tools[index % tools.length] as Tool).name, maker.result());
  }
  const { text } = declareModule(
    { path: 's', serverId: 's', serverName: 'S', tools },
    { observedTypeOf: (tool) => types.typeOf(ME, tool.serverId, tool.name) },
  );
  // Every line once: the search is for each of thousands of secrets.
  const lines = `${text}\n${JSON.stringify(types.toJson()).replaceAll('],[', '\n')}`.split('\n');
  const kept = [...new Set(lines.map((line) => line.trim()))].join('\n');
  expect(maker.secrets.filter((secret) => kept.includes(secret) || kept.includes(JSON.stringify(secret)))).toEqual([]);
  expect(maker.secrets.length).toBeGreaterThan(2_000);
  expect(text.match(/Observed, not declared/g)).toHaveLength(tools.length);
  expect(
    typeCheck(
      new Map([
        ['/shared.d.ts', SHARED_DECLARATIONS],
        ['/s.d.ts', text],
      ]),
    ),
  ).toEqual([]);
});

test('every word that is kept is one of the names of fields or of the language', () => {
  const maker = new ResultMaker(7);
  const types = new ObservedTypes();
  const allowed = new Set([...FIELDS.flatMap((name) => name.split(/\W+/)), '', 'key']);
  for (const word of ['JSON', 'text', 'of', 'or', 'plain']) allowed.add(word);
  for (const word of ['string', 'number', 'boolean', 'null', 'unknown', 'Record', 'never']) allowed.add(word);
  for (let index = 0; index < 1_000; index += 1) types.observe(ME, 's', `t${index % 50}`, maker.result());
  for (let index = 0; index < 50; index += 1) {
    const words = types.typeOf(ME, 's', `t${index}`)?.split(/\W+/) ?? [];
    expect(words.filter((word) => !allowed.has(word))).toEqual([]);
  }
});
