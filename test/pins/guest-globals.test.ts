import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSandbox, result, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await openSandbox({ min: 1, max: 1 });
});
afterAll(() => box[Symbol.asyncDispose]());

/** Everything a program can name. A red line here means: a new version of the engine, or we, changed a program's world. */
test('a program finds these globals and no others', async () => {
  expect(await box.value(result('Reflect.ownKeys(globalThis).map(String).sort()'))).toMatchInlineSnapshot(`
    [
      "AggregateError",
      "Array",
      "ArrayBuffer",
      "AsyncDisposableStack",
      "BigInt",
      "BigInt64Array",
      "BigUint64Array",
      "Boolean",
      "DOMException",
      "DataView",
      "Date",
      "DisposableStack",
      "Error",
      "EvalError",
      "FinalizationRegistry",
      "Float16Array",
      "Float32Array",
      "Float64Array",
      "Function",
      "Infinity",
      "Int16Array",
      "Int32Array",
      "Int8Array",
      "Iterator",
      "JSON",
      "Map",
      "Math",
      "NaN",
      "Number",
      "Object",
      "Promise",
      "Proxy",
      "RangeError",
      "ReferenceError",
      "Reflect",
      "RegExp",
      "Set",
      "String",
      "SuppressedError",
      "Symbol",
      "Symbol(Symbol.toStringTag)",
      "SyntaxError",
      "TextDecoder",
      "TextEncoder",
      "TypeError",
      "URIError",
      "URL",
      "URLSearchParams",
      "Uint16Array",
      "Uint32Array",
      "Uint8Array",
      "Uint8ClampedArray",
      "WeakMap",
      "WeakRef",
      "WeakSet",
      "__codemode_result__",
      "atob",
      "btoa",
      "clearTimeout",
      "console",
      "decodeURI",
      "decodeURIComponent",
      "encodeURI",
      "encodeURIComponent",
      "escape",
      "globalThis",
      "isFinite",
      "isNaN",
      "parseFloat",
      "parseInt",
      "queueMicrotask",
      "setTimeout",
      "structuredClone",
      "undefined",
      "unescape",
    ]
  `);
});

test('a program finds these properties on what it is given besides the language', async () => {
  const source = result(`{
    console: Reflect.ownKeys(console).map(String).sort(),
    globalThis: [Object.getPrototypeOf(globalThis) === Object.prototype, Object.isExtensible(globalThis)],
    errors: Object.keys(await import('@codemode/errors')).sort(),
  }`);
  expect(await box.value(source)).toMatchInlineSnapshot(`
    {
      "console": [
        "Symbol(Symbol.toStringTag)",
        "assert",
        "count",
        "countReset",
        "debug",
        "dir",
        "error",
        "group",
        "groupCollapsed",
        "groupEnd",
        "info",
        "log",
        "table",
        "time",
        "timeEnd",
        "timeLog",
        "trace",
        "warn",
      ],
      "errors": [
        "AuthenticationError",
        "CodemodeError",
        "SandboxLimitError",
        "SchemaValidationError",
        "ServerNotFoundError",
        "ToolCallError",
        "ToolNotFoundError",
      ],
      "globalThis": [
        true,
        true,
      ],
    }
  `);
});
