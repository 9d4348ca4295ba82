import { parse } from './text/parse.js';

const defineProperty = Object.defineProperty;

/** Runs before any code of a function body, which has no imports: `parse` of `@codemode/text` is a global. */
export function beginBody(context: unknown): void {
  define('context', context);
  define('parse', parse);
}

function define(name: string, value: unknown): void {
  const descriptor = { __proto__: null, value, writable: true, configurable: true, enumerable: false };
  defineProperty(globalThis, name, descriptor as PropertyDescriptor);
}
