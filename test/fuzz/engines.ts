import { isDeepStrictEqual } from 'node:util';
import type { RunReport } from '../../src/sandbox/run-report.js';
import { CALLER, openSandbox } from '../support/sandbox.js';
import { inV8 } from '../support/v8.js';
import type { Fuzzer } from './fuzzer.js';
import type { Random } from './random.js';

const STATEMENTS = 60;

/**
 * The same program in both engines: what it calls, logs and gives back must be equal. It runs in QuickJS, and V8 replays its
 * journal. What is known to differ (texts of the engines' own errors, columns, last digits of `Math.sin` and its like, comparators that contradict themselves) is not
 * generated: see docs/decisions/0062-v8-by-replay.md.
 */
export async function openEngines(): Promise<Fuzzer> {
  const box = await openSandbox({ max: 1 });
  const functions = { echo: (input: unknown) => input ?? null };
  return {
    attempt: async (random, note) => {
      const lines = Array.from({ length: STATEMENTS }, (_, index) => guarded(statement(random, index), index));
      const source = `import { echo } from '@codemode/servers/test';\nconst out = [];\n${lines.join('\n')}\nglobalThis.__codemode_result__ = out;`;
      note(source);
      const first = await box.run(source, { functions, language: 'javascript' });
      const { report, divergence } = await box.sandbox.replay(inV8(first.journal), CALLER);
      if (divergence !== undefined) {
        const calling = lines.filter((line) => line.includes('await echo('));
        throw new Error(`V8: ${divergence}; calls are made by\n${calling.slice(0, 20).join('\n')}`);
      }
      const [left, right] = [factsOf(first), factsOf(report)];
      if (!isDeepStrictEqual(left, right)) throw new Error(differenceOf(lines, left, right));
    },
    [Symbol.asyncDispose]: () => box[Symbol.asyncDispose](),
  };
}

function factsOf({ outcome, logs, journal }: RunReport) {
  // Columns differ: QuickJS points behind what was called, V8 in front of it.
  const shown = JSON.parse(JSON.stringify(outcome), (key, value) => (key === 'stack' || key === 'column' ? '' : value));
  return {
    outcome: shown as typeof outcome,
    logs: logs.map(({ level, message }) => [level, message]),
    calls: journal.calls,
  };
}

type Facts = ReturnType<typeof factsOf>;

function differenceOf(lines: readonly string[], left: Facts, right: Facts): string {
  const listOf = ({ outcome }: Facts) =>
    outcome.status === 'completed' ? (JSON.parse(outcome.resultJson) as unknown[]) : [];
  const [quickJs, v8] = [listOf(left), listOf(right)];
  const at = quickJs.findIndex((value, index) => !isDeepStrictEqual(value, v8[index]));
  const log = left.logs.findIndex((entry, index) => !isDeepStrictEqual(entry, right.logs[index]));
  if (at < 0 && log >= 0) return `logged by QuickJS: ${left.logs[log]}, by V8: ${right.logs[log]}`;
  if (at < 0) return `QuickJS: ${JSON.stringify(left).slice(0, 1_500)}\nV8: ${JSON.stringify(right).slice(0, 1_500)}`;
  return `${lines[at]}\nQuickJS: ${JSON.stringify(quickJs[at])}\nV8: ${JSON.stringify(v8[at])}`;
}

/** The name of what it threw is its value: texts differ. */
function guarded(line: string, index: number): string {
  return `try { ${line} } catch (e) { out[${index}] = e.name; }`;
}

/** One line, which adds one value to `out`. */
function statement(random: Random, index: number): string {
  const value = expression(random, 3);
  switch (random.below(8)) {
    case 0:
      return `out.push(await echo(${value}) ?? null);`;
    case 1:
      return `if (${number(random, 2)} > 3) throw new ${random.pick(ERRORS)}('m${index}'); out.push(String(${value}));`;
    case 2:
      return `{ const seen = []; await Promise.all([1, 2, 3].map(async (n) => { ${random.pick(['await null;', 'await echo(n);', ''])} seen.push(n * ${number(random, 1)}); })); out.push(seen); }`;
    case 3:
      return `console.log(${value}, ${text(random, 1)}); out.push(0);`;
    case 4:
      return `{ let s = 0; ${random.pick(['for (let i = 0; i < 9; i++)', 'for (const i of [3, 1, 2])', 'for (const i in { a: 1, 2: 2 })'])} { s += ${random.pick(['1', 'Number(i) || 7', 'String(i).length'])}; if (s > ${random.below(20)}) break; } out.push(s); }`;
    case 5:
      return `out.push([${value}, ${value}].map((x) => typeof x).join());`;
    default:
      return `out.push(${value} ?? null);`;
  }
}

