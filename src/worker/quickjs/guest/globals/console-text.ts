// biome-ignore-all lint/style/useTemplate: a program can patch what template literals call, see primordials.ts.
// One console call as one line of the log: every argument as text, joined by a space. Nothing is ever interpreted as a
// format: '%s' is a percent sign and an s.
import { kindOf } from './object-kinds.js';
import { getOwnPropertyDescriptor, indexOf, objectKeys, slice, toText } from './primordials.js';
import { type Ancestors, append, type TextSink, writeObject } from './stable-json.js';

/** The text for an object that can't be serialized. */
export const UNSERIALIZABLE = '[Unserializable Object]';

/** The limit of nested causes that are written; a cycle ends earlier. */
const MAX_CAUSES = 16;

/** Never throws, whatever the arguments are. The text is never longer than `maxCharacters` plus a note that it was cut. */
export function textOfArguments(values: readonly unknown[], maxCharacters: number): string {
  const sink: TextSink = { text: '', maxCharacters, isFull: false };
  for (let index = 0; index < values.length && !sink.isFull; index++) {
    if (index > 0) append(sink, ' ');
    writeArgument(sink, values[index], undefined);
  }
  return sink.isFull ? sink.text + cutNote(maxCharacters) : sink.text;
}

export function cutNote(maxCharacters: number): string {
  return '… [cut: longer than ' + toText(maxCharacters) + ' characters]';
}

function writeArgument(sink: TextSink, value: unknown, parent: Ancestors | undefined): void {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) {
    append(sink, typeof value === 'string' ? value : toText(value));
    return;
  }
  const before = sink.text;
  try {
    const kind = kindOf(value);
    if (kind === 'Error' || kind === 'DOMException') writeError(sink, value, parent);
    else writeObject(sink, value);
  } catch {
    sink.text = before;
    append(sink, UNSERIALIZABLE);
  }
}

/** `Name: message`, the stack, its own properties, then cause and errors, each in the same way. */
function writeError(sink: TextSink, error: object, parent: Ancestors | undefined): void {
  const depth = parent === undefined ? 0 : parent.depth + 1;
  if (depth > MAX_CAUSES) return append(sink, '[more causes]');
  for (let ancestor = parent; ancestor !== undefined; ancestor = ancestor.parent) {
    if (ancestor.value === error) return append(sink, '[Circular]');
  }
  const ancestors: Ancestors = { value: error, parent, depth };
  append(sink, headAndStack(error));
  const extras = extraProperties(error);
  if (extras !== undefined) {
    append(sink, '\n');
    writeArgument(sink, extras, ancestors);
  }
  if (getOwnPropertyDescriptor(error, 'cause') !== undefined) {
    append(sink, '\n[cause]: ');
    writeArgument(sink, read(error, 'cause'), ancestors);
  }
  const errors = getOwnPropertyDescriptor(error, 'errors') === undefined ? undefined : read(error, 'errors');
  const count = typeof errors === 'object' && errors !== null ? read(errors, 'length') : 0;
  for (let index = 0; typeof count === 'number' && index < count && !sink.isFull; index++) {
    append(sink, '\n[errors][' + toText(index) + ']: ');
    writeArgument(sink, read(errors as object, index), ancestors);
  }
}

function headAndStack(error: object): string {
  const name = textOr(read(error, 'name'), 'Error');
  const message = textOr(read(error, 'message'), '');
  const head = message === '' ? name : name + ': ' + message;
  let stack = textOr(read(error, 'stack'), '');
  while (stack.length > 0 && slice(stack, -1) === '\n') stack = slice(stack, 0, -1);
  if (stack === '') return head;
  // This engine's stacks contain only frames, but a program may have created one in the other style.
  return indexOf(stack, head) === 0 ? stack : head + '\n' + stack;
}

/** Properties that a program, or our own error classes, added to the error: code, hint, path and the like. */
function extraProperties(error: object): object | undefined {
  const extras = { __proto__: null } as unknown as Record<string, unknown>;
  const keys = objectKeys(error);
  let isEmpty = true;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (key === 'name' || key === 'message' || key === 'stack' || key === 'cause' || key === 'errors') continue;
    extras[key] = (error as Record<string, unknown>)[key];
    isEmpty = false;
  }
  return isEmpty ? undefined : extras;
}

/** An error with a getter that throws is still worth printing. */
function read(value: object, key: PropertyKey): unknown {
  try {
    return (value as Record<PropertyKey, unknown>)[key];
  } catch {
    return undefined;
  }
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string'
    ? value
    : value === undefined || value === null
      ? otherwise
      : primitiveText(value, otherwise);
}

function primitiveText(value: unknown, otherwise: string): string {
  return typeof value === 'object' || typeof value === 'function' ? otherwise : toText(value);
}
