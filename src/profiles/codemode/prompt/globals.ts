/*
 * Where the sandbox's globals differ from the list in the contract or from what a model expects of JavaScript. The agent is
 * told from these lists, and a test holds them against the real sandbox.
 */

/** Names that are not there, although programs written elsewhere use them. */
export const MISSING_GLOBALS = [
  ...['fetch', 'XMLHttpRequest', 'WebSocket', 'setInterval', 'setImmediate', 'process', 'require', 'Buffer', 'global'],
  ...['eval', 'Intl', 'Temporal', 'crypto', 'performance', 'AbortController', 'ReadableStream', 'Blob', 'Atomics'],
  ...['SharedArrayBuffer', 'WebAssembly', 'Worker'],
] as const;

/** Names beyond the contract's list that a program may use. */
export const EXTRA_GLOBALS = [
  ...['structuredClone', 'queueMicrotask', 'atob', 'btoa', 'WeakRef', 'FinalizationRegistry', 'Iterator'],
  ...['DOMException', 'DisposableStack', 'AsyncDisposableStack', 'Float16Array', 'Uint8ClampedArray'],
  ...['BigInt64Array', 'BigUint64Array', 'encodeURIComponent', 'decodeURIComponent', 'escape', 'unescape'],
] as const;
