import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluateInNode, type Guest, startGuest } from './run-in-quickjs.test-support.js';

let guest: Guest;
beforeAll(async () => {
  guest = await startGuest(
    `import { structuredClone } from './structured-clone.js'; Object.assign(globalThis, { structuredClone });`,
  );
});
afterAll(() => guest.close());

/** Says everything about a value that can be told, in words, in both worlds. */
const DESCRIBE = `const describe = (value, seen = new Map()) => {
  if (Object.is(value, -0)) return '-0';
  if (typeof value === 'bigint') return value + 'n';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'symbol' || typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '#' + seen.get(value);
  seen.set(value, seen.size);
  const tag = Object.prototype.toString.call(value).slice(8, -1) + '<' + Object.getPrototypeOf(value)?.constructor?.name + '>';
  const inner = [];
  if (value instanceof Date) inner.push(value.getTime());
  if (value instanceof RegExp) inner.push(String(value), value.lastIndex);
  if (value instanceof Error) inner.push(value.name, value.message, Object.hasOwn(value, 'message'), 'cause' in value ? describe(value.cause, seen) : 'no cause', typeof value.stack);
  if (value instanceof Map) for (const [k, v] of value) inner.push(describe(k, seen) + '=>' + describe(v, seen));
  if (value instanceof Set) for (const v of value) inner.push(describe(v, seen));
  if (value instanceof ArrayBuffer) inner.push(value.byteLength, value.resizable ? value.maxByteLength : 'fixed', [...new Uint8Array(value)].join());
  if (ArrayBuffer.isView(value)) inner.push(describe(value.buffer, seen), value.byteOffset, value.byteLength);
  if (value instanceof Number || value instanceof String || value instanceof Boolean || value instanceof BigInt) inner.push(describe(value.valueOf()));
  if (!ArrayBuffer.isView(value)) for (const key of Reflect.ownKeys(value)) {
    if (value instanceof Error && ['message', 'stack', 'cause', 'name', 'code'].includes(key)) continue;
    const { enumerable, writable, configurable } = Object.getOwnPropertyDescriptor(value, key);
    inner.push(String(key) + (enumerable ? '' : '!') + (writable ? '' : '?') + (configurable ? '' : '^') + ':' + describe(value[key], seen));
  }
  return tag + '(' + inner.join(' ') + ')';
};`;

const SAME_AS_NODE = [
  'structuredClone([undefined, null, true, -0, NaN, Infinity, 1.5, 10n ** 30n, "text\\ud800"])',
  'structuredClone({ b: 1, a: { c: [] }, 2: "x", 1: "y" })',
  'structuredClone(Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, hidden: { value: 2 } }))',
  'structuredClone(Object.create(null))',
  'structuredClone(JSON.parse(\'{"__proto__": {"x": 1}}\'))',
  'structuredClone({ [Symbol("s")]: 1, a: 1 })',
  'structuredClone({ get a() { delete this.b; return 1; }, b: 2, c: 3 })',
  '(() => { const a = { list: [] }; a.self = a; a.list.push(a, a.list); return structuredClone(a); })()',
  '(() => { const shared = {}; return structuredClone([shared, shared, new Map([[shared, shared]]), new Set([shared])]); })()',
  'structuredClone([, 1, , 2, ,])',
  'structuredClone(Object.assign([1, 2], { extra: { x: 1 }, "-1": 0 }))',
  'structuredClone(Object.assign([, 1], { extra: 1 }))',
  'structuredClone(new Array(5))',
  'structuredClone(new Map([["a", 1], [{ k: 1 }, new Map()], [NaN, [1]]]))',
  'structuredClone(Object.assign(new Map([[1, 2]]), { extra: 1 }))',
  'structuredClone(new Set([1, "1", NaN, { a: 1 }]))',
  'structuredClone(new (class Sub extends Map { x = 1 })([[1, 2]]))',
  'structuredClone(new (class Point { x = 1; #y = 2; get z() { return 3 } })())',
  'structuredClone(new Date(86400000))',
  'structuredClone(new Date(NaN))',
  'structuredClone(Object.assign(/a(?<b>c)/giu, { lastIndex: 3, extra: 1 }))',
  'structuredClone(/[a--b]\\//v)',
  'structuredClone([Object(1), Object("ab"), Object(false), Object(7n)])',
  'structuredClone(new Error("plain"))',
  'structuredClone([new TypeError("t"), new RangeError("r"), new SyntaxError("s"), new ReferenceError("f"), new EvalError("e"), new URIError("u")])',
  'structuredClone(Object.assign(new Error("named"), { name: "TypeError", code: 5 }))',
  'structuredClone(Object.assign(new Error("named"), { name: "MyError" }))',
  'structuredClone(new (class MyError extends TypeError { name = "MyError" })("sub"))',
  'structuredClone(new Error())',
  'structuredClone(new AggregateError([new Error("inner")], "many"))',
  'structuredClone(new Uint8Array([1, 2, 3]).buffer)',
  'structuredClone(new ArrayBuffer(4, { maxByteLength: 8 }))',
  ...[
    'Int8Array',
    'Uint8Array',
    'Uint8ClampedArray',
    'Int16Array',
    'Uint16Array',
    'Int32Array',
    'Uint32Array',
    'Float32Array',
    'Float64Array',
  ].map((name) => `structuredClone(new ${name}(new ${name}([1, 2, 3, 4]).buffer, ${name}.BYTES_PER_ELEMENT, 2))`),
  'structuredClone(new BigInt64Array([1n, -2n]))',
  'structuredClone(new BigUint64Array([1n, 2n]))',
  'structuredClone(new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2))',
  '(() => { const b = new ArrayBuffer(4); return structuredClone([new Uint8Array(b), new Uint8Array(b, 2), b]); })()',
  '(() => { const b = new Uint8Array([1, 2, 3, 4]).buffer; const c = structuredClone({ b, again: b }, { transfer: [b] }); return [c, b.byteLength]; })()',
  '(() => { const v = new Uint8Array([1, 2, 3, 4]).subarray(1, 3); const c = structuredClone(new Map([[v, [v, v.buffer]]]), { transfer: [v.buffer] }); return [c, v.length]; })()',
  '(() => { const b = new ArrayBuffer(4); const c = structuredClone(1, { transfer: [b] }); return [c, b.byteLength]; })()',
  '(() => { const b = new ArrayBuffer(4); try { structuredClone([b, () => 1], { transfer: [b] }); } catch (error) { return [error.name, b.byteLength]; } })()',
  'structuredClone(1, null)',
  'structuredClone(1, {})',
];

