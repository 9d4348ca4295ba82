import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CallFailure, openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/**
 * Pollution in both directions: a program that patches every built-in its bindings could rely on, and results and
 * arguments whose keys would pollute careless code that copies them.
 */

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

const ORDER = { tool: 'rows', input: { page: 1, filter: 'a' } };
const functions = {
  rows: (input: unknown) => ({ tool: 'rows', input }),
  other: () => ({ tool: 'other', secret: 'of the other call' }),
  refuse: () => {
    throw new CallFailure('no');
  },
};

/** Patches that a careless binding would run into. Each may ruin the program itself, never what leaves it or comes in. */
const PATCHES: readonly (readonly [name: string, code: string])[] = [
  ['Promise and its methods', `globalThis.Promise = class { constructor() { throw 1 } }; `],
  [
    'Promise.prototype.then',
    `const { then } = Promise.prototype; Promise.prototype.then = function (...all) { seen.push('then'); return Reflect.apply(then, this, all) };`,
  ],
  [
    'the constructor and species of promises',
    `Object.defineProperty(Promise, Symbol.species, { get() { seen.push('species'); return class { constructor(run) { run(() => {}, () => {}) } } } });`,
  ],
  ['JSON', `JSON.stringify = () => '["forged"]'; JSON.parse = () => 'forged';`],
  ['JSON whole', `globalThis.JSON = { stringify: () => '["forged"]', parse: () => 'forged' };`],
  [
    'Map, WeakMap and Set',
    `for (const type of [Map, WeakMap, Set]) for (const key of ['get', 'set', 'has', 'delete', 'add']) if (key in type.prototype) type.prototype[key] = () => 'forged'; globalThis.Map = globalThis.WeakMap = globalThis.Set = function () { throw 1 };`,
  ],
  [
    'array iterators',
    `Array.prototype[Symbol.iterator] = function* () { yield 'forged' }; Object.getPrototypeOf([].values()).next = () => ({ done: true });`,
  ],
  [
    'array methods',
    `for (const key of Object.getOwnPropertyNames(Array.prototype)) if (typeof Array.prototype[key] === 'function' && key !== 'constructor') Array.prototype[key] = () => 'forged';`,
  ],
  ['Array.prototype.toJSON', `Array.prototype.toJSON = () => ['forged'];`],
  [
    'setters on the indexes of arrays',
    `for (const index of [0, 1, 2]) Object.defineProperty(Array.prototype, index, { set(value) { seen.taken = value }, get() { return 'forged' }, configurable: true });`,
  ],
  [
    'String.prototype.concat, replace and split',
    `for (const key of ['concat', 'replace', 'split', 'slice', 'indexOf', 'toString', 'valueOf']) String.prototype[key] = () => 'forged';`,
  ],
  [
    'getters and setters on Object.prototype',
    `for (const key of ['0', '1', 'resolve', 'reject', 'target', 'number', 'value', 'ok', 'error', 'fields', 'message', 'hint', 'errorClass', 'cause', 'site', 'length', 'enumerable', 'toJSON', 'name']) Object.defineProperty(Object.prototype, key, { __proto__: null, get() { seen.got = key; return undefined }, set(value) { seen.taken = value }, configurable: true });`,
  ],
  ['get and set on Object.prototype', `Object.prototype.get = Object.prototype.set = () => 'forged';`],
  [
    'then on Object.prototype',
    `Object.prototype.then = function (resolve) { seen.push('then of ' + typeof this); delete Object.prototype.then; resolve(this) };`,
  ],
  [
    'toJSON on Function and Number',
    `Function.prototype.toJSON = () => 'forged'; Number.prototype.toJSON = () => 'forged'; String.prototype.toJSON = () => 'forged';`,
  ],
  [
    'Function.prototype.call, apply and bind',
    `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => 'forged';`,
  ],
  ['Reflect', `for (const key of Object.getOwnPropertyNames(Reflect)) Reflect[key] = () => 'forged';`],
  [
    'Object',
    `for (const key of Object.getOwnPropertyNames(Object)) if (typeof Object[key] === 'function') Object[key] = () => 'forged';`,
  ],
  [
    'Error and its stack',
    `globalThis.Error = function () { throw 1 }; try { Object.defineProperty(TypeError.prototype, 'stack', { get() { throw 1 } }) } catch {}`,
  ],
  ['Symbol', `globalThis.Symbol = { iterator: 'x' };`],
  [
    'the clock and numbers',
    `Date.now = () => NaN; Math.floor = () => NaN; Math.random = () => 0; globalThis.Number = () => NaN;`,
  ],
];

const WHOLE = (when: 'before' | 'after') => (code: string) =>
  `
  import { rows, other, refuse } from '@codemode/servers/test';
  import { ToolCallError } from '@codemode/errors';
  const seen = [];
  ${when === 'before' ? code : ''}
  const first = rows({ page: 1, filter: 'a' });
  const second = other();
  const third = refuse();
  ${when === 'after' ? code : ''}
  let failed;
  const one = await first;
  const two = await second;
  try { await third } catch (error) { failed = error instanceof ToolCallError }
  globalThis.__codemode_result__ = { one: one.tool, input: one.input.filter, two: two.tool, failed };`;

