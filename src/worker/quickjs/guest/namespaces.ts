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
 * `list`: alternating names and the JSON of their targets. Each namespace is created on first access: there may be thousands of
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

/** If a server's tools are unknown, any name can be called: the host reports the error. */
function bindAnyCall(path: string): Functions {
  const traps = setPrototypeOf(
    {
      // An object with `then` would be awaited when it is returned.
      get: (_: object, name: string | symbol) =>
        typeof name === 'string' && name !== 'then' ? bindCall(name, `${path}/${name}`) : undefined,
    },
    null,
  ) as ProxyHandler<object>;
  return new ProxyOf(freeze(create(null) as object), traps) as Functions;
}

/** Descriptors without a prototype: a `get` on a program's `Object.prototype` would turn a value into an accessor. */
function define(object: object, name: string, descriptor: PropertyDescriptor): void {
  defineProperty(object, name, setPrototypeOf(descriptor, null) as PropertyDescriptor);
}
