import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Guest, startGuest } from './run-in-quickjs.test-support.js';

let guest: Guest;
beforeEach(async () => {
  guest = await startGuest(`
    import { createConsole } from './console.js';
    const stringify = JSON.stringify;
    let lines = '';
    let clock = 1000;
    globalThis.console = createConsole(
      (level, message) => { lines += (lines === '' ? '' : ',') + '["' + level + '",' + stringify(message) + ']'; },
      { maxMessageCharacters: 2000, now: () => clock },
    );
    globalThis.tick = (ms) => { clock += ms; };
    // A string, so that a test that patches everything can still ask.
    globalThis.takeLines = () => '[' + lines + ']';`);
});
afterEach(() => guest.close());

/** The log of some statements, as [level, message] pairs. */
function logOf(statements: string): [string, string][] {
  return JSON.parse(guest.evaluate(`(() => { ${statements}; return takeLines(); })()`) as string) as [string, string][];
}
const messageOf = (argumentList: string): string | undefined => logOf(`console.log(${argumentList})`).at(-1)?.[1];

test.each([
  ['', ''],
  ['"a", 1, true, null, undefined', 'a 1 true null undefined'],
  ['-0, NaN, Infinity, 1e21, 10n', '0 NaN Infinity 1e+21 10'],
  ['Symbol("x"), Symbol.iterator, Symbol()', 'Symbol(x) Symbol(Symbol.iterator) Symbol()'],
  ['"%s %d %i %f %j %o %O %c %%", "a", 1', '%s %d %i %f %j %o %O %c %% a 1'],
  ['"", "", "a"', '  a'],
  ['{ b: 1, a: { d: 2, c: [3, { z: 1, y: 2 }] } }', '{"a":{"c":[3,{"y":2,"z":1}],"d":2},"b":1}'],
  ['{ 10: 1, 9: 2, b: 3, B: 4, "é": 5 }', '{"10":1,"9":2,"B":4,"b":3,"é":5}'],
  ['{ a: undefined, b: null }, [undefined, , null]', '{"b":null} [null,null,null]'],
  ['[NaN, Infinity, -0, 1.5, "q\\"\\n\\u2028\\ud800"]', '[null,null,0,1.5,"q\\"\\n\u2028\\ud800"]'],
  ['[10n ** 20n], { n: 1n }', '["100000000000000000000"] {"n":"1"}'],
  ['[Symbol("s")], { [Symbol("k")]: 1 }', '["Symbol(s)"] {}'],
  ['function named() {}, () => 1, class Thing {}', '[Function named] [Function (anonymous)] [Function Thing]'],
  ['{ f: function named() {}, g() {} }', '{"f":"[Function named]","g":"[Function g]"}'],
  ['new Map([["b", 1], [{ z: 1, a: 2 }, new Map()]])', '[["b",1],[{"a":2,"z":1},[]]]'],
  ['new Set([3, 1, { b: 1, a: 1 }]), { s: new Set() }', '[3,1,{"a":1,"b":1}] {"s":[]}'],
  [
    'new Date(0), { d: new Date(0) }, new Date(NaN)',
    '"1970-01-01T00:00:00.000Z" {"d":"1970-01-01T00:00:00.000Z"} null',
  ],
  ['/a\\/b/gi, [/x/]', '/a\\/b/gi ["/x/"]'],
  ['new Uint8Array([1, 2]), new BigInt64Array([3n]), new Float32Array([0.5])', '[1,2] ["3"] [0.5]'],
  ['new ArrayBuffer(3), [new DataView(new ArrayBuffer(2))]', '[ArrayBuffer 3 bytes] ["[DataView 2 bytes]"]'],
  [
    'Promise.resolve(1), [new WeakMap(), new WeakSet()], [1][Symbol.iterator]()',
    '[object Promise] ["[object WeakMap]","[object WeakSet]"] [object Array Iterator]',
  ],
  ['Object(1), [Object("s"), Object(false), Object(2n)]', '1 ["s",false,"2"]'],
  ['{ toJSON() { return { b: 1, a: this.x }; }, x: 5 }', '{"a":5,"b":1}'],
  ['{ k: { toJSON: (key) => "key " + key } }, { toJSON: () => undefined }', '{"k":"key k"} undefined'],
  ['{ a: { toJSON: () => undefined }, b: 1 }, [{ toJSON: () => undefined }]', '{"b":1} [null]'],
  ['(() => { const o = { x: 1, toJSON() { return this; } }; return o; })()', '{"toJSON":"[Function toJSON]","x":1}'],
  ['Object.create(null), Object.create({ inherited: 1 })', '{} {}'],
  ['JSON.parse(\'{"__proto__": 1, "constructor": 2}\')', '{"__proto__":1,"constructor":2}'],
  ['new (class Point { y = 2; x = 1; #z = 3; })()', '{"x":1,"y":2}'],
  ['(() => { const s = { n: 1 }; return [s, s]; })()', '[{"n":1},{"n":1}]'],
  ['new Proxy({ b: 1, a: 2 }, {})', '{"a":2,"b":1}'],
  ['globalThis.nothing, void 0', 'undefined undefined'],
])('console.log(%s) says what the contract says', (argumentList, message) => {
  expect(messageOf(argumentList)).toBe(message);
});