const ERRORS = ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'URIError', 'EvalError', 'ReferenceError'];

function expression(random: Random, depth: number): string {
  return random.pick([number, text, list, record, date, pattern, bytes])(random, depth);
}

function number(random: Random, depth: number): string {
  if (depth <= 0)
    return random.pick(['0', '1', '-1', '2', '7', '0.1', '1e3', '255', '-0', '1e21', '3.7', 'NaN', '2 ** 31']);
  const [a, b] = [number(random, depth - 1), number(random, depth - 1)];
  return random.pick([
    `(${a} ${random.pick(['+', '-', '*', '/', '%', '&', '|', '^', '<<', '>>', '>>>'])} (${b}))`,
    `Math.${random.pick(['floor', 'ceil', 'round', 'trunc', 'abs', 'sign', 'sqrt', 'fround', 'clz32'])}(${a})`,
    `Math.${random.pick(['min', 'max', 'imul'])}(${a}, ${b})`,
    `Number(${text(random, depth - 1)})`,
    // Ten digits: beyond 2 ** 53 the language leaves the last digits of other radixes to the engine.
    `parseInt((${text(random, depth - 1)}).slice(0, 10), ${random.pick(['10', '16', '36', 'undefined'])})`,
    `(${text(random, depth - 1)}).length`,
    `(${text(random, depth - 1)}).localeCompare(${text(random, depth - 1)})`,
    `Math.random()`,
  ]);
}

function text(random: Random, depth: number): string {
  if (depth <= 0) return JSON.stringify(random.pick(WORDS));
  const [a, b] = [text(random, depth - 1), text(random, depth - 1)];
  return random.pick([
    `(${a} + ${b})`,
    `(${a}).${random.pick(['toUpperCase()', 'toLowerCase()', 'trim()', 'normalize("NFD")', 'toLocaleUpperCase()', 'isWellFormed()', 'toWellFormed()', 'at(-1)'])}`,
    `(${a}).${random.pick(['slice', 'substring', 'substr'])}(${random.below(5)}, ${random.below(9) - 3})`,
    `(${a}).${random.pick(['padStart', 'padEnd'])}(${random.below(12)}, ${b})`,
    `(${a}).replaceAll(${b}, '<$&>')`,
    `(${a}).split(${b}).join('|')`,
    `String(${number(random, depth - 1)})`,
    `(${number(random, depth - 1)}).toFixed(${random.below(10)})`,
    `(${number(random, depth - 1)}).toLocaleString()`,
    `JSON.stringify(${expression(random, depth - 1)})`,
    `encodeURIComponent((${a}).toWellFormed())`,
    `\`\${${a}}-\${${b}}\``,
  ]);
}

const WORDS = [
  '',
  'a',
  'B',
  'ä',
  'é',
  'e\u0301',
  'ß',
  '😀',
  '10',
  '2',
  ' x ',
  'a,b',
  '-',
  '\u2028',
  'İ',
  'zebra',
  '0x1f',
  '1e3',
];

function list(random: Random, depth: number): string {
  const items = random.list(6, () => (random.chance(2) ? number(random, depth - 1) : text(random, depth - 1)));
  const plain = `[${items.join()}]`;
  return random.pick([
    plain,
    `${plain}.sort()`,
    `${plain}.toSorted((a, b) => ${random.pick(['String(b).length - String(a).length', 'String(a).localeCompare(String(b))', '0'])})`,
    `${plain}.${random.pick(['reverse()', 'flat()', 'slice(1, -1)', 'concat([1])', 'fill(0, 1, 2)', 'toSpliced(0, 1)', 'copyWithin(0, 1)', 'entries().toArray()', 'keys().map((x) => x * 2).toArray()'])}`,
    `${plain}.map((x, i) => ${random.pick(['[i, x]', 'typeof x', 'String(x) + i', 'Number(x)'])})`,
    `[...new Set(${plain})]`,
    `Object.entries(Object.groupBy(${plain}, (x) => typeof x))`,
    `[...new Map(${plain}.map((x, i) => [x, i]))]`,
    `Array.from({ length: ${random.below(6)} }, (_, i) => i ** 2)`,
    `${plain}.reduce((sum, x) => [sum, x], null)`,
    `[${plain}.indexOf(1), ${plain}.includes(NaN), ${plain}.findLastIndex((x) => x > 1)]`,
  ]);
}

