// biome-ignore-all lint/style/useTemplate: a program can patch what template literals call, see primordials.ts.
// Values as text for the log: JSON with sorted keys, so that the same data always gives the same text. It differs from
// JSON.stringify only where that would lose something:
//   BigInt           its digits, in a string         Map    an array of [key, value], as in [...map]
//   function         "[Function name]"               Set    an array of its values, as in [...set]
//   symbol           "Symbol(name)"                  typed array  an array of its numbers
//   error            {"message", "name", "stack", its cause and errors, and properties of its own}
//   RegExp           its source                      buffers, promises, weak collections  "[object Promise]" and the like
// It throws for what can't be told: cycles, depth, a getter or toJSON that throws, a revoked proxy.
import { kindOf, type ObjectKind } from './object-kinds.js';
import {
  apply,
  bigIntValue,
  booleanValue,
  bufferBytes,
  charCodeAt,
  dataViewBytes,
  getOwnPropertyDescriptor,
  isFiniteNumber,
  mapEntries,
  mapNext,
  numberValue,
  objectKeys,
  objectToString,
  quote,
  regExpToString,
  setNext,
  setValues,
  sharedBufferBytes,
  slice,
  sortInPlace,
  stringValue,
  symbolValue,
  toText,
  typedArrayLength,
  typedArrayName,
} from './primordials.js';

/** A bounded text buffer. Text beyond its limit is dropped, and loops that write to it stop. */
export interface TextSink {
  text: string;
  readonly maxCharacters: number;
  isFull: boolean;
}

/** The objects that are being written, innermost first. */
export interface Ancestors {
  readonly value: object;
  readonly parent: Ancestors | undefined;
  readonly depth: number;
}

/** Deeper structures are not data, and recursion here must stay far from the end of the engine's stack. */
const MAX_DEPTH = 100;

export function append(sink: TextSink, piece: string): void {
  if (sink.isFull) return;
  const room = sink.maxCharacters - sink.text.length;
  if (piece.length <= room) sink.text += piece;
  else {
    sink.isFull = true;
    // Half of a surrogate pair would not survive the transfer out of the sandbox.
    const isPairCut = room > 0 && (charCodeAt(piece, room - 1) & 0xfc00) === 0xd800;
    sink.text += slice(piece, 0, isPairCut ? room - 1 : room);
  }
}

/** Writes an object as a whole argument. A value that is not JSON data (a function, a RegExp, a promise) is written without quotes. */
export function writeObject(sink: TextSink, value: object): void {
  const foreign = foreignText(value);
  if (foreign !== undefined) append(sink, foreign);
  else if (!writeValue(sink, '', value, undefined)) append(sink, 'undefined');
}

/** Returns false, and writes nothing, for a value that JSON omits. */
function writeValue(sink: TextSink, key: string, value: unknown, parent: Ancestors | undefined): boolean {
  switch (typeof value) {
    case 'undefined':
      return false;
    case 'string':
      writeQuoted(sink, value);
      return true;
    case 'number':
      append(sink, isFiniteNumber(value) ? toText(value) : 'null');
      return true;
    case 'boolean':
      append(sink, value ? 'true' : 'false');
      return true;
    case 'bigint':
    case 'symbol':
      writeQuoted(sink, toText(value));
      return true;
    case 'function':
      writeQuoted(sink, foreignText(value) as string);
      return true;
    case 'object':
      if (value !== null) return writeNested(sink, key, value, parent);
      append(sink, 'null');
      return true;
  }
}

function writeNested(sink: TextSink, key: string, value: object, parent: Ancestors | undefined): boolean {
  const kind = kindOf(value);
  if (kind === 'Error' || kind === 'DOMException') {
    writeRecord(sink, errorRecord(value), enter(value, parent));
    return true;
  }
  const toJson: unknown = (value as { toJSON?: unknown }).toJSON;
  if (typeof toJson !== 'function') {
    writeOfKind(sink, value, kind, enter(value, parent));
    return true;
  }
  const replaced: unknown = apply(toJson, value, [key]);
  if (typeof replaced !== 'object' || replaced === null) return writeValue(sink, key, replaced, parent);
  const outer = enter(value, parent);
  // toJSON may return the object itself.
  writeOfKind(sink, replaced, kindOf(replaced), replaced === value ? outer : enter(replaced, outer));
  return true;
}