test.each([
  '(() => { const a = {}; a.self = a; return a; })()',
  '(() => { const a = []; a.push({ deep: [a] }); return a; })()',
  '(() => { const m = new Map(); m.set("m", m); return m; })()',
  '{ get x() { throw new Error("no"); } }',
  '{ toJSON() { throw new Error("no"); } }',
  '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()',
  '[(() => { const { proxy, revoke } = Proxy.revocable(() => 1, {}); revoke(); return [proxy]; })()]',
  'new Proxy({}, { ownKeys() { throw 1; } })',
  '(() => { let deep = {}; for (let i = 0; i < 200; i++) deep = { deep }; return deep; })()',
  '(() => { let deep = []; for (let i = 0; i < 200000; i++) deep = [deep]; return deep; })()',
  '{ toJSON() { return { toJSON: 1, again: this }; } }',
])('what cannot be written, %s, is [Unserializable Object], and its neighbours are not lost', (expression) => {
  expect(messageOf(`'before', ${expression}, { a: 1 }`)).toBe('before [Unserializable Object] {"a":1}');
});

test('an error shows name, message, stack, its own properties, causes and errors', () => {
  const withoutFrames = (text: string | undefined) => text?.replace(/(?:\n {4}at .*)+/g, '\n    at …');
  expect(withoutFrames(messageOf(`new TypeError('boom')`))).toBe('TypeError: boom\n    at …');
  expect(withoutFrames(messageOf(`Object.assign(new Error('x'), { code: 'E', name: 'Custom', b: 1 })`))).toBe(
    'Custom: x\n    at …\n{"b":1,"code":"E"}',
  );
  expect(
    withoutFrames(messageOf(`new Error('outer', { cause: new RangeError('inner', { cause: { why: 1 } }) })`)),
  ).toBe('Error: outer\n    at …\n[cause]: RangeError: inner\n    at …\n[cause]: {"why":1}');
  expect(withoutFrames(messageOf(`new AggregateError([new Error('one'), 'two'], 'many')`))).toBe(
    'AggregateError: many\n    at …\n[errors][0]: Error: one\n    at …\n[errors][1]: two',
  );
  expect(withoutFrames(messageOf(`(() => { const e = new Error('self'); e.cause = e; return e; })()`))).toBe(
    'Error: self\n    at …\n[cause]: [Circular]',
  );
  expect(withoutFrames(messageOf(`new DOMException('gone', 'AbortError')`))).toBe('AbortError: gone\n    at …');
  expect(messageOf(`Object.assign(new Error('m'), { stack: 'Error: m\\n  own frames' })`)).toBe(
    'Error: m\n  own frames',
  );
  expect(
    messageOf(`Object.defineProperty(Object.assign(new Error('m'), { stack: '' }), 'message', { get() { throw 1; } })`),
  ).toBe('Error');
});