describe('what a program patches does not change what its bindings do', () => {
  for (const when of ['before', 'after'] as const) {
    test.each(PATCHES)(`%s, patched ${when} the calls [A34]`, async (_, code) => {
      const made: unknown[] = [];
      const spy = Object.fromEntries(
        Object.entries(functions).map(([name, run]) => [
          name,
          (input: unknown) => {
            made.push([name, input]);
            return (run as (value: unknown) => unknown)(input);
          },
        ]),
      );
      const { outcome } = await box.run(WHOLE(when)(code), { functions: spy, limits: { timeoutMs: 2_000 } });
      // The calls that were asked for, with what they were asked with, in order, and no other.
      expect(made).toEqual([
        ['rows', ORDER.input],
        ['other', undefined],
        ['refuse', undefined],
      ]);
      // Each call gets its own answer.
      expect(outcome).toEqual({
        status: 'completed',
        resultJson: '{"one":"rows","input":"a","two":"other","failed":true}',
      });
      expect(await box.value(result('[({}).polluted, typeof seen, [1, 2].concat(3)]'))).toEqual([
        null,
        'undefined',
        [1, 2, 3],
      ]);
    });
  }

  test('a program cannot settle, replace or read the promise of a call before its answer', async () => {
    const value = await box.value(
      `import { rows } from '@codemode/servers/test';
       const promise = rows({ page: 1 });
       Object.assign(promise, { then: undefined, value: 'forged', state: 'fulfilled' });
       const own = Reflect.ownKeys(promise).sort();
       delete promise.then;
       ${result('[(await promise).tool, own]')}`,
      { functions },
    );
    expect(value).toEqual(['rows', ['state', 'then', 'value']]);
  });

  test('the description of a failure cannot be forged through what the program patched', async () => {
    const { outcome } = await box.run(
      `JSON.stringify = () => '{"name":"Forged","message":"forged","limit":"timeout"}';
       Object.prototype.toJSON = () => ({ name: 'Forged' });
       String.prototype.concat = () => 'forged';
       throw new RangeError('true');`,
    );
    expect(outcome).toMatchObject({ failure: { kind: 'exception', name: 'RangeError', message: 'true' } });
  });
});

const POISON = `{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"then":"no function","toJSON":"text",
  "prototype":{"polluted":3},"hasOwnProperty":null,"toString":null,"valueOf":1,"__defineGetter__":1,"length":-1,"nested":{"__proto__":{"polluted":4}},
  "list":[{"__proto__":{"polluted":5}}]}`;

describe('poisoned keys pollute nothing', () => {
  test('in a result: they are own data of that result [A34]', async () => {
    const { sandbox, program } = box;
    const source = `import { rows } from '@codemode/servers/test'; const value = await rows();
      ${result('[({}).polluted, [].polluted, (() => {}).polluted, value.polluted, Object.hasOwn(value, "__proto__"), Object.getPrototypeOf(value) === Object.prototype, Object.getPrototypeOf(value.nested) === Object.prototype, Object.getPrototypeOf(value.list[0]) === Object.prototype, value.then, value.__proto__ === Object.prototype]')}`;
    const { report } = await sandbox.start(
      { caller: 'tester' as never, program: program(source, { functions }) },
      { onCall: async () => ({ ok: true, json: POISON }) },
    );
    expect((await report).outcome).toMatchObject({
      status: 'completed',
      resultJson: '[null,null,null,null,true,true,true,true,"no function",false]',
    });
  });

  test('in the fields of an error: the error keeps its class, stack and message [A34]', async () => {
    const { sandbox, program } = box;
    const source = `import { rows } from '@codemode/servers/test'; import * as errors from '@codemode/errors';
      const error = await rows().catch((caught) => caught);
      ${result('[error instanceof errors.ToolCallError, Object.getPrototypeOf(error) === errors.ToolCallError.prototype, ({}).polluted, error.polluted, error.message, error.name, typeof error.stack, typeof error.hint, error.constructor === errors.ToolCallError]')}`;
    const { report } = await sandbox.start(
      { caller: 'tester' as never, program: program(source, { functions }) },
      {
        onCall: async () => ({
          ok: false,
          error: { errorClass: '__proto__', message: 'real', hint: 'real', fields: JSON.parse(POISON) },
        }),
      },
    );
    expect((await report).outcome).toMatchObject({
      status: 'completed',
      resultJson: expect.stringMatching(
        /^\[true,true,null,null,"real","ToolCallError","string","string",(true|false)\]$/,
      ),
    });
  });

  test('in arguments, results and logs on their way to the host: its own prototypes stay clean [A34]', async () => {
    const { outcome, logs } = await box.run(
      `import { echo } from '@codemode/servers/test'; const poison = JSON.parse(${JSON.stringify(POISON)});
       console.log(poison); await echo(poison); globalThis.__codemode_result__ = { inner: poison.nested, ['__proto__']: { polluted: 6 } };`,
      { functions: { echo: (input) => input } },
    );
    expect(outcome).toEqual({
      status: 'completed',
      resultJson: '{"inner":{"__proto__":{"polluted":4}},"__proto__":{"polluted":6}}',
    });
    expect(logs).toHaveLength(1);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});
