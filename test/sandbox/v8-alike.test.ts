import { afterAll, beforeAll, expect, test } from 'vitest';
import { engineOf } from '../../src/sandbox/journal/journal.js';
import type { RunReport } from '../../src/sandbox/run-report.js';
import { CALLER, CallFailure, openSandbox, type ProgramOptions, type TestSandbox } from '../support/sandbox.js';
import { inV8 } from '../support/v8.js';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const functions = {
  echo: (input: unknown) => input,
  fail: () => {
    throw new CallFailure('it did not work');
  },
};

/** A program in QuickJS, and its journal replayed in V8: its outcome, what it logged and which calls it made. */
async function both(source: string, options: ProgramOptions = {}) {
  const first = await sandbox.run(source, { functions, ...options });
  const again = await sandbox.sandbox.replay(inV8(first.journal), CALLER);
  expect(again.divergence).toBeUndefined();
  expect(engineOf(again.report.journal)).toBe('v8');
  return { quickJs: factsOf(first), v8: factsOf(again.report) };
}

function factsOf({ outcome, logs, journal }: RunReport) {
  return { outcome, logs: logs.map(({ level, message }) => `${level} ${message}`), calls: journal.calls };
}

/** Each assigns `r`. */
const ALIKE: Readonly<Record<string, string>> = {
  globals: `r = Object.getOwnPropertyNames(globalThis).sort().filter((name) => !/^(?:Async)?Dispos|^Suppr|^Float16A/.test(name))`,
  'what is absent': `r = ['process', 'require', 'Buffer', 'Intl', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'eval', 'performance', 'fetch', 'global', 'setInterval', 'setImmediate', 'crypto'].map((name) => typeof globalThis[name])`,
  'code from strings': `r = [() => Function('return 1')(), () => (async () => {}).constructor('1')(), () => Reflect.construct((function* () {}).constructor, ['1'])].map((f) => { try { return f(); } catch (e) { return e.message; } })`,
  'dates as text': `const d = new Date(1e12 + 123); r = [d.toString(), d.toDateString(), d.toTimeString(), d.toLocaleString(), d.toLocaleDateString('de-DE'), d.toLocaleTimeString(), d.toUTCString(), d.toISOString(), String(new Date(NaN)), new Date(2024, 1, 29, 13).getTimezoneOffset(), JSON.stringify(d), new Date(0).toLocaleString()]`,
  'dates parsed': `r = ['2020-01-01', 'Jan 5, 2021', '03/04/2021 5:06 PM', '2024-11-05 12:34:56.123456Z', 'garbage', '2024-02-30'].map((text) => new Date(text).getTime())`,
  'subclasses of Date': `class Day extends Date { next() { return new Day(this.getTime() + 864e5); } } const d = new Day(0).next(); r = [d instanceof Date, d instanceof Day, d.toISOString(), Date.length, Date.name, new Date(0).constructor === Date, typeof Date()]`,
  'text without locales': `r = [['b', 'a', 'C', 'ä', '10', '2', 'é', 'e\u0301', '😀', '\uffff'].sort((x, y) => x.localeCompare(y)), (1234567.891).toLocaleString(), (12n).toLocaleString(), [1234.5, 2].toLocaleString(), 'I'.toLocaleLowerCase('tr'), 'ß'.toLocaleUpperCase()]`,
  'random numbers': `r = Array.from({ length: 50 }, () => Math.random())`,
  'array helpers': `const a = [3, 1, 2]; r = [a.toSorted(), a.with(0, 9), a.at(-1), a.findLast((x) => x > 1), Object.groupBy(a, (x) => (x > 1 ? 'big' : 'small')), [...Map.groupBy(a, (x) => x % 2)], structuredClone({ d: new Date(5), m: new Map([[1, 2]]) }).m.get(1)]`,
  'iterator helpers': `r = [new Set([1, 2, 3]).values().map((x) => x * 2).filter((x) => x > 2).toArray(), [5, 6, 7, 8].values().drop(1).take(2).toArray(), [1, 2].values().flatMap((x) => [x, x]).toArray(), [1, 2, 3].values().reduce((a, b) => a + b), [1, 2].values().some((x) => x > 1), Iterator.from([4]).toArray(), [1, 2].values().every((x) => x > 0), [1, 2].values().find((x) => x > 1)]`,
  'promises in order': `const order = []; queueMicrotask(() => order.push('q')); setTimeout(() => order.push('t2'), 2); setTimeout(() => order.push('t1'), 1); Promise.resolve().then(() => order.push('p')); await null; order.push('m'); await new Promise((done) => setTimeout(done, 5)); r = order`,
  'regular expressions': String.raw`r = ['2024-05-06'.match(/(?<y>\d{4})-(?<m>\d\d)/).groups.m, 'aBcB'.replaceAll(/b/gi, (m, at) => m + at), [...'a1b22'.matchAll(/[a-z](\d+)/g)].map((m) => m[1]), 'x'.replace(/(?<=a)x|x/, '[$&]'), /\p{Lu}/u.test('É'), 'a-b_c'.split(/[-_]/), RegExp('a', 'dgimsuy').flags]`,
  'typed arrays': `const f = new Float64Array([1.5, -0, NaN]); const v = new DataView(new ArrayBuffer(8)); v.setInt16(1, -2); r = [[...f], [...new Uint8Array(f.buffer, 0, 8)], v.getUint16(1), Uint8Array.from([1, 2, 300]).join(), new TextDecoder().decode(new TextEncoder().encode('ü😀')), btoa('abc'), atob('YWJj')]`,
  'numbers as text': `r = [0.1 + 0.2, 1e21, 123.456.toFixed(1), (255).toString(16), (0.000001234).toExponential(2), 1 / 3, -0, [-0].toString(), parseFloat('1e3x'), Number('0x1f'), 2n ** 70n + '', (1.005).toFixed(2), (25).toString(36)].map(String)`,
  'JSON both ways': `r = [JSON.stringify({ a: [undefined, () => 1, Symbol('x')], d: new Date(0), n: NaN, u: '\u2028\ud800' }), JSON.parse('{"__proto__": 1, "b": [1, 2, {"c": null}]}', (key, value) => (typeof value === 'number' ? value + 1 : value)), JSON.stringify({ b: 1, a: 2, 10: 3, 2: 4 })]`,
  URLs: `const u = new URL('../b?x=1&y=ü#h', 'https://exämple.org/a/c'); r = [u.href, u.host, [...u.searchParams], new URLSearchParams({ a: '1 2' }).toString()]`,
  'errors of a program': `class Mine extends Error { constructor(m) { super(m, { cause: new TypeError('why') }); this.name = 'Mine'; } } try { throw new Mine('x'); } catch (e) { r = [e.name, e.message, e.cause.message, e instanceof Mine, Object.keys(e), String(e), e.stack.split('\\n')[0]]; }`,
  'errors of calls': `import { fail } from '@codemode/servers/test'; import { ToolCallError, CodemodeError } from '@codemode/errors'; try { await fail({}); } catch (e) { r = [e instanceof ToolCallError, e instanceof CodemodeError, e.name, e.message, e.hint, e.stack.split('\\n').slice(0, 2).map((line) => line.replace(/:\\d+(\\)?)$/, ''))]; }`,
  'errors of built-in classes': `class Mine extends RangeError {} const list = [new TypeError('a', { cause: 1 }), RangeError('b'), new Mine('c'), new SyntaxError(), new URIError('d'), new ReferenceError('e')]; r = list.map((e) => { try { throw e; } catch (same) { return [same === e, same.name, same.message, same.cause, String(same), Object.keys(same), same.constructor.name, same instanceof Error, same instanceof Mine ? '' : same.stack.split('\\n').map((line) => line.replace(/:\\d+(\\)?)$/, '')), Object.prototype.toString.call(same)]; } }); r.push([TypeError.length, TypeError.name, Object.getPrototypeOf(TypeError) === Error, TypeError.prototype.constructor === TypeError, Promise.prototype.then.length, Promise.prototype.then.name])`,
  'errors that the engine raises, without their texts': `const list = []; try { null.x; } catch (e) { list.push(e.name, e instanceof TypeError, Object.keys(e)); } try { JSON.parse('{'); } catch (e) { list.push(e.name); e.message = 'mine'; list.push(e.message); } await Promise.reject(1).catch((e) => list.push(e)); list.push((await Promise.allSettled([(async () => null.x)()]))[0].reason.name); try { missing; } catch (e) { list.push(e.message); } r = list`,
  'lines of stacks': `function inner() {\n  return new Error('here').stack;\n}\nr = inner().split('\\n').map((line) => line.replace(/:\\d+(\\)?)$/, '$1'))`,
  'text of tables': `import { parse } from '@codemode/text'; r = parse('a,b\\n1,2\\n3,4')`,
  'a patched world': `Array.prototype.map = () => 'mine'; JSON.stringify = () => 'mine'; Object.prototype.toJSON = () => 'also mine'; Promise.prototype.then.call = null; r = [1].map()`,
  logged: `console.log('a', { b: [1, new Map([[1, { c: 2 }]])] }, [undefined, null], 1n, Symbol('s'), () => 1, new Error('e').message); console.warn('%s', 1); console.error(new Date(0)); console.table([{ a: 1 }, { a: 2 }]); r = 1`,
  'calls at once': `import { echo } from '@codemode/servers/test'; r = await Promise.all([1, 2, 3].map((n) => echo({ n, when: n / 3 })))`,
  generators: `function* g(n) { try { for (let i = 0; i < n; i++) yield i; } finally { r = 'closed'; } } for (const x of g(5)) if (x === 2) break; async function* ag() { yield 1; yield 2; } const seen = [r]; for await (const x of ag()) seen.push(x); r = seen`,
  sorting: `const rows = Array.from({ length: 300 }, (_, i) => ({ k: (i * 7919) % 13, i })); r = rows.sort((a, b) => a.k - b.k).map(({ i }) => i).join()`,
  'proxies and reflection': `const log = []; const p = new Proxy({ a: 1 }, { get: (t, k) => { log.push(String(k)); return Reflect.get(t, k); }, has: () => true, ownKeys: () => ['a', 'z'] }); r = [p.a, 'q' in p, Reflect.ownKeys(p), log, Object.getOwnPropertyNames(class { static x = 1; #y = 2; }).sort()]`,
  'weak references': `r = [typeof WeakRef, typeof FinalizationRegistry, new WeakRef(globalThis).deref() === globalThis]`,
};

