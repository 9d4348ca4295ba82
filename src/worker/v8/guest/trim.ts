import { follow, type Intrinsic, listIntrinsics, nameOf, roots } from './intrinsics.js';

/**
 * Removes features that QuickJS does not have: Node's globals first, then those that this V8 has in addition. This is not a
 * security boundary, the jail around the process is. It keeps a program from depending on the engine that happens to run it.
 */
const { deleteProperty, ownKeys } = Reflect;

export function takeIntrinsics(): readonly Intrinsic[] {
  const global = globalThis as { __intrinsics?: string };
  const listed = JSON.parse(global.__intrinsics ?? '[]') as Intrinsic[];
  delete global.__intrinsics;
  return listed;
}

export function trimTo(listed: readonly Intrinsic[]): void {
  const from = roots();
  for (const { path, keys } of listed) {
    const object = follow(path, from);
    if (object === undefined) continue;
    for (const key of ownKeys(object))
      if (!keys.includes(nameOf(key)) && !isForBoot(object, key)) deleteProperty(object, key);
  }
}

/** These differ between the engines, and a program that uses these names means something of its own. */
const HARMLESS = new Set(['fileName', 'lineNumber', 'columnNumber', 'stack', 'constructor', 'toStringTag']);

/**
 * Names of features that QuickJS has and this V8 lacks. A source that contains one stays in QuickJS. Names that another object has
 * too (`map`, `concat`) would keep every program there: they are implemented in `missing.ts`.
 */
export function missingNames(listed: readonly Intrinsic[]): string[] {
  const missing = new Set<string>();
  const from = roots();
  for (const { path, keys } of listed) {
    const object = follow(path, from);
    if (object === undefined) continue;
    const own = new Set(ownKeys(object).map(nameOf));
    for (const key of keys) if (!own.has(key)) missing.add(key.replace(/^@@(?:Symbol\.)?/, ''));
  }
  for (const { keys } of listIntrinsics()) for (const key of keys) missing.delete(key);
  for (const name of HARMLESS) missing.delete(name);
  return [...missing];
}

/** Needed by the boot code, which removes it itself. */
function isForBoot(object: object, key: string | symbol): boolean {
  return (
    object === globalThis && (key === 'SharedArrayBuffer' || (typeof key === 'string' && key.startsWith('__host_')))
  );
}
