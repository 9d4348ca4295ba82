import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CallFailure, openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/**
 * A program climbs from what reaches it to what is behind it: the prototype and constructor chains of results, errors,
 * promises, functions and namespaces, and the hooks that other engines call with objects of the host.
 */

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 1 });
});
afterAll(() => box[Symbol.asyncDispose]());

const functions = {
  give: () => ({ list: [1, { deep: true }], text: 'x', none: null }),
  echo: (input: unknown) => input,
  refuse: () => {
    throw new CallFailure('no', 'AuthenticationError');
  },
};

/**
 * Walks everything that can be reached from the given values: own properties of every kind, getters, prototypes,
 * iterators. Whatever it meets must end in the intrinsics that the program itself has, and no name of a host's may occur.
 */
const WALK = `
  import * as tools from '@codemode/servers/test';
  import * as errors from '@codemode/errors';
  const { give, echo, refuse } = tools;
  const roots = new Set([null, Object.prototype]);
  const strangers = [];
  const hostNames = /^(process|require|module|Buffer|__dirname|__filename|mainModule|WebAssembly|__host.*|__entry|callSync|wake|mapStack|deliver|fireNext|collectResult|describeThrown|bindCall|bindCallSync|bindValue)$/;
  const seen = new Set();
  const walk = (start, from) => {
    const queue = [[start, from]];
    while (queue.length > 0) {
      const [value, path] = queue.pop();
      if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) continue;
      seen.add(value);
      let top = value;
      for (let next = Object.getPrototypeOf(top); next !== null; next = Object.getPrototypeOf(top)) top = next;
      const isNamespace = Object.getPrototypeOf(value) === null;
      if (!roots.has(top) && !isNamespace) strangers.push(path + ' ends elsewhere');
      if (typeof value === 'function' && hostNames.test(value.name)) strangers.push(path + ' is ' + value.name);
      queue.push([Object.getPrototypeOf(value), path + '.__proto__']);
      for (const key of Reflect.ownKeys(value)) {
        const property = Reflect.getOwnPropertyDescriptor(value, key);
        const name = path + '.' + String(key);
        if (typeof key === 'string' && hostNames.test(key)) strangers.push(name);
        for (const part of [property.value, property.get, property.set]) queue.push([part, name]);
        if (property.get !== undefined) { try { queue.push([property.get.call(value), name + '()']) } catch {} }
      }
    }
  };
  const finish = () => ({ strangers, walked: seen.size > 0, constructors: [...new Set([...seen].map((each) => { try { return each.constructor?.constructor?.constructor } catch {} }))].filter((each) => each !== undefined && each !== Function).length });
`;

describe('from a value that crossed, nothing leads out of the engine', () => {
  test.each([
    ['a result', 'walk(await give(), "value")'],
    ['a result that was sent out first', 'walk(await echo({ a: [{ b: 1 }] }), "value")'],
    ['the error of a failed call', 'walk(await refuse().catch((error) => error), "value")'],
    ['the cause of an error', 'walk(new Error("x", { cause: await refuse().catch((error) => error) }), "value")'],
    ['a promise of a call', 'const promise = give(); walk(promise, "value"); await promise'],
    ['a rejected promise of a call', 'const promise = refuse(); walk(promise, "value"); await promise.catch(() => {})'],
    ['what then and finally give', 'walk(give().then((x) => x).finally(() => {}), "value")'],
    ['a tool', 'walk(give, "value")'],
    [
      'a module namespace',
      'walk(tools, "value"); walk(errors, "value"); walk(await import("@codemode/servers/test"), "value")',
    ],
    ['import.meta', 'walk(import.meta, "value")'],
    ['the global object', 'walk(globalThis, "value")'],
    ['console', 'walk(console, "value")'],
    ['a generator that yields results', 'walk((function* () { yield give() })(), "value")'],
    [
      'an async generator that throws a call’s error',
      'const g = (async function* () { yield await refuse() })(); walk(g, "g"); walk(await g.next().catch((error) => error), "value")',
    ],
    [
      'return and throw of an async generator',
      'const g = (async function* () { try { yield 1 } finally { yield await give() } })(); await g.next(); walk(await g.return(give()), "r"); walk(await g.throw(await refuse().catch((e) => e)).catch((e) => e), "t")',
    ],
    [
      'the this of a callback',
      'const held = []; [1].map(function () { held.push(this) }, give()); await new Promise((resolve) => setTimeout(function () { held.push(this, arguments); resolve() }, 1)); queueMicrotask(function () { held.push(this, arguments) }); await 0; walk(held, "value")',
    ],
    [
      'the this and arguments of toJSON',
      'const held = []; await echo({ toJSON(...all) { held.push(this, all, new.target); return 1 } }); walk(held, "value")',
    ],
    [
      'the this and arguments of a getter called by a binding',
      'const held = []; await echo({ get a() { held.push(this, arguments); return 1 } }); walk(held, "value")',
    ],
    [
      'the this and arguments of a thenable that resolves with a call',
      'const held = []; await { then(...all) { held.push(this, all); all[0](give()) } }; walk(held, "value")',
    ],
    [
      'what a Proxy sees when it is sent as an argument',
      'const held = []; const spy = new Proxy({}, new Proxy({}, { get: (_, trap) => (...all) => { held.push(all); return Reflect[trap](...all) } })); await echo(spy).catch(() => {}); walk(held, "value")',
    ],
    [
      'what a species constructor sees',
      'const held = []; class Spy extends Promise { constructor(run) { super((...all) => { held.push(all); run(...all) }) } static get [Symbol.species]() { held.push(this); return Spy } } await Spy.resolve(give()); walk(held, "value")',
    ],
    [
      'what a patched then sees of a binding’s promise',
      'const held = []; const { then } = Promise.prototype; Promise.prototype.then = function (...all) { held.push(this, all); return Reflect.apply(then, this, all) }; await give(); await refuse().catch(() => {}); walk(held, "value")',
    ],
    [
      'what a patched Map, WeakMap and Array see',
      'const held = []; for (const type of [Map, WeakMap, Set, Array]) for (const key of Object.getOwnPropertyNames(type.prototype)) { const old = Object.getOwnPropertyDescriptor(type.prototype, key).value; if (typeof old === "function" && key !== "constructor" && key !== "push" && key !== "pop") type.prototype[key] = function (...all) { held[held.length] = [this, all]; return Reflect.apply(old, this, all) } } const g = await give(); const e = await refuse().catch((x) => x); walk(held.slice(0, 50), "value"); walk([g, e], "results")',
    ],
  ])('%s', async (_, code) => {
    const report = await box.value(`${WALK} ${code}; ${result('finish()')}`, { functions });
    expect(report).toEqual({ strangers: [], walked: true, constructors: 0 });
  });
});

