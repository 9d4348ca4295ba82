import { bindScriptCall } from './calls.js';

/** What is different in the world of a classic script. */
const parse = JSON.parse;
const defineProperty = Object.defineProperty;
const NativePromise = Promise;

/** What a module has and a script has not: its value is its result, and it never waits for anything but calls. */
const REMOVED = ['setTimeout', 'clearTimeout', '__codemode_result__'];

/** Runs before any code of the script. Its globals can be replaced by the script, as `var` and `function` do. */
export function beginScript(callsJson: string, input: unknown): void {
  for (const name of REMOVED) delete (globalThis as Record<string, unknown>)[name];
  define('input', input);
  for (const name of parse(callsJson) as string[]) define(name, bindScriptCall(name));
}

/** The value of the script, as `await` would give it. */
export function awaitValue(value: unknown): Promise<unknown> {
  return new NativePromise((resolve) => resolve(value));
}

function define(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
