// biome-ignore-all lint/style/useTemplate: the engine turns template literals into calls of String.prototype.concat, which a program can patch.
import { errorClassOf } from './errors.js';
import { titleOf } from './stack.js';

/** The worker's queries at the end: the program's result, and the description of an exception. Answers are JSON text. */
const stringify = JSON.stringify;
const create = Object.create;
const keysOf = Object.keys;
const toText = String;
const apply = Reflect.apply;
const { slice } = String.prototype;
const MAX_CAUSES = 4;

/** JSON of `__codemode_result__`. Throws the errors of the program's own `toJSON` and getters. */
export function collectResult(): string {
  const value = (globalThis as { __codemode_result__?: unknown }).__codemode_result__;
  if (value === undefined) return 'null';
  const json = jsonOf(value);
  if (json === undefined) throw new TypeError('a ' + typeof value + ' cannot be turned into JSON');
  return json;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return stringify(value) as string | undefined;
  } catch (error) {
    const place = unwritable(value, '', 0, { visited: 0 });
    if (place === undefined) throw error;
    throw new TypeError(place);
  }
}

const MAX_DEPTH = 200;
const MAX_VISITED = 100_000;

/** The first BigInt, the most frequent reason why `JSON.stringify` fails, with its path as a JSON Pointer. */
function unwritable(value: unknown, path: string, depth: number, search: { visited: number }): string | undefined {
  if (typeof value === 'bigint') return 'a BigInt' + (path === '' ? '' : ' at ' + path) + '; write String(value)';
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || ++search.visited > MAX_VISITED)
    return undefined;
  const keys = keysOf(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    const found = unwritable((value as Record<string, unknown>)[key], path + '/' + key, depth + 1, search);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** JSON of `{name, message, stack, hint?, errorClass?}` for any thrown value. */
export function describeThrown(thrown: unknown): string {
  // No prototype: a program's `Object.prototype.toJSON` must not be called.
  const description = create(null) as Record<string, unknown>;
  try {
    if (thrown instanceof Error) {
      description['name'] = typeof thrown.name === 'string' ? thrown.name : 'Error';
      description['message'] = typeof thrown.message === 'string' ? withCauses(thrown) : '';
      const stack: unknown = thrown.stack;
      description['stack'] = typeof stack === 'string' ? stack : '';
      const hint = (thrown as { hint?: unknown }).hint;
      if (typeof hint === 'string') description['hint'] = hint;
      const errorClass = errorClassOf(thrown);
      if (errorClass !== undefined) description['errorClass'] = errorClass;
    } else {
      description['name'] = typeof thrown;
      description['message'] = 'the program threw a value that is not an Error: ' + preview(thrown);
      description['stack'] = '';
    }
  } catch {
    description['name'] = 'Error';
    description['message'] = 'the program threw something that cannot be read';
    description['stack'] = '';
  }
  return stringify(description);
}

/** The message of an AggregateError is often empty. */
function withCauses(error: Error): string {
  const text = causes(error);
  return error.message === '' && text !== '' ? apply(slice, text, [1]) : error.message + text;
}

function causes(error: Error): string {
  let text = '';
  let current: unknown = (error as { cause?: unknown }).cause;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth++) {
    text += ' (caused by ' + titleOf(current) + ')';
    current = (current as { cause?: unknown }).cause;
  }
  const inner = (error as { errors?: unknown }).errors;
  if (inner instanceof Array) {
    for (let index = 0; index < inner.length && index < MAX_CAUSES; index++) {
      const each: unknown = inner[index];
      text += ' [' + (index + 1) + ': ' + (each instanceof Error ? titleOf(each) : preview(each)) + ']';
    }
  }
  return text;
}

function preview(value: unknown): string {
  if (typeof value !== 'object' || value === null) return typeof value === 'symbol' ? 'a symbol' : toText(value);
  try {
    return stringify(value) ?? 'an object';
  } catch {
    return 'an object that cannot be turned into JSON';
  }
}
