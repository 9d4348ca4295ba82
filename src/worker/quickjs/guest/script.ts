import { bindScriptCall } from './calls.js';
import { parseAnswer } from './script-answer.js';

/** The differences of the world of a classic script. */
const parseJson = JSON.parse;
const defineProperty = Object.defineProperty;
const NativePromise = Promise;

/** Globals that a module has and a script lacks: a script's value is its result, and it waits only for calls. */
const REMOVED = ['setTimeout', 'clearTimeout', '__codemode_result__'];

/** Runs before any code of the script. The script can replace its globals, with `var` and `function`. */
export function beginScript(callsJson: string, input: unknown): void {
  for (const name of REMOVED) delete (globalThis as Record<string, unknown>)[name];
  define('input', input);
  define('parse', parseAnswer);
  for (const name of parseJson(callsJson) as string[]) define(name, bindScriptCall(name));
}

/** The value of the script, as `await` would give it. */
export function awaitValue(value: unknown): Promise<unknown> {
  return new NativePromise((resolve) => resolve(value));
}

function define(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}
