/*
 * Where the sandbox's globals differ from the contract's list or from what a model expects of JavaScript. The agent is told from
 * these lists, and a test compares them with the real sandbox.
 */

/** Missing names that programs written elsewhere use. */
export const MISSING_GLOBALS = [
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'setInterval', 'setImmediate', 'process', 'require', 'Buffer', 'global'],
  ...['eval', 'Intl', 'Temporal', 'crypto', 'performance', 'AbortController', 'ReadableStream', 'Blob', 'Atomics'],
  ...['SharedArrayBuffer', 'WebAssembly', 'Worker'],
] as const;

/** Available names beyond the contract's list. */
export const EXTRA_GLOBALS = [
  ...['structuredClone', 'queueMicrotask', 'atob', 'btoa', 'WeakRef', 'FinalizationRegistry', 'Iterator'],
  ...['DOMException', 'DisposableStack', 'AsyncDisposableStack', 'Float16Array', 'Uint8ClampedArray'],
  ...['BigInt64Array', 'BigUint64Array', 'encodeURIComponent', 'decodeURIComponent', 'escape', 'unescape'],
] as const;
