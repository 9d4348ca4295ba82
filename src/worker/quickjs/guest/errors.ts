// biome-ignore-all lint/style/useTemplate: the engine turns template literals into calls of String.prototype.concat, which a program can patch.
import { GENERAL_HINTS } from '../../../domain/general-hints.js';
import { framesOf, titleOf } from './stack.js';

/** The classes of `@codemode/errors`. Every failure of a call is one of these. */

const create = Object.create;
const defineProperty = Object.defineProperty;
const hasOwn = Object.hasOwn;
const keysOf = Object.keys;
const setPrototypeOf = Object.setPrototypeOf;

export class CodemodeError extends Error {
  /** One corrective action. */
  readonly hint: string;

  constructor(message?: string, options?: { hint?: string; cause?: unknown }) {
    super(message, options !== undefined && 'cause' in options ? { cause: options.cause } : undefined);
    this.hint = options?.hint ?? GENERAL_HINTS.error;
  }

  /** Without this, JSON would omit the content of an error in a result, for example from `Promise.allSettled`. */
  toJSON(): Record<string, unknown> {
    const fields = create(null) as Record<string, unknown>;
    fields['name'] = this.name;
    fields['message'] = this.message;
    const keys = keysOf(this);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string;
      fields[key] = (this as unknown as Record<string, unknown>)[key];
    }
    return fields;
  }
}

export class SchemaValidationError extends CodemodeError {}
export class ToolNotFoundError extends CodemodeError {}
export class ServerNotFoundError extends CodemodeError {}
export class ToolCallError extends CodemodeError {}
export class AuthenticationError extends ToolCallError {}
export class SandboxLimitError extends CodemodeError {}

const classes: Record<string, typeof CodemodeError> = Object.assign(Object.create(null), {
  CodemodeError,
  SchemaValidationError,
  ToolNotFoundError,
  ServerNotFoundError,
  ToolCallError,
  AuthenticationError,
  SandboxLimitError,
});

for (const name of keysOf(classes)) {
  const errorClass = classes[name] as typeof CodemodeError;
  // Non-enumerable, as on the built-in errors, so that a logged error does not show it as data.
  defineProperty(errorClass.prototype, 'name', { value: name });
  Object.freeze(errorClass.prototype);
  Object.freeze(errorClass);
}

export interface GuestErrorData {
  readonly errorClass: string;
  readonly message: string;
  readonly hint: string;
  readonly fields?: Record<string, unknown>;
}

/** Creates the error that a failed call throws, with the stack of the call rather than of its answer. */
export function createGuestError(data: GuestErrorData, site?: Error): CodemodeError {
  const ErrorClass = hasOwn(classes, data.errorClass)
    ? (classes[data.errorClass] as typeof CodemodeError)
    : ToolCallError;
  const error = new ErrorClass(data.message, { hint: data.hint });
  if (data.fields !== undefined) {
    // By index, and with descriptors without a prototype: the program may have patched what the short forms rely on.
    const keys = keysOf(data.fields);
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string;
      // `message`, `stack` and `name` are the error's own; a tool's data may not replace them.
      if (key === 'message' || key === 'stack' || key === 'name' || key === 'hint') continue;
      const value = data.fields[key];
      defineProperty(error, key, plain({ value, enumerable: true, writable: true, configurable: true }));
    }
  }
  if (site !== undefined) {
    const stack = titleOf(error) + '\n' + framesOf(site);
    defineProperty(error, 'stack', plain({ value: stack, writable: true, configurable: true }));
  }
  return error;
}

function plain(descriptor: PropertyDescriptor): PropertyDescriptor {
  return setPrototypeOf(descriptor, null) as PropertyDescriptor;
}

/** The nearest of the classes: a program may extend them. */
export function errorClassOf(error: unknown): string | undefined {
  const names = keysOf(classes);
  // A class stands after the one that it extends.
  for (let index = names.length - 1; index >= 0; index--) {
    const name = names[index] as string;
    if (error instanceof (classes[name] as typeof CodemodeError)) return name;
  }
  return undefined;
}
