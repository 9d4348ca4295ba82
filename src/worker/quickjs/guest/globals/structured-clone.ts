// biome-ignore-all lint/complexity/noArguments: Web IDL counts the arguments that were given.
import { kindOf } from './object-kinds.js';

declare const DOMException: new (message: string, name: string) => Error;

/** ES2024, which this unit's library types do not include yet. */
interface ModernArrayBuffer extends ArrayBuffer {
  readonly detached: boolean;
  readonly resizable: boolean;
  readonly maxByteLength: number;
  resize(byteLength: number): void;
  transfer(): ArrayBuffer;
}

/**
 * `structuredClone` of the HTML standard. Throws a `DataCloneError` for values without readable state: functions, symbols,
 * promises, weak collections, iterators, shared buffers, revoked proxies. Any other proxy can't be distinguished from its target
 * here, and is cloned with what it exposes.
 */
export function structuredClone(value: unknown, options: unknown = undefined): unknown {
  if (arguments.length === 0) throw new TypeError('structuredClone: 1 argument required, but only 0 present');
  const transfer = transferList(options);
  const run: CloneRun = { memory: new Map(), standIns: new Map(), views: [] };
  // Nothing may be detached before the whole value has proved to be cloneable. So transferred buffers get placeholders first, and
  // a second walk over the finished copy, where nothing can fail, inserts the new buffers.
  for (const buffer of transfer) run.standIns.set(buffer, {});
  const copy = cloneValue(value, run);
  if (transfer.length === 0) return copy;
  const owners: CloneRun = { memory: new Map(), standIns: new Map(), views: [] };
  for (const [buffer, standIn] of run.standIns) owners.memory.set(standIn, buffer.transfer());
  for (const { standIn, bufferStandIn, rebuild } of run.views) {
    owners.memory.set(standIn, rebuild(owners.memory.get(bufferStandIn) as ArrayBuffer));
  }
  return cloneValue(copy, { ...owners, isSecondWalk: true });
}

interface CloneRun {
  /** Maps each original to its copy, so that cycles and shared objects are preserved. */
  readonly memory: Map<object, unknown>;
  readonly standIns: Map<ModernArrayBuffer, object>;
  readonly views: { standIn: object; bufferStandIn: object; rebuild: (buffer: ArrayBuffer) => ArrayBufferView }[];
  /** In the second walk the buffers of the copy are its own. */
  readonly isSecondWalk?: true;
}

function cloneValue(value: unknown, run: CloneRun): unknown {
  if (typeof value === 'symbol') throw notCloneable(String(value));
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return value;
  const known = run.memory.get(value);
  if (known !== undefined) return known;
  switch (kindOrThrow(value)) {
    case 'Array':
      return cloneArray(value as unknown[], run);
    case 'Object':
      return cloneProperties(value, remember({}, value, run), run);
    case 'Map':
      return cloneMap(value as Map<unknown, unknown>, run);
    case 'Set':
      return cloneSet(value as Set<unknown>, run);
    case 'Date':
      return remember(new Date((value as Date).getTime()), value, run);
    case 'RegExp':
      return remember(new RegExp((value as RegExp).source, (value as RegExp).flags), value, run);
    case 'Error':
      return cloneError(value as Error, run);
    case 'DOMException':
      return remember(new DOMException((value as Error).message, (value as Error).name), value, run);
    case 'ArrayBuffer':
      return cloneBuffer(value as ModernArrayBuffer, run);
    case 'ArrayBufferView':
      return cloneView(value as ArrayBufferView, run);
    case 'Number':
    case 'String':
    case 'Boolean':
    case 'BigInt':
      return remember(Object((value as { valueOf(): unknown }).valueOf()), value, run);
    case 'Symbol':
    case 'Function':
    case 'Opaque':
    case 'SharedArrayBuffer':
      throw notCloneable(describe(value));
  }
}

function remember<Copy extends object>(copy: Copy, original: object, run: CloneRun): Copy {
  run.memory.set(original, copy);
  return copy;
}

function cloneArray(original: readonly unknown[], run: CloneRun): unknown[] {
  const { length } = original;
  const copy = remember(new Array<unknown>(length), original, run);
  const keys = Object.keys(original);
  // Index keys come first and in order, so this holds only for arrays without holes and without other properties.
  if (keys.length !== length || (length > 0 && keys[length - 1] !== String(length - 1))) {
    return cloneProperties(original, copy, run, keys);
  }
  for (let index = 0; index < length; index++) copy[index] = cloneValue(original[index], run);
  return copy;
}

function cloneProperties<Copy extends object>(
  original: object,
  copy: Copy,
  run: CloneRun,
  keys = Object.keys(original),
): Copy {
  for (const key of keys) {
    // An earlier getter may have deleted it.
    if (!Object.hasOwn(original, key)) continue;
    const value = cloneValue((original as Record<string, unknown>)[key], run);
    if (key !== '__proto__') (copy as Record<string, unknown>)[key] = value;
    else Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
  }
  return copy;
}