function record(random: Random, depth: number): string {
  const fields = random.list(
    5,
    () => `${JSON.stringify(random.pick(['a', 'b', '10', '2', '-1', 'é', 'then2']))}: ${expression(random, depth - 2)}`,
  );
  const plain = `({ ${fields.join(', ')} })`;
  return random.pick([
    plain,
    `Object.keys(${plain})`,
    `JSON.parse(JSON.stringify(${plain}))`,
    `Object.fromEntries(Object.entries(${plain}).reverse())`,
    `structuredClone(${plain})`,
    `({ ...${plain}, a: 1 })`,
    `(() => { class A { #x = 1; static y = 2; get z() { return this.#x + A.y; } } const o = new A(); return [o.z, Object.keys(o), o instanceof A]; })()`,
    `(() => { const log = []; const p = new Proxy(${plain}, { get: (t, k) => { log.push(String(k)); return t[k]; } }); return [p.a ?? 0, 'b' in p, log]; })()`,
    `(function* () { yield* ${list(random, 0)}; return 1; })().next()`,
  ]);
}

function date(random: Random): string {
  const at = random.pick(['0', '1e12', '-1', '951782400000', '1709164800000', '8.64e15', 'NaN']);
  return random.pick([
    `new Date(${at}).${random.pick(['getTime()', 'getUTCDay()', 'getFullYear()', 'toString()', 'toLocaleString()', 'toLocaleDateString()', 'toDateString()', 'toUTCString()', 'getTimezoneOffset()'])}`,
    `Date.parse(${JSON.stringify(random.pick(['2024-02-29', '2024-02-29T12:00', 'Mar 3, 2021', '2021/3/4 10:00', '1 Jan 2000 00:00 GMT+2', 'x', '2024-13-01']))})`,
    `new Date(2024, ${random.below(15)}, ${random.below(40)}, ${random.below(30)}).toISOString()`,
    `new Date(Date.UTC(2020, ${random.below(12)}, 1)).toJSON()`,
  ]);
}

function pattern(random: Random, depth: number): string {
  const of = random.pick([
    '/a+b?/g',
    '/[^a-z]/gi',
    '/(?<w>\\w)(\\d)?/',
    '/\\s*(.)$/u',
    '/(?=\\d)/g',
    '/\\p{L}/gu',
    '/(a|ab)(c|bcd)?/',
    '/^.|e\\u0301/gm',
    '/(?<!x)\\d{1,2}?/y',
  ]);
  const subject = text(random, depth - 1);
  return random.pick([
    `(${subject}).match(${of})`,
    `(${subject}).replace(${of}, (m, ...rest) => '[' + m + rest.length + ']')`,
    `(${subject}).split(${of})`,
    `(${subject}).search(${of})`,
    `[${of}.test(${subject}), ${of}.source, ${of}.flags]`,
  ]);
}

function bytes(random: Random): string {
  const kind = random.pick(['Uint8', 'Int8', 'Uint8Clamped', 'Int16', 'Uint32', 'Float32', 'Float64']);
  const values = random.list(5, () => random.pick(['1', '-1', '300', '1.5', 'NaN', '2 ** 33', '-0']));
  return random.pick([
    `[...new ${kind}Array([${values}])].map(String)`,
    `[...new Uint8Array(new ${kind}Array([${values}].map((x) => x || 0)).buffer)]`,
    `[...new TextEncoder().encode(${text(random, 0)})]`,
    `new TextDecoder().decode(new Uint8Array([${random.list(5, () => String(random.below(256)))}]))`,
    `btoa(${JSON.stringify(random.pick(['', 'a', 'ab', 'abc', '\u00ff']))})`,
    `new ${kind}Array([${values}]).${random.pick(['join()', 'at(-1)', 'indexOf(1)', 'toSorted().join()', 'subarray(1).length'])}`,
  ]);
}
