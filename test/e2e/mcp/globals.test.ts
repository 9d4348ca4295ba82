import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, LOG_ENTRY_BYTES } from '../../../src/domain/limits.js';
import { isEnded } from '../../../src/host/runs/run-types.js';
import { renderResponse } from '../../../src/profiles/codemode/render.js';
import { openSession } from '../../support/host.js';
import { openSandbox, result, type TestSandbox } from '../../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ min: 1, max: 2 });
});
afterAll(() => box[Symbol.asyncDispose]());

/** What a caller of profile codemode gets. */
async function respond(source: string, limits = {}) {
  const request = { source, language: 'typescript', limits: { ...DEFAULT_LIMITS, ...limits } } as const;
  const answer = await openSession(box.sandbox).run(request);
  if (!isEnded(answer)) throw new Error('the program did not end');
  return renderResponse(answer.summary);
}

/** Every global that the contract names, with something that only a working one gives. */
const PROMISED: Readonly<Record<string, readonly [use: string, value: unknown]>> = {
  JSON: ['JSON.parse(JSON.stringify({ a: [1] }))', { a: [1] }],
  Math: ['Math.max(1, 3, 2)', 3],
  Date: ['new Date(0).toISOString()', '1970-01-01T00:00:00.000Z'],
  URL: ["new URL('../c?d=1#e', 'https://a.example/b/x').href", 'https://a.example/c?d=1#e'],
  URLSearchParams: ["new URLSearchParams({ a: 'ü &' }).toString()", 'a=%C3%BC+%26'],
  Promise: ['await Promise.all([1, Promise.resolve(2)])', [1, 2]],
  Map: ['[...new Map([[1, 2]])]', [[1, 2]]],
  Set: ['[...new Set([1, 1, 2])]', [1, 2]],
  WeakMap: ['(() => { const k = {}; return new WeakMap([[k, 1]]).get(k) })()', 1],
  WeakSet: ['(() => { const k = {}; return new WeakSet([k]).has(k) })()', true],
  Symbol: ["Symbol('s').description", 's'],
  Proxy: ['new Proxy({}, { get: (_, key) => key }).x', 'x'],
  Reflect: ['Reflect.ownKeys({ a: 1 })', ['a']],
  RegExp: ["/(?<n>\\d+)/.exec('a12').groups.n", '12'],
  Error: ["new Error('x', { cause: 1 }).cause", 1],
  Array: ['Array.from({ length: 2 }, (_, i) => i)', [0, 1]],
  Object: ['Object.entries({ a: 1 })', [['a', 1]]],
  String: ["String(12).padStart(3, '0')", '012'],
  Number: ["Number('0x10')", 16],
  Boolean: ["Boolean('')", false],
  BigInt: ['String(BigInt(2) ** 64n)', '18446744073709551616'],
  parseInt: ["parseInt('12px', 10)", 12],
  parseFloat: ["parseFloat('1.5e1x')", 15],
  isNaN: ['isNaN(NaN)', true],
  isFinite: ['isFinite(1)', true],
  Infinity: ['1 / Infinity', 0],
  NaN: ['Number.isNaN(NaN)', true],
  undefined: ['typeof undefined', 'undefined'],
  TextEncoder: ["[...new TextEncoder().encode('é')]", [195, 169]],
  TextDecoder: ['new TextDecoder().decode(new Uint8Array([195, 169]))', 'é'],
  ArrayBuffer: ['new ArrayBuffer(8).byteLength', 8],
  DataView: ['(() => { const v = new DataView(new ArrayBuffer(4)); v.setInt32(0, -2); return v.getUint8(3) })()', 254],
  Uint8Array: ['Uint8Array.of(256 + 1)[0]', 1],
  Int8Array: ['Int8Array.of(255)[0]', -1],
  Uint16Array: ['Uint16Array.of(65537)[0]', 1],
  Int16Array: ['Int16Array.of(65535)[0]', -1],
  Uint32Array: ['Uint32Array.of(-1)[0]', 4294967295],
  Int32Array: ['Int32Array.of(4294967295)[0]', -1],
  Float32Array: ['Float32Array.of(0.5)[0]', 0.5],
  Float64Array: ['Float64Array.of(0.1)[0]', 0.1],
  setTimeout: ["await new Promise((resolve) => setTimeout(resolve, 1, 'late'))", 'late'],
  clearTimeout: ['await new Promise((r) => { clearTimeout(setTimeout(() => r(1), 1)); setTimeout(() => r(2), 5) })', 2],
  console: ["['log', 'debug', 'warn', 'error'].map((name) => typeof console[name])", Array(4).fill('function')],
};

