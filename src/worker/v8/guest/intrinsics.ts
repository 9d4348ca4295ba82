/**
 * Lists the built-in objects of an engine and the properties of each. The build lists those of QuickJS. The V8 process compares
 * its own with them, because a program must find the same world in both.
 */
export interface Intrinsic {
  /** The path to it: the index of a root below, then property names; `^` is the prototype, `get x` a getter. */
  readonly path: readonly (string | number)[];
  readonly keys: readonly string[];
}

const { getOwnPropertyDescriptor, getPrototypeOf } = Object;
const { ownKeys } = Reflect;

/** Objects that cannot be reached from a global by properties alone. */
export function roots(): readonly object[] {
  const iteratorOf = (value: Iterable<unknown>) => value[Symbol.iterator]();
  return [
    globalThis,
    function* () {},
    async () => {},
    async function* () {},
    iteratorOf([]),
    iteratorOf(''),
    iteratorOf(new Map()),
    iteratorOf(new Set()),
    'x'.matchAll(/x/g),
  ];
}

export function listIntrinsics(): Intrinsic[] {
  const seen = new Set<unknown>();
  const found: Intrinsic[] = [];
  const queue: { value: object; path: (string | number)[] }[] = roots().map((value, index) => ({
    value,
    path: [index],
  }));
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { value, path } = next;
    if (seen.has(value)) continue;
    seen.add(value);
    const keys = ownKeys(value);
    found.push({ path, keys: keys.map(nameOf) });
    const reach = (each: unknown, step: string) => {
      if ((typeof each === 'object' && each !== null) || typeof each === 'function')
        queue.push({ value: each, path: [...path, step] });
    };
    for (const key of keys) {
      const descriptor = getOwnPropertyDescriptor(value, key);
      if (descriptor === undefined) continue;
      reach(descriptor.value, nameOf(key));
      reach(descriptor.get, `get ${nameOf(key)}`);
    }
    reach(getPrototypeOf(value), '^');
  }
  return found;
}

/** The object at a path of the other engine. `from`: the roots of this one, made once for all paths. */
export function follow(path: Intrinsic['path'], from: readonly object[]): object | undefined {
  let value: unknown = from[path[0] as number];
  for (const step of path.slice(1) as string[]) {
    if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return undefined;
    if (step === '^') value = getPrototypeOf(value);
    else if (step.startsWith('get ')) value = getOwnPropertyDescriptor(value, keyOf(step.slice(4)))?.get;
    else value = getOwnPropertyDescriptor(value, keyOf(step))?.value;
  }
  return (typeof value === 'object' && value !== null) || typeof value === 'function' ? value : undefined;
}

export function nameOf(key: string | symbol): string {
  return typeof key === 'symbol' ? `@@${key.description ?? ''}` : key;
}

function keyOf(name: string): string | symbol {
  if (!name.startsWith('@@')) return name;
  const symbols = Symbol as unknown as Record<string, symbol | undefined>;
  return symbols[name.slice(2).replace(/^Symbol\./, '')] ?? name;
}
