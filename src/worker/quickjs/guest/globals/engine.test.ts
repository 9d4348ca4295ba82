// What the contract promises and the engine gives by itself; and, pinned, what the engine has not, so that a new version
// of it shows up here. The prompt that documents deviations is written from the second list.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { evaluateInNode, type Guest, startGuest } from './run-in-quickjs.test-support.js';

let guest: Guest;
beforeAll(async () => {
  guest = await startGuest('');
});
afterAll(() => guest.close());

test('every built-in that the contract names, and every one of ES2023, is there', () => {
  const names =
    `JSON Math Date Promise Map Set WeakMap WeakSet Symbol Proxy Reflect RegExp Error Array Object String Number
    Boolean BigInt parseInt parseFloat isNaN isFinite Infinity NaN undefined ArrayBuffer DataView Uint8Array Int8Array
    Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array Uint8ClampedArray BigInt64Array BigUint64Array
    SharedArrayBuffer WeakRef FinalizationRegistry AggregateError EvalError RangeError ReferenceError SyntaxError TypeError
    URIError Iterator globalThis queueMicrotask encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape
    Array.fromAsync Object.groupBy Map.groupBy Object.hasOwn Object.fromEntries Promise.any Promise.allSettled Promise.try
    Promise.withResolvers String.raw Array.prototype.at Array.prototype.findLast Array.prototype.toSorted Array.prototype.toSpliced
    Array.prototype.with Array.prototype.flatMap String.prototype.isWellFormed String.prototype.toWellFormed String.prototype.replaceAll
    String.prototype.matchAll ArrayBuffer.prototype.transfer ArrayBuffer.prototype.resize Set.prototype.union Iterator.prototype.map
    Iterator.prototype.toArray Iterator.from RegExp.escape Uint8Array.fromBase64 Error.isError`.split(/\s+/);
  expect(
    guest.call(
      `(names) => names.filter((name) => {
        let object = globalThis;
        return !name.split('.').every((key) => { const isThere = key in Object(object); object = object?.[key]; return isThere; });
      })`,
      names,
    ),
  ).toEqual([]);
});

test.each([
  String.raw`/(?<=\$)(?<amount>\d+)/.exec('a$42').groups.amount`,
  `/(?<!a)b/.test('cb')`,
  String.raw`[/[\p{L}--[a-z]]/v.test('a'), /[\p{L}--[a-z]]/v.test('A'), /^\p{RGI_Emoji}$/v.test('👍🏽'), /[\q{abc|d}]/v.test('abc')]`,
  String.raw`[...'a1b2'.matchAll(/[a-z](?<n>\d)/dg)].map((match) => [match.index, match.groups.n, match.indices[0]])`,
  `[[3, 1, 2].toSorted(), [1, 2].with(0, 9), [1, 2, 3].findLast((n) => n < 3), [1, [2, [3]]].flat(Infinity), [1, 2].at(-1)]`,
  `[String(2n ** 200n), (255).toString(36), (0.1).toFixed(20), (123.456).toPrecision(4), 1e21.toString(), (25).toString(2)]`,
  `['a\\u0301'.normalize(), 'ﬁ'.normalize('NFKC'), 'ΑΣ'.toLowerCase(), 'ﬀ'.toUpperCase(), [...'a👍'].length]`,
  `['2024-01-01', '2024-01-01T10:00:00+02:00', 'Mon, 01 Jan 2024 00:00:00 GMT', '2024-01-01T00:00:00.123456Z'].map((text) => Date.parse(text))`,
  `(() => { class A { #x = 1; static { this.made = true; } static has(o) { return #x in o; } } return [A.has(new A()), A.has({}), A.made]; })()`,
  `JSON.stringify({ b: [undefined, () => 1, NaN], a: '\\u2028\\ud800', d: new Date(0) })`,
])('%s gives what it gives in Node', (expression) => {
  expect(guest.evaluate(expression)).toEqual(evaluateInNode(`JSON.parse(JSON.stringify(${expression}))`));
});

test.each([
  [`/(?<a>x)|(?<a>y)/.exec('y').groups.a`, 'y'],
  [`Object.groupBy([1, 2, 3], (n) => n % 2 ? 'odd' : 'even')`, { odd: [1, 3], even: [2] }],
  [`[1, 2, 3].values().map((n) => n * 2).filter((n) => n > 2).take(5).toArray()`, [4, 6]],
  [`[...new Set([1, 2]).union(new Set([3]))]`, [1, 2, 3]],
])('%s, which is newer than Node 20, works', (expression, value) => {
  expect(guest.evaluate(expression)).toEqual(value);
});

test('without Intl, what asks for a locale answers all the same', () => {
  expect(
    guest.evaluate(`[typeof Intl, (1234567.891).toLocaleString('de-DE', { style: 'currency', currency: 'EUR' }), 12n.toLocaleString(), new Date(0).toLocaleString('en-US', { timeZone: 'UTC' }),
      new Date(0).toLocaleDateString('de'), new Date(0).toLocaleTimeString(), [1, 2].toLocaleString(), 'a'.localeCompare('b', 'de', { sensitivity: 'base' }), 'a'.localeCompare('B'), 'I'.toLocaleLowerCase('tr'), 'i'.toLocaleUpperCase()]`),
  ).toEqual([
    'undefined',
    '1234567.891',
    '12',
    '01/01/1970, 12:00:00 AM',
    '01/01/1970',
    '12:00:00 AM',
    '1,2',
    -1,
    1,
    'i',
    'I',
  ]);
});

test('what the engine has not, or has differently, is known', () => {
  expect(
    guest.evaluate(`({
      atomics: typeof Atomics,
      slashInSets: (() => { try { new RegExp('/', 'v'); return 'fine'; } catch (error) { return error.name; } })(),
      domExceptionIsError: Error.isError(new DOMException()),
      stackHasHeader: new Error('x').stack.includes('Error: x'),
      mostArguments: (() => { try { return Math.max(...new Array(65536).fill(1)); } catch (error) { return error.name; } })(),
      templateLiteralsCallConcat: (() => { const { concat } = String.prototype; try { String.prototype.concat = () => 'patched'; return \`a\${1}\`; } finally { String.prototype.concat = concat; } })(),
    })`),
  ).toEqual({
    atomics: 'undefined',
    slashInSets: 'SyntaxError',
    domExceptionIsError: false,
    stackHasHeader: false,
    mostArguments: 'RangeError',
    templateLiteralsCallConcat: 'patched',
  });
});