describe('the hooks for stacks give text only', () => {
  test.each([
    ['Error.prepareStackTrace', `Error.prepareStackTrace = hook;`],
    [
      'prepareStackTrace on every error class',
      `for (const type of [Error, TypeError, RangeError, errors.CodemodeError]) { try { type.prepareStackTrace = hook } catch {} }`,
    ],
    ['prepareStackTrace on Object.prototype', `Object.prototype.prepareStackTrace = hook;`],
    [
      'prepareStackTrace defined as an accessor',
      `Object.defineProperty(Error, 'prepareStackTrace', { get() { return hook }, configurable: true });`,
    ],
  ])('%s is never called with call sites', async (_, attempt) => {
    const value = await box.value(
      `import * as errors from '@codemode/errors'; import { echo, refuse } from '@codemode/servers/test';
       const held = []; const hook = (error, sites) => { held.push(sites); return sites };
       ${attempt}
       const stacks = [new Error('x').stack];
       await echo({ toJSON() { stacks.push(new Error('y').stack); return 1 } });
       stacks.push((await refuse().catch((error) => error)).stack);
       try { null.x } catch (error) { stacks.push(error.stack) }
       const target = {}; Error.captureStackTrace(target); stacks.push(target.stack);
       delete Object.prototype.prepareStackTrace;
       ${result('[held.length, stacks.every((each) => typeof each === "string"), stacks.some((each) => /codemode:|host|worker|\\/|node/.test(each))]')}`,
      { functions },
    );
    expect(value).toEqual([0, true, false]);
  });

  test.each([
    ['caller of a function called by a binding', `function f() { return f.caller } return f()`],
    ['arguments.callee', `return (function () { return arguments.callee })()`],
    ['caller of the function that is passed', `return Function.prototype.caller`],
    ['arguments of a function', `function f() { return f.arguments } return f()`],
  ])('%s is refused', async (_, attempt) => {
    const seen = await box.value(
      `import { echo } from '@codemode/servers/test'; let seen;
       await echo({ toJSON() { try { seen = ['got', typeof (() => { ${attempt} })()] } catch (error) { seen = ['refused', error.name] } return 1 } });
       ${result('seen')}`,
      { functions },
    );
    expect([
      ['refused', 'TypeError'],
      ['got', 'undefined'],
    ]).toContainEqual(seen);
  });

  test('a stack limit that is an object, a getter or a huge number changes nothing', async () => {
    const value = await box.value(`
      const stacks = [];
      for (const limit of [{ valueOf() { throw new Error('called') } }, 1e9, -1, NaN, Symbol(), 2n ** 70n]) {
        try { Error.stackTraceLimit = limit } catch {}
        const deep = (n) => n === 0 ? new Error('x').stack : deep(n - 1);
        stacks.push(deep(200).split('\\n').length);
      }
      ${result('stacks.every((lines) => lines <= 40)')}`);
    expect(value).toBe(true);
  });
});
