import { type Schema, Validator } from '@cfworker/json-schema';
import { expect, test, vi } from 'vitest';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import { compileSchema } from './compile.js';
import { findProblems } from './evaluate.js';

/** Thousands of schemas: seconds, where other work takes the machine. */
vi.setConfig({ testTimeout: 60_000 });

/** Schemas with everything in them that both validators understand in the same way, and values that often fit. */
class SchemaMaker {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  schema(depth = 0): JsonObject {
    const schema: JsonObject = {};
    for (let count = 1 + this.#below(3); count > 0; count -= 1) Object.assign(schema, this.#keyword(depth));
    return schema;
  }

  value(depth = 0): JsonValue {
    const makers = [
      () => this.#pick([0, 1, 2, 3, 0.5, -1, 7]),
      () => this.#pick(['', 'a', 'ab', 'abc', 'xyz', '😀']),
      () => this.#pick([true, false, null]),
      () => Array.from({ length: this.#below(4) }, () => this.value(depth + 1)),
      () => Object.fromEntries(Array.from({ length: this.#below(4) }, () => [this.#name(), this.value(depth + 1)])),
    ];
    return (makers[this.#below(depth > 2 ? 3 : makers.length)] as () => JsonValue)();
  }

  #keyword(depth: number): JsonObject {
    const sub = (): JsonValue =>
      depth > 2 || this.#below(8) === 0 ? this.#pick([true, false, {}]) : this.schema(depth + 1);
    const subs = (): JsonValue[] => Array.from({ length: 1 + this.#below(3) }, sub);
    const named = (): JsonObject =>
      Object.fromEntries(Array.from({ length: 1 + this.#below(3) }, () => [this.#name(), sub()]));
    const makers: readonly (() => JsonObject)[] = [
      () => ({ type: this.#pick(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']) }),
      () => ({ type: [this.#pick(['object', 'array', 'string']), this.#pick(['integer', 'boolean', 'null'])] }),
      () => ({ enum: [this.value(), this.value()] }),
      () => ({ const: this.value() }),
      () => ({ properties: named() }),
      () => ({ patternProperties: { [this.#pick(['^a', 'b$', '^[xy]+$'])]: sub() } }),
      () => ({ additionalProperties: sub() }),
      () => ({ properties: named(), unevaluatedProperties: sub() }),
      () => ({ required: [this.#name()] }),
      () => ({ propertyNames: { maxLength: 1 + this.#below(2) } }),
      () => ({ minProperties: this.#below(2), maxProperties: 1 + this.#below(3) }),
      () => ({ dependentRequired: { [this.#name()]: [this.#name()] } }),
      () => ({ dependentSchemas: { [this.#name()]: sub() } }),
      () => ({ items: sub() }),
      () => ({ prefixItems: subs() }),
      () => ({ contains: sub() }),
      () => ({ contains: sub(), minContains: 1 + this.#below(2), maxContains: 2 }),
      () => ({ uniqueItems: true }),
      () => ({ minItems: this.#below(2), maxItems: 1 + this.#below(3) }),
      () => ({ minimum: this.#below(3), maximum: 2 + this.#below(3) }),
      () => ({ exclusiveMinimum: this.#below(3), exclusiveMaximum: 2 + this.#below(3) }),
      () => ({ multipleOf: this.#pick([0.5, 2, 3]) }),
      () => ({ minLength: this.#below(2), maxLength: 1 + this.#below(3) }),
      () => ({ pattern: this.#pick(['^a', 'b|y', '^.?$', '[a-c]{2}']) }),
      () => ({ anyOf: subs() }),
      () => ({ oneOf: subs() }),
      () => ({ allOf: subs() }),
      () => ({ not: sub() }),
      () => ({ if: sub(), then: sub(), else: sub() }),
      () => ({ $ref: '#/$defs/shared' }),
    ];
    return (makers[this.#below(makers.length)] as () => JsonObject)();
  }

  #name(): string {
    return this.#pick(['a', 'b', 'ab', 'x', 'abc']);
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  /** Mulberry32. */
  #below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * count);
  }
}

test('on 10,000 random schemas and values the verdict is that of another validator', () => {
  const maker = new SchemaMaker(7);
  const verdicts = { fits: 0, fails: 0 };
  const disagreements: JsonValue[] = [];
  for (let index = 0; index < 1_000; index += 1) {
    const schema: JsonObject = { $defs: { shared: maker.schema(2) }, ...maker.schema() };
    if (JSON.stringify(schema.$defs).includes('$ref')) continue;
    const validator = new Validator(schema as Schema, '2020-12', false);
    const { root } = compileSchema(schema);
    for (let count = 0; count < 10; count += 1) {
      const value = maker.value();
      const isValid = validator.validate(value).valid;
      verdicts[isValid ? 'fits' : 'fails'] += 1;
      if ((findProblems(root, value).length === 0) !== isValid) disagreements.push({ schema, value, isValid });
    }
  }
  expect(disagreements.slice(0, 3)).toEqual([]);
  expect(Math.min(verdicts.fits, verdicts.fails)).toBeGreaterThan(2_000);
});
