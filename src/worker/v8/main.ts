import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction, createContext, runInContext } from 'node:vm';

/**
 * The process of one program in V8. The program gets the main realm, because global variables of any other realm are slow
 * (measured: 25 times in a loop over `Math.floor`). So the worker's own code is in the other realm: a program that patches `JSON`
 * or `Array.prototype` patches its own.
 *
 * None of this is a security boundary. A program is assumed to reach Node: the jail contains nothing, and lets the process only
 * compute and exchange frames.
 *
 * It is built as CommonJS: Node's loader of modules takes 10 ms of CPU time, and a process is started for every hand-over.
 */
const read = (name: string) => readFileSync(join(__dirname, name), 'utf8');
const realm = createContext(Object.create(null) as object);
/** Passed as parameters, because the global variables of this realm are slow. */
const LANGUAGE = [
  ...['Object', 'Array', 'JSON', 'Math', 'Map', 'Set', 'WeakMap', 'Promise', 'Error', 'TypeError', 'RangeError'],
  ...['Number', 'String', 'Boolean', 'BigInt', 'Symbol', 'Date', 'RegExp', 'Reflect', 'Uint8Array', 'DataView'],
  ...['Int32Array', 'Uint32Array', 'ArrayBuffer', 'isNaN', 'parseInt', 'parseFloat', 'encodeURIComponent'],
];
const NODE = { require, process, Buffer, setImmediate, TextDecoder, URL };
const start = compileFunction(read('v8-worker.js'), [...LANGUAGE, ...Object.keys(NODE), 'guestFiles'], {
  parsingContext: realm,
  filename: 'codemode:worker',
});
const language = runInContext(`[${LANGUAGE.join()}]`, realm) as unknown[];
start(...language, ...Object.values(NODE), { boot: read('v8-boot.js'), intrinsics: read('intrinsics.json') });