const THROWN_AS_IN_NODE = [
  '() => structuredClone(() => 1)',
  '() => structuredClone({ a: [Symbol("x")] })',
  '() => structuredClone(Object(Symbol("x")))',
  '() => structuredClone(class A {})',
  '() => structuredClone(new WeakMap())',
  '() => structuredClone(new WeakSet())',
  '() => structuredClone(new WeakRef({}))',
  '() => structuredClone(Promise.resolve())',
  '() => structuredClone([1][Symbol.iterator]())',
  '() => structuredClone((function* () {})())',
  '() => structuredClone({ get a() { throw new RangeError("mine"); } })',
  '() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); structuredClone(proxy); }',
  '() => { const b = new ArrayBuffer(1); structuredClone(b, { transfer: [b] }); structuredClone(b); }',
  '() => { const b = new ArrayBuffer(1); structuredClone(1, { transfer: [b, b] }); }',
  '() => structuredClone(1, { transfer: [1] })',
  '() => structuredClone(1, { transfer: 1 })',
  '() => structuredClone(1, 1)',
  '() => structuredClone()',
];

test.each(SAME_AS_NODE)('%s is what it is in Node', (expression) => {
  const source = `(() => { ${DESCRIBE} return describe(${expression}); })()`;
  expect(guest.evaluate(source)).toBe(evaluateInNode(source));
});

test.each(THROWN_AS_IN_NODE)('%s throws as in Node', (functionExpression) => {
  const source = `(() => { try { (${functionExpression})(); return 'fine'; } catch (error) { return [error.name, error.constructor.name]; } })()`;
  expect(guest.evaluate(source)).toEqual(evaluateInNode(source));
});

test('an error keeps its cause and its stack, and a DOMException stays one', () => {
  expect(
    guest.evaluate(`(() => {
      const cause = new TypeError('inner', { cause: { deep: 1 } });
      const original = new Error('outer', { cause });
      const copy = structuredClone(original);
      const thrown = structuredClone(new DOMException('m', 'AbortError'));
      return [copy.cause.name, copy.cause.message, copy.cause.cause, copy.stack === original.stack, thrown instanceof DOMException, thrown.name, thrown.code];
    })()`),
  ).toEqual(['TypeError', 'inner', { deep: 1 }, true, true, 'AbortError', 20]);
});

test('an object that cannot be transferred throws a DataCloneError, unlike in Node', () => {
  expect(
    guest.evaluate(
      `(() => { try { structuredClone(1, { transfer: [{}] }); } catch (error) { return error.name; } })()`,
    ),
  ).toBe('DataCloneError');
});

test('depth beyond the stack is an error that can be caught, not the end of the engine', () => {
  expect(
    guest.evaluate(`(() => {
      let deep = [];
      for (let level = 0; level < 100000; level++) deep = [deep];
      try { structuredClone(deep); return 'cloned'; } catch (error) { return error instanceof Error; }
    })()`),
  ).toBe(true);
  expect(guest.evaluate('structuredClone([1])')).toEqual([1]);
});
