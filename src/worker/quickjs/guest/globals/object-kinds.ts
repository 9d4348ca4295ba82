// Finds the kind of an object by its internal slots rather than by names that a program can change. All built-ins are saved at
// load, so that a program that patches a prototype later changes nothing here.

const { getPrototypeOf, getOwnPropertyDescriptor, apply } = Reflect;
const { isView } = ArrayBuffer;
const { isArray } = Array;
const isError = (Error as unknown as { isError(value: unknown): boolean }).isError;

export type ObjectKind =
  | 'Array'
  | 'ArrayBuffer'
  | 'ArrayBufferView'
  | 'BigInt'
  | 'Boolean'
  | 'DOMException'
  | 'Date'
  | 'Error'
  | 'Function'
  | 'Map'
  | 'Number'
  | 'Object'
  | 'Opaque'
  | 'RegExp'
  | 'Set'
  | 'SharedArrayBuffer'
  | 'String'
  | 'Symbol';

/** `Opaque` objects have a state that can't be read: promises, weak collections, iterators. Throws for a revoked proxy. */
export function kindOf(value: object): ObjectKind {
  if (typeof value === 'function') return 'Function';
  if (isArray(value)) return 'Array';
  const prototype = getPrototypeOf(value);
  if (prototype === objectPrototype || prototype === null) return 'Object';
  if (isView(value)) return 'ArrayBufferView';
  if (isError(value)) return 'Error';
  // An instance of a subclass has its built-in prototype further up the chain.
  let ancestor: object | null = prototype;
  for (let steps = 0; ancestor !== null && ancestor !== objectPrototype && steps < MAX_ANCESTORS; steps++) {
    const kind: KnownKind | undefined = knownKind(ancestor);
    if (kind !== undefined) return kind.slot === undefined || hasSlot(kind.slot, value) ? kind.name : 'Object';
    ancestor = getPrototypeOf(ancestor);
  }
  return 'Object';
}

/** No real program has a longer chain. */
const MAX_ANCESTORS = 64;

interface KnownKind {
  readonly prototype: object;
  readonly name: ObjectKind;
  /** A method or getter that throws for any `this` without the internal slot, and does nothing else. */
  readonly slot: (() => unknown) | undefined;
}

declare const DOMException: { readonly prototype: object };
const objectPrototype = Object.prototype;
const getter = (prototype: object, name: PropertyKey) =>
  getOwnPropertyDescriptor(prototype, name)?.get as (() => unknown) | undefined;
const method = (prototype: object, name: PropertyKey) =>
  getOwnPropertyDescriptor(prototype, name)?.value as () => unknown;
const iteratorPrototype = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()) as object) as object;

const KNOWN: readonly KnownKind[] = [
  { prototype: Map.prototype, name: 'Map', slot: getter(Map.prototype, 'size') },
  { prototype: Set.prototype, name: 'Set', slot: getter(Set.prototype, 'size') },
  { prototype: Date.prototype, name: 'Date', slot: method(Date.prototype, 'getTime') },
  { prototype: RegExp.prototype, name: 'RegExp', slot: getter(RegExp.prototype, 'source') },
  { prototype: ArrayBuffer.prototype, name: 'ArrayBuffer', slot: getter(ArrayBuffer.prototype, 'byteLength') },
  {
    prototype: SharedArrayBuffer.prototype,
    name: 'SharedArrayBuffer',
    slot: getter(SharedArrayBuffer.prototype, 'byteLength'),
  },
  // In this engine, Error.isError is false for a DOMException.
  { prototype: DOMException.prototype, name: 'DOMException', slot: getter(DOMException.prototype, 'name') },
  { prototype: Number.prototype, name: 'Number', slot: method(Number.prototype, 'valueOf') },
  { prototype: String.prototype, name: 'String', slot: method(String.prototype, 'valueOf') },
  { prototype: Boolean.prototype, name: 'Boolean', slot: method(Boolean.prototype, 'valueOf') },
  { prototype: BigInt.prototype, name: 'BigInt', slot: method(BigInt.prototype, 'valueOf') },
  { prototype: Symbol.prototype, name: 'Symbol', slot: method(Symbol.prototype, 'valueOf') },
  { prototype: Promise.prototype, name: 'Opaque', slot: undefined },
  { prototype: WeakMap.prototype, name: 'Opaque', slot: undefined },
  { prototype: WeakSet.prototype, name: 'Opaque', slot: undefined },
  { prototype: WeakRef.prototype, name: 'Opaque', slot: undefined },
  { prototype: iteratorPrototype, name: 'Opaque', slot: undefined },
];

function knownKind(prototype: object): KnownKind | undefined {
  for (let index = 0; index < KNOWN.length; index++) {
    const kind = KNOWN[index] as KnownKind;
    if (kind.prototype === prototype) return kind;
  }
  return undefined;
}

function hasSlot(slot: (() => unknown) | undefined, value: object): boolean {
  try {
    apply(slot as () => unknown, value, []);
    return true;
  } catch {
    return false;
  }
}
