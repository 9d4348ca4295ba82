import { bindCall } from './calls.js';

/** Objects of functions, for contracts in which tools are reached by name: `mcp.<namespace>.<tool>(...)`. */
const parse = JSON.parse;
const keysOf = Object.keys;
const create = Object.create;
const defineProperty = Object.defineProperty;
const freeze = Object.freeze;
const setPrototypeOf = Object.setPrototypeOf;
const ProxyOf = Proxy;

type Functions = Readonly<Record<string, (...input: unknown[]) => unknown>>;

/** `json`: an object of targets by name. */
export function bindCalls(json: string): Functions {
  const targets = parse(json) as Record<string, string>;
  const bound = create(null) as Record<string, unknown>;
  const names = keysOf(targets);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    define(bound, name, { value: bindCall(name, targets[name] as string), enumerable: true });
  }
  return freeze(bound) as Functions;
}

/**
 * `list`: names and the JSON of their targets, in turns. Each is made when it is first looked at: there may be thousands of
 * tools, and a program uses three. `unavailable`: JSON of the names whose servers have no tools now, with their paths.
 */
export function bindNamespaces(list: readonly string[], unavailable: string): object {
  const paths = setPrototypeOf(parse(unavailable), null) as Record<string, string>;
  const namespaces = create(null) as object;
  for (let index = 0; index < list.length; index += 2) {
    let made: Functions | undefined;
    const name = list[index] as string;
    const json = list[index + 1] as string;
    const get = () => {
      const path = paths[name];
      made ??= path === undefined ? bindCalls(json) : bindAnyCall(path);
      return made;
    };
    define(namespaces, name, { get, enumerable: true });
  }
  return freeze(namespaces);
}

/** Of a server whose tools are not known, any name is called: the host says what is wrong with it. */
function bindAnyCall(path: string): Functions {
  const traps = setPrototypeOf(
    {
      // Returning an object with `then` would await it.
      get: (_: object, name: string | symbol) =>
        typeof name === 'string' && name !== 'then' ? bindCall(name, `${path}/${name}`) : undefined,
    },
    null,
  ) as ProxyHandler<object>;
  return new ProxyOf(freeze(create(null) as object), traps) as Functions;
}

/** Descriptors without a prototype: a `get` on a program's `Object.prototype` would make an accessor of a value. */
function define(object: object, name: string, descriptor: PropertyDescriptor): void {
  defineProperty(object, name, setPrototypeOf(descriptor, null) as PropertyDescriptor);
}
