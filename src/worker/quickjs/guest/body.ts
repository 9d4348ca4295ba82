const defineProperty = Object.defineProperty;

/** Runs before any code of a function body. */
export function beginBody(context: unknown): void {
  const descriptor = { __proto__: null, value: context, writable: true, configurable: true, enumerable: false };
  defineProperty(globalThis, 'context', descriptor as PropertyDescriptor);
}