function cloneMap(original: Map<unknown, unknown>, run: CloneRun): Map<unknown, unknown> {
  const copy = remember(new Map<unknown, unknown>(), original, run);
  for (const [key, value] of [...Map.prototype.entries.call(original)])
    copy.set(cloneValue(key, run), cloneValue(value, run));
  return copy;
}

function cloneSet(original: Set<unknown>, run: CloneRun): Set<unknown> {
  const copy = remember(new Set<unknown>(), original, run);
  for (const value of [...Set.prototype.values.call(original)]) copy.add(cloneValue(value, run));
  return copy;
}

const CLONEABLE_ERRORS: Record<string, ErrorConstructor | undefined> = {
  __proto__: null as never,
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
};

function cloneError(original: Error, run: CloneRun): Error {
  const name = String(original.name);
  const message = Object.getOwnPropertyDescriptor(original, 'message');
  const copy = remember(new (CLONEABLE_ERRORS[name] ?? Error)(), original, run);
  const hide = (key: string, value: unknown) =>
    Object.defineProperty(copy, key, { value, writable: true, configurable: true });
  if (message !== undefined && 'value' in message) hide('message', String(message.value));
  hide('stack', String(original.stack));
  if (Object.hasOwn(original, 'cause')) hide('cause', cloneValue(original.cause, run));
  return copy;
}

function cloneBuffer(original: ModernArrayBuffer, run: CloneRun): object {
  const standIn = run.standIns.get(original);
  if (standIn !== undefined) return standIn;
  if (run.isSecondWalk) return original;
  if (original.detached) throw new DOMException('structuredClone: an ArrayBuffer is detached', 'DataCloneError');
  if (!original.resizable) return remember(ArrayBuffer.prototype.slice.call(original, 0), original, run);
  const options = { maxByteLength: original.maxByteLength };
  const copy = new (ArrayBuffer as new (length: number, options: object) => ArrayBuffer)(original.byteLength, options);
  new Uint8Array(copy).set(new Uint8Array(original));
  return remember(copy, original, run);
}

const typedArrayName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as () => string | undefined;
const VIEW_CONSTRUCTORS = new Map<
  string,
  new (
    buffer: ArrayBuffer,
    offset: number,
    length: number,
  ) => ArrayBufferView
>();
// biome-ignore format: one kind, two lines.
for (const Constructor of [
  DataView, Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array,
]) {
  VIEW_CONSTRUCTORS.set(Constructor.name, Constructor as never);
}

function cloneView(original: ArrayBufferView, run: CloneRun): object {
  if (run.isSecondWalk) return original;
  const buffer = original.buffer as ModernArrayBuffer;
  const name = typedArrayName.call(original) ?? 'DataView';
  const Constructor = VIEW_CONSTRUCTORS.get(name) ?? (globalThis as unknown as Record<string, never>)[name];
  if (Constructor === undefined) throw notCloneable(name);
  // Throws for a detached or shared buffer, before a view of it is checked.
  const copiedBuffer = cloneValue(buffer, run) as object;
  const { byteOffset } = original;
  const length = (original as Partial<Uint8Array>).length ?? original.byteLength;
  const rebuild = (target: ArrayBuffer) => new Constructor(target, byteOffset, length);
  if (!run.standIns.has(buffer)) return remember(rebuild(copiedBuffer as ArrayBuffer), original, run);
  const standIn = remember({}, original, run);
  run.views.push({ standIn, bufferStandIn: copiedBuffer, rebuild });
  return standIn;
}

/** Web IDL's `{ transfer: sequence<object> }`. Only ArrayBuffers can be transferred here, each once. */
function transferList(options: unknown): ModernArrayBuffer[] {
  if (options === undefined || options === null) return [];
  if (typeof options !== 'object' && typeof options !== 'function') {
    throw new TypeError('structuredClone: options must be an object');
  }
  const { transfer } = options as { transfer?: Iterable<unknown> };
  if (transfer === undefined) return [];
  const buffers = [...transfer] as ModernArrayBuffer[];
  for (const [index, buffer] of buffers.entries()) {
    const isObject = (typeof buffer === 'object' && buffer !== null) || typeof buffer === 'function';
    if (!isObject) throw new TypeError('structuredClone: transfer must list objects');
    if (kindOrThrow(buffer) !== 'ArrayBuffer')
      throw new DOMException('Found invalid object in transferList', 'DataCloneError');
    if (buffer.detached)
      throw new DOMException('An ArrayBuffer is detached and could not be cloned.', 'DataCloneError');
    if (buffers.indexOf(buffer) !== index) {
      throw new DOMException('ArrayBuffer occurs in the transfer list more than once', 'DataCloneError');
    }
  }
  return buffers;
}

function kindOrThrow(value: object): ReturnType<typeof kindOf> {
  try {
    return kindOf(value);
  } catch {
    throw notCloneable('A revoked proxy');
  }
}

function describe(value: object): string {
  if (typeof value === 'function') return `Function ${value.name === '' ? '(anonymous)' : value.name}`;
  return Object.prototype.toString.call(value);
}

function notCloneable(what: string): Error {
  return new DOMException(`${what} could not be cloned.`, 'DataCloneError');
}