/** One program for all of them: a process of V8 takes longer to start than they take to run. */
function together(cases: Readonly<Record<string, string>>): string {
  const bodies = Object.entries(cases).map(([name, code]) => {
    const body = code.replace(/import .*?;/g, '');
    return `await (async () => { let r; ${body};\n all[${JSON.stringify(name)}] = r; })();`;
  });
  return `import { echo, fail } from '@codemode/servers/test'; import { ToolCallError, CodemodeError } from '@codemode/errors';
    import { parse } from '@codemode/text'; const all = {};
    ${bodies.join('\n')}
    globalThis.__codemode_result__ = all;`;
}

const { 'a patched world': patched = '', ...others } = ALIKE;

test('globals, values, errors, order of promises, logs and calls are the same in both engines', async () => {
  const { quickJs, v8 } = await both(together(others));
  const valuesOf = ({ outcome }: typeof v8) =>
    outcome.status === 'completed' ? (JSON.parse(outcome.resultJson) as object) : outcome;
  expect(valuesOf(v8)).toEqual(valuesOf(quickJs));
  expect(v8).toEqual(quickJs);
  expect(Object.keys(valuesOf(v8))).toEqual(Object.keys(others));
});

test('a program that patches what the language has patches its own world only, in both engines', async () => {
  const { quickJs, v8 } = await both(`let r; ${patched}; globalThis.__codemode_result__ = r;`);
  expect(v8).toEqual(quickJs);
});