test('an error inside of an object is written out too, never {}', () => {
  expect(
    JSON.parse(
      messageOf(
        `{ e: Object.assign(new TypeError('x', { cause: new Error('why') }), { code: 5 }), list: [new AggregateError([new Error('a')])] }`,
      ) as string,
    ),
  ).toEqual({
    e: {
      code: 5,
      message: 'x',
      name: 'TypeError',
      stack: expect.any(String),
      cause: { message: 'why', name: 'Error', stack: expect.any(String) },
    },
    list: [
      {
        message: '',
        name: 'AggregateError',
        stack: expect.any(String),
        errors: [{ message: 'a', name: 'Error', stack: expect.any(String) }],
      },
    ],
  });
});

test('each method writes at its level', () => {
  expect(
    logOf(
      `console.log(1); console.info(2); console.debug(3); console.warn(4); console.error(5); console.dir({ a: 1 }, { depth: 0 })`,
    ),
  ).toEqual([
    ['log', '1'],
    ['log', '2'],
    ['debug', '3'],
    ['warn', '4'],
    ['error', '5'],
    ['log', '{"a":1}'],
  ]);
});

test('the smaller methods do their part', () => {
  expect(
    logOf(`
      console.assert(true, 'no'); console.assert(false, 'yes', { a: 1 }); console.assert();
      console.group('outer'); console.log('a\\nb'); console.groupCollapsed(); console.warn({ x: 1 }); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log('out');
      console.count(); console.count(); console.count('x'); console.countReset(); console.count(); console.countReset('none');
      console.time(); tick(7); console.timeLog(undefined, 'so far'); tick(5); console.timeEnd(); console.timeEnd(); console.time('t'); console.time('t');
      console.count('__proto__');
      const { log } = console; log('alone');`),
  ).toEqual([
    ['error', 'Assertion failed: yes {"a":1}'],
    ['error', 'Assertion failed'],
    ['log', 'outer'],
    ['log', '  a\n  b'],
    ['warn', '    {"x":1}'],
    ['log', 'out'],
    ['log', 'default: 1'],
    ['log', 'default: 2'],
    ['log', 'x: 1'],
    ['log', 'default: 1'],
    ['warn', "Count for 'none' does not exist"],
    ['log', 'default: 7ms so far'],
    ['log', 'default: 12ms'],
    ['warn', "Timer 'default' does not exist"],
    ['warn', "Timer 't' already exists"],
    ['log', '__proto__: 1'],
    ['log', 'alone'],
  ]);
  expect(logOf(`console.trace('here', 1)`).at(-1)?.[1]).toMatch(/^Trace: here 1\n {4}at /);
});

test('console.table prints a Markdown table, and works like console.log for other values', () => {
  expect(
    logOf(
      `console.table([{ a: 1, b: 'x' }, { a: 2, c: { z: 1 } }, 5]); console.table({ r: [1, 2] }, ['1']); console.table('text'); console.table(null)`,
    ),
  ).toEqual([
    [
      'log',
      '| (index) | a | b | c | Values |\n| --- | --- | --- | --- | --- |\n| 0 | 1 | x |  |  |\n| 1 | 2 |  | {"z":1} |  |\n| 2 |  |  |  | 5 |',
    ],
    ['log', '| (index) | 1 |\n| --- | --- |\n| r | 2 |'],
    ['log', 'text'],
    ['log', 'null'],
  ]);
});