function writeOfKind(sink: TextSink, value: object, kind: ObjectKind, ancestors: Ancestors): void {
  switch (kind) {
    case 'Array':
      return writeList(sink, ancestors, (value as unknown[]).length, (index) => (value as unknown[])[index]);
    case 'ArrayBufferView':
      if (typedArrayName(value as ArrayBufferView) === undefined) break;
      return writeList(
        sink,
        ancestors,
        typedArrayLength(value as ArrayBufferView),
        (index) => (value as number[])[index],
      );
    case 'Map':
      return writeIterated(sink, ancestors, mapEntries(value as Map<unknown, unknown>), mapNext);
    case 'Set':
      return writeIterated(sink, ancestors, setValues(value as Set<unknown>), setNext);
    case 'Error':
    case 'DOMException':
      return writeRecord(sink, errorRecord(value), ancestors);
    case 'Number':
      return void writeValue(sink, '', numberValue(value), ancestors);
    case 'String':
      return void writeValue(sink, '', stringValue(value), ancestors);
    case 'Boolean':
      return void writeValue(sink, '', booleanValue(value), ancestors);
    case 'BigInt':
      return void writeValue(sink, '', bigIntValue(value), ancestors);
    case 'Symbol':
      return void writeValue(sink, '', symbolValue(value), ancestors);
    case 'Object':
    case 'Date':
      return writeRecord(sink, value, ancestors);
    default:
  }
  writeQuoted(sink, foreignText(value) as string);
}

function writeRecord(sink: TextSink, record: object, ancestors: Ancestors): void {
  const keys = sortInPlace(objectKeys(record));
  append(sink, '{');
  let isFirst = true;
  for (let index = 0; index < keys.length && !sink.isFull; index++) {
    const key = keys[index] as string;
    const value = (record as Record<string, unknown>)[key];
    // Written before the value, and removed again if there is no value.
    const before = sink.text;
    append(sink, (isFirst ? '' : ',') + quote(key) + ':');
    if (writeValue(sink, key, value, ancestors)) isFirst = false;
    else if (!sink.isFull) sink.text = before;
  }
  append(sink, '}');
}

function writeList(sink: TextSink, ancestors: Ancestors, length: number, at: (index: number) => unknown): void {
  append(sink, '[');
  for (let index = 0; index < length && !sink.isFull; index++) {
    if (index > 0) append(sink, ',');
    if (!writeValue(sink, toText(index), at(index), ancestors)) append(sink, 'null');
  }
  append(sink, ']');
}

function writeIterated<Item>(
  sink: TextSink,
  ancestors: Ancestors,
  iterator: Iterator<unknown>,
  next: (iterator: Iterator<unknown>) => IteratorResult<Item, undefined>,
): void {
  append(sink, '[');
  for (let index = 0; !sink.isFull; index++) {
    const step = next(iterator);
    if (step.done) break;
    if (index > 0) append(sink, ',');
    if (!writeValue(sink, toText(index), step.value, ancestors)) append(sink, 'null');
  }
  append(sink, ']');
}

function writeQuoted(sink: TextSink, text: string): void {
  // Quoting only makes it longer: a text that does not fit now would not fit quoted.
  const room = sink.maxCharacters - sink.text.length;
  append(sink, quote(text.length > room ? slice(text, 0, room + 1) : text));
}

/** Name, message, stack, cause and errors are rarely enumerable, and must never be lost. */
function errorRecord(error: object): Record<string, unknown> {
  const record = { __proto__: null } as unknown as Record<string, unknown>;
  const keys = objectKeys(error);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    record[key] = (error as Record<string, unknown>)[key];
  }
  const source = error as Record<string, unknown>;
  record['name'] = source['name'];
  record['message'] = source['message'];
  record['stack'] = source['stack'];
  if (getOwnPropertyDescriptor(error, 'cause') !== undefined) record['cause'] = source['cause'];
  if (getOwnPropertyDescriptor(error, 'errors') !== undefined) record['errors'] = source['errors'];
  return record;
}

/** The text for an object without a JSON form; undefined for an object with one. */
function foreignText(value: object): string | undefined {
  switch (kindOf(value)) {
    case 'Function': {
      const name = getOwnPropertyDescriptor(value, 'name')?.value as unknown;
      return '[Function ' + (typeof name === 'string' && name !== '' ? name : '(anonymous)') + ']';
    }
    case 'RegExp':
      return regExpToString(value as RegExp);
    case 'ArrayBuffer':
      return '[ArrayBuffer ' + toText(bufferBytes(value)) + ' bytes]';
    case 'SharedArrayBuffer':
      return '[SharedArrayBuffer ' + toText(sharedBufferBytes(value)) + ' bytes]';
    case 'ArrayBufferView':
      return typedArrayName(value as ArrayBufferView) === undefined
        ? '[DataView ' + toText(dataViewBytes(value as ArrayBufferView)) + ' bytes]'
        : undefined;
    case 'Opaque':
      return objectToString(value);
    default:
      return undefined;
  }
}

function enter(value: object, parent: Ancestors | undefined): Ancestors {
  const depth = parent === undefined ? 0 : parent.depth + 1;
  if (depth > MAX_DEPTH) throw new TypeError('too deep to be written');
  for (let ancestor = parent; ancestor !== undefined; ancestor = ancestor.parent) {
    if (ancestor.value === value) throw new TypeError('circular structure');
  }
  return { value, parent, depth };
}