describe('the globals of the contract', () => {
  test('are all there, and work [A14]', async () => {
    const uses = Object.entries(PROMISED).map(([name, [use]]) => `[${JSON.stringify(name)}]: ${use}`);
    const there = Object.keys(PROMISED).map((name) => `[${JSON.stringify(name)}]: '${name}' in globalThis`);
    expect(await box.value(result(`{ uses: { ${uses.join(', ')} }, there: { ${there.join(', ')} } }`))).toEqual({
      uses: Object.fromEntries(Object.entries(PROMISED).map(([name, [, value]]) => [name, value])),
      there: Object.fromEntries(Object.keys(PROMISED).map((name) => [name, true])),
    });
  });

  test('include the place for the result, empty at first [A5, A14]', async () => {
    expect(
      await box.value(result(`['__codemode_result__' in globalThis, globalThis.__codemode_result__ === undefined]`)),
    ).toEqual([true, true]);
  });

  test('do not include what would reach the network, the machine or Node [A13, A14]', async () => {
    const forbidden = [
      ...['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'WebTransport', 'RTCPeerConnection', 'Request'],
      ...[
        'Response',
        'Headers',
        'navigator',
        'location',
        'importScripts',
        'Worker',
        'SharedWorker',
        'BroadcastChannel',
      ],
      ...['MessageChannel', 'caches', 'indexedDB', 'localStorage', 'sessionStorage', 'setInterval', 'clearInterval'],
      ...[
        'setImmediate',
        'clearImmediate',
        'eval',
        'process',
        'require',
        'module',
        'exports',
        '__dirname',
        '__filename',
      ],
      ...['Buffer', 'global', 'window', 'self', 'document', 'Deno', 'Bun', 'std', 'os', 'bjson', 'scriptArgs', 'print'],
      ...[
        'WebAssembly',
        'SharedArrayBuffer',
        'Atomics',
        'performance',
        'crypto',
        'gc',
        '__host_call',
        '__host_callSync',
      ],
      ...['__host_log', '__host_wake', '__host_mapStack', '__entry'],
    ];
    const source = `
      const names = ${JSON.stringify(forbidden)};
      const chain = []; for (let o = globalThis; o !== null; o = Object.getPrototypeOf(o)) chain.push(o);
      // By every way there is: a bare name, a property, a property of any prototype.
      const bare = [${forbidden.map((name) => `typeof ${name}`).join(', ')}];
      ${result(`names.filter((name, i) => bare[i] !== 'undefined' || name in globalThis || chain.some((o) => Object.hasOwn(o, name)))`)}`;
    expect(await box.value(source)).toEqual([]);
  });

  test.each([
    ['new Function("return 1")', 'TypeError'],
    ['Function("return 1")', 'TypeError'],
    ['(() => {}).constructor("return 1")', 'TypeError'],
    ['(async () => {}).constructor("return 1")', 'TypeError'],
    ['(function* () {}).constructor("return 1")', 'TypeError'],
    ['(async function* () {}).constructor("return 1")', 'TypeError'],
    ['Object.getPrototypeOf(async () => {}).constructor("return 1")', 'TypeError'],
    ['Reflect.construct(Function, ["return 1"])', 'TypeError'],
    ['class F extends Function {}; new F("return 1")', 'TypeError'],
    ['globalThis["ev" + "al"]("1")', 'TypeError'],
    ['setTimeout("globalThis.x = 1", 1)', 'TypeError'],
  ])('make no code from strings: %s [A14]', async (source, name) => {
    const { outcome } = await box.run(`${source}; ${result('"made"')}`);
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'exception', name } });
  });

  test('lead to no network by way of modules either [A13]', async () => {
    const specifiers = [
      'node:http',
      'http',
      'net',
      'node:net',
      'dns',
      'tls',
      'undici',
      'fs',
      'https://example.com/x.js',
    ];
    const source = `const found = []; for (const name of ${JSON.stringify(specifiers)}) { try { await import(name); found.push(name) } catch {} } ${result('found')}`;
    expect(await box.value(source)).toEqual([]);
  });
});

