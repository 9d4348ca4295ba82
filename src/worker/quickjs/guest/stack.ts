// biome-ignore-all lint/style/useTemplate: the engine turns template literals into calls of String.prototype.concat, which a program can patch.
import { host } from './host.js';

/**
 * `stack` with the agent's own lines and columns. In this engine it is an accessor of `Error.prototype`, so positions are mapped
 * when they are read and cost nothing otherwise. As in other engines, it begins with the error's name and message: programs print
 * `error.stack` alone and expect to see them.
 */
const apply = Reflect.apply;
const defineProperty = Object.defineProperty;
const native = Object.getOwnPropertyDescriptor(Error.prototype, 'stack') as PropertyDescriptor;
const nativeGet = native.get as (this: unknown) => unknown;
const nativeSet = native.set as (this: unknown, value: unknown) => void;
const nativeCapture = (Error as unknown as { captureStackTrace: (target: object, above?: unknown) => void })
  .captureStackTrace;

/** The frames of an error, with positions in the executed code. */
export function rawStackOf(error: unknown): string {
  const raw = apply(nativeGet, error, []);
  return typeof raw === 'string' ? raw : '';
}

/** The frames of an error, mapped, without its name and message. */
export function framesOf(error: unknown): string {
  return host.mapStack(rawStackOf(error));
}

export function titleOf(error: { readonly name?: unknown; readonly message?: unknown }): string {
  const name = typeof error.name === 'string' ? error.name : 'Error';
  const message = typeof error.message === 'string' ? error.message : '';
  return message === '' ? name : name + ': ' + message;
}

export function installStack(): void {
  defineProperty(Error.prototype, 'stack', {
    get(this: Error) {
      const raw = apply(nativeGet, this, []);
      if (typeof raw !== 'string') return raw;
      return titleOf(this) + '\n' + host.mapStack(raw);
    },
    set(this: Error, value: unknown) {
      apply(nativeSet, this, [value]);
    },
    enumerable: false,
    configurable: false,
  });
  defineProperty(Error, 'captureStackTrace', {
    value: function captureStackTrace(target: object, above?: unknown) {
      nativeCapture(target, above);
      const raw = Object.getOwnPropertyDescriptor(target, 'stack')?.value;
      if (typeof raw !== 'string') return;
      defineProperty(target, 'stack', {
        value: titleOf(target) + '\n' + host.mapStack(raw),
        writable: true,
        configurable: true,
      });
    },
    writable: true,
    configurable: true,
  });
  // The engine would pass call sites to it. A program does not need them, and an untrusted hook would be one more way out.
  delete (Error as unknown as { prepareStackTrace?: unknown }).prepareStackTrace;
}
