import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

/** A program makes code out of text: by every route that has ever led there in an engine. */

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ max: 1 });
});
afterAll(() => box[Symbol.asyncDispose]());

const CODE = `'globalThis.ran = true; return 1'`;
const ROUTES: readonly (readonly [route: string, attempt: string])[] = [
  ['eval by its name', `eval(${CODE})`],
  ['indirect eval', `(0, globalThis.eval)(${CODE})`],
  [
    'eval from the descriptors of the global object',
    `Object.getOwnPropertyDescriptors(globalThis).eval.value(${CODE})`,
  ],
  ['eval through an optional call', `(eval)?.(${CODE})`],
  ['Function', `Function(${CODE})()`],
  ['new Function', `new Function(${CODE})()`],
  ['the constructor of a function', `(() => {}).constructor(${CODE})()`],
  ['the constructor of a method', `({ m() {} }).m.constructor(${CODE})()`],
  ['the constructor of a class', `(class {}).constructor(${CODE})()`],
  [
    'the constructor of a getter',
    `Object.getOwnPropertyDescriptor({ get a() { return 1 } }, 'a').get.constructor(${CODE})()`,
  ],
  ['the constructor of a bound function', `(() => {}).bind().constructor(${CODE})()`],
  ['the constructor of a built-in', `Math.max.constructor(${CODE})()`],
  ['the constructor of a proxy of a function', `new Proxy(() => {}, {}).constructor(${CODE})()`],
  ['AsyncFunction', `await (async () => {}).constructor(${CODE})()`],
  ['GeneratorFunction', `(function* () {}).constructor(${CODE})().next()`],
  ['AsyncGeneratorFunction', `await (async function* () {}).constructor(${CODE})().next()`],
  [
    'a generator object’s prototype chain',
    `Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())).constructor.constructor(${CODE})`,
  ],
  ['an async generator’s prototype chain', `Object.getPrototypeOf(async function* () {}).constructor(${CODE})`],
  ['the realm’s Function through Object', `Object.constructor(${CODE})()`],
  ['a constructor of a constructor of a constructor', `''.constructor.constructor.constructor(${CODE})()`],
  ['Reflect.construct', `Reflect.construct((() => {}).constructor, [${CODE}])()`],
  [
    'Reflect.construct with another new.target',
    `Reflect.construct(Object, [${CODE}], (async () => {}).constructor)(1)`,
  ],
  ['a subclass of Function', `new (class extends (() => {}).constructor {})(${CODE})()`],
  ['a subclass of AsyncFunction', `await new (class extends (async () => {}).constructor {})(${CODE})()`],
  ['Function.prototype.call of the constructor', `(() => {}).constructor.call(null, ${CODE})()`],
  ['an imported tool’s constructor', `(await import('@codemode/servers/test')).echo.constructor(${CODE})()`],
  ['an error class’s constructor', `(await import('@codemode/errors')).ToolCallError.constructor(${CODE})()`],
  [
    'a constructor put back by the program',
    `delete Object.getPrototypeOf(async () => {}).constructor; await (async () => {}).constructor(${CODE})()`,
  ],
  ['setTimeout with text', `setTimeout(${CODE}, 0)`],
  ['setTimeout with an object that turns into text', `setTimeout({ toString: () => ${CODE} }, 0)`],
  ['queueMicrotask with text', `queueMicrotask(${CODE})`],
  ['import of a data: address', `await import('data:text/javascript,globalThis.ran=true')`],
  ['import of a blob: address', `await import('blob:null/' + ${CODE})`],
  ['import of text as a module by attribute', `await import(${CODE}, { with: { type: 'text' } })`],
  [
    'import of an object that turns into a data: address',
    `await import({ toString: () => 'data:text/javascript,globalThis.ran=true' })`,
  ],
  ['a script element', `document.createElement('script').text = ${CODE}`],
  ['WebAssembly', `new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))`],
  ['a worker', `new Worker('data:text/javascript,0')`],
  ['ShadowRealm', `new ShadowRealm().evaluate(${CODE})`],
  ['the engine’s own modules', `await import('qjs:std')`],
  ['the engine’s shell functions', `std.evalScript(${CODE})`],
];

describe('text does not become code', () => {
  test.each(ROUTES)('through %s [A14]', async (_, attempt) => {
    const seen = await box.value(
      `const attempt = async () => { ${attempt.replace(/^(await )?(?!delete)/, (all) => `return ${all}`)} };
       const outcome = await attempt().then((value) => ['got', typeof value, String(value)], (error) => ['refused', error.constructor.name]);
       await new Promise((resolve) => setTimeout(resolve, 2));
       ${result('{ outcome, ran: typeof ran }')}`,
      { functions: { echo: (input) => input } },
    );
    expect(seen).toEqual({ outcome: ['refused', expect.stringMatching(/^(Type|Reference|)Error$/)], ran: 'undefined' });
  });

  // These take text and give data; the text is never run.
  test.each([
    ['a reviver of JSON.parse', `JSON.parse('{"a":"globalThis.ran = true"}', (key, value) => value).a`],
    [
      'JSON.parse of an expression',
      `(() => { try { return JSON.parse('(globalThis.ran = true)') } catch { return 'data' } })()`,
    ],
    [
      'a regular expression with code in its replacement',
      `'x'.replace(new RegExp('x', 'g'), '$&{globalThis.ran = true}')`,
    ],
    ['a regular expression made of code', `String(new RegExp('(?{globalThis.ran = true})'.slice(3, -1)))`],
    ['a tagged template', `String.raw\`\${'globalThis.ran = true'}\``],
    ['a URL with a javascript: scheme', `new URL('javascript:globalThis.ran=true').href`],
    ['structuredClone of text', `structuredClone('globalThis.ran = true')`],
    ['a getter’s source text', `(() => { globalThis.ran = true }).toString()`],
  ])('through %s', async (_, attempt) => {
    expect(await box.value(`const seen = ${attempt}; ${result('[typeof seen, typeof ran]')}`)).toEqual([
      'string',
      'undefined',
    ]);
  });
});