describe('console output', () => {
  test.each([
    [`'text', 1, true, null, undefined, 10n, Symbol('s')`, 'text 1 true null undefined 10 Symbol(s)'],
    [`-0, NaN, Infinity, 1e21`, '0 NaN Infinity 1e+21'],
    [`{ b: 1, a: [1, 'x', null] }`, '{"a":[1,"x",null],"b":1}'],
    [`[1, [2, { z: 1, y: 2 }]]`, '[1,[2,{"y":2,"z":1}]]'],
    [`'%s and %d', 'a', 1`, '%s and %d a 1'],
    [`''`, ''],
    ['', ''],
    [`(() => { const a = {}; a.self = a; return a })()`, '[Unserializable Object]'],
    [`({ get a() { throw new Error('no') } })`, '[Unserializable Object]'],
    [`new Date(0)`, '"1970-01-01T00:00:00.000Z"'],
    [`'line one\\nline two'`, 'line one\nline two'],
    [`'a🎉'.slice(0, 2), ['🎉'.slice(1)]`, 'a\ufffd ["\\udf89"]'],
  ])('console.log(%s) is one entry with one stable text [A9]', async (list, message) => {
    expect((await respond(`console.log(${list})`)).logs).toEqual([
      { level: 'log', message, timeMs: expect.any(Number) },
    ]);
  });

  test('has the level of the call, in the order of the calls [A9]', async () => {
    const { logs } = await respond(
      `console.debug(1); console.log(2); console.info(3); console.warn(4); console.error(5); console.log(6);`,
    );
    expect(logs.map(({ level, message }) => `${level} ${message}`)).toEqual([
      'debug 1',
      'log 2',
      'log 3',
      'warn 4',
      'error 5',
      'log 6',
    ]);
  });

  test('has the time since the start, in whole milliseconds [A9]', async () => {
    const { logs } = await respond(
      `console.log('a'); await new Promise((resolve) => setTimeout(resolve, 30)); console.log('b');`,
    );
    expect(Number.isInteger(logs[0]?.timeMs)).toBe(true);
    expect(Number.isInteger(logs[1]?.timeMs)).toBe(true);
    expect((logs[1]?.timeMs ?? 0) - (logs[0]?.timeMs ?? 0)).toBeGreaterThanOrEqual(29);
  });

  test('that was cut ends with a warning that says so and names the limit [A7, A9]', async () => {
    const { logs, result: value } = await respond(
      `for (let i = 0; i < 100; i++) console.log('0123456789'); ${result('"ran on"')}`,
      { maxLogBytes: 25 + 3 * LOG_ENTRY_BYTES },
    );
    expect(value).toBe('ran on');
    expect(logs).toEqual([
      { level: 'log', message: '0123456789', timeMs: expect.any(Number) },
      { level: 'log', message: '0123456789', timeMs: expect.any(Number) },
      { level: 'log', message: '01234', timeMs: expect.any(Number) },
      {
        level: 'warn',
        message:
          'logs were truncated: the limit of 169 bytes (limits.maxLogBytes) was reached, and later lines are lost',
        timeMs: expect.any(Number),
      },
    ]);
  });

  test('that just fits is not said to be cut [A9]', async () => {
    const { logs } = await respond(`console.log('01234'); console.log('56789');`, {
      maxLogBytes: 10 + 2 * LOG_ENTRY_BYTES,
    });
    expect(logs.map(({ message }) => message)).toEqual(['01234', '56789']);
  });
});

describe('the clock', () => {
  test('moves while the program computes, over calls and over timers [A14]', async () => {
    const functions = { wait: () => new Promise((resolve) => setTimeout(resolve, 20)) };
    const source = `import { wait } from '@codemode/servers/test';
      const started = Date.now(); let reads = 0;
      while (Date.now() - started < 30) reads++;
      const computed = +new Date() - started;
      await wait(); const afterCall = Date.now() - started - computed;
      const before = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 25)); const afterTimer = Date.now() - before;
      ${result('[reads > 1, computed >= 30, afterCall >= 19, afterTimer >= 25]')}`;
    expect(await box.value(source, { functions })).toEqual([true, true, true, true]);
  });

  test('tells log lines around a loop apart', async () => {
    const source = `console.log('a'); const started = Date.now(); while (Date.now() - started < 40); console.log('b');`;
    const { logs } = await box.run(source);
    const [first, second] = logs as [(typeof logs)[number], (typeof logs)[number]];
    expect(second.timeMs - first.timeMs).toBeGreaterThanOrEqual(39);
  });

  test('lets an answer through to a program that polls with timers', async () => {
    const functions = { wait: () => new Promise((resolve) => setTimeout(resolve, 60)) };
    const source = `import { wait } from '@codemode/servers/test';
      let isDone = false; const done = wait().then(() => { isDone = true; });
      let polls = 0;
      while (!isDone) { polls++; await new Promise((resolve) => setTimeout(resolve, 1)); }
      await done; ${result('polls > 0')}`;
    expect(await box.value(source, { functions, limits: { timeoutMs: 5_000 } })).toBe(true);
  });

  test('is the time of the host at the start, in UTC [A14]', async () => {
    const before = Date.now();
    const [now, offset] = (await box.value(result('[Date.now(), new Date().getTimezoneOffset()]'))) as [number, number];
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
    expect(offset).toBe(0);
  });
});

test('the limits of a program that asks for none are the documented ones', () => {
  expect(DEFAULT_LIMITS).toEqual({
    timeoutMs: 30_000,
    maxMemoryBytes: 67_108_864,
    maxLogBytes: 262_144,
    maxToolCalls: 1_000,
  });
});