test('a message is cut at the bound, with a note, however it came to be so long', () => {
  const note = '… [cut: longer than 2000 characters]';
  for (const argumentList of [
    `'x'.repeat(5000)`,
    `['x'.repeat(5000)]`,
    `new Array(1e9)`,
    `Array.from({ length: 1e5 }, (_, i) => ({ i }))`,
    `new Map(Array.from({ length: 5000 }, (_, i) => [i, i]))`,
    `Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [i, i]))`,
    `new Error('m'.repeat(5000))`,
    `...Array.from({ length: 3000 }, () => 'ab')`,
    `'a' + '😀'.repeat(3000)`,
  ]) {
    const message = logOf(`console.log(${argumentList})`).at(-1)?.[1] as string;
    expect(message.endsWith(note)).toBe(true);
    expect(message.length).toBeLessThanOrEqual(2000 + note.length);
    expect(message.length).toBeGreaterThan(1900);
    expect(message).toBe((message as string & { toWellFormed(): string }).toWellFormed());
  }
  expect(logOf(`console.group(); console.log('\\n'.repeat(2000))`).at(-1)?.[1]?.length).toBeLessThanOrEqual(
    2000 + note.length,
  );
  expect(logOf(`console.groupEnd(); console.log('x'.repeat(2000))`).at(-1)?.[1]).toHaveLength(2000);
});

test('a program that patches the prototypes does not lose its logs', () => {
  expect(
    logOf(`
      const broken = () => { throw new Error('patched'); };
      const { ownKeys, defineProperty } = Reflect;
      const set = new Set([1]), map = new Map([['k', { v: 1 }]]);
      const targets = [Array, String, Map, Set, Number, RegExp, Date, Function, Error, Boolean, BigInt, Symbol, Object, ArrayBuffer, Promise].flatMap((each) => [each, each.prototype]);
      targets.push(Reflect, JSON, Math, Object.getPrototypeOf([].values()), Object.getPrototypeOf(new Map().entries()), Object.getPrototypeOf(new Set().values()), Object.getPrototypeOf(Uint8Array.prototype));
      for (let target = 0; target < targets.length; target++) {
        const keys = ownKeys(targets[target]);
        for (let key = 0; key < keys.length; key++) {
          if (keys[key] === 'constructor' || keys[key] === '__proto__' || keys[key] === 'prepareStackTrace') continue;
          try { defineProperty(targets[target], keys[key], { value: broken }); } catch {}
        }
      }
      globalThis.String = globalThis.Array = globalThis.Map = globalThis.JSON = undefined;
      console.log('still', { b: [1, 'two', 3n], a: null }, set, map, true);
      console.error(new Error('even this').message, -1.5);
      console.group('g'); console.table([{ a: 1 }]); console.count();`),
  ).toEqual([
    ['log', 'still {"a":null,"b":[1,"two","3"]} [1] [["k",{"v":1}]] true'],
    ['error', 'even this -1.5'],
    ['log', 'g'],
    ['log', '  | (index) | a |\n  | --- | --- |\n  | 0 | 1 |'],
    ['log', '  default: 1'],
  ]);
});

test('a stack hook that throws costs a trace its frames, not its message', () => {
  expect(logOf(`Error.prepareStackTrace = () => { throw 1; }; console.trace('here'); console.log(1)`)).toEqual([
    ['debug', 'Trace: here'],
    ['log', '1'],
  ]);
});

test('setters and toJSON planted on Object.prototype and Array.prototype do not reach inside', () => {
  expect(
    logOf(`
      Object.defineProperty(Array.prototype, '0', { set() { throw new Error('caught one'); }, configurable: true });
      Object.defineProperty(Object.prototype, 'text', { set() { throw new Error('caught one'); }, configurable: true });
      Object.defineProperty(Object.prototype, 'value', { get() { throw new Error('caught one'); }, configurable: true });
      Object.prototype.toJSON = function () { return 'mine'; };
      console.log({ a: 1 }, new Error('kept').message);
      delete Object.prototype.toJSON;
      console.log({ a: [1] });`),
  ).toEqual([
    ['log', '"mine" kept'],
    ['log', '{"a":[1]}'],
  ]);
});
