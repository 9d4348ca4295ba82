/**
 * Removes what a program must not have. All ways to run code from strings are closed: `eval`, and the constructors of the four
 * kinds of function.
 */
const defineProperty = Object.defineProperty;

export function forbidCodeFromStrings(): void {
  const refuse = function Function(): never {
    throw new TypeError('code cannot be made from strings here; write the function out in the program');
  };
  // The bundler drops the function's name above.
  defineProperty(refuse, 'name', { value: 'Function', configurable: true });
  defineProperty(refuse, 'prototype', { value: Function.prototype, writable: false, configurable: false });
  const kinds = [() => {}, async () => {}, function* () {}, async function* () {}];
  for (const kind of kinds) {
    defineProperty(Object.getPrototypeOf(kind), 'constructor', { value: refuse, writable: false, configurable: false });
  }
  defineProperty(globalThis, 'Function', { value: refuse, writable: true, configurable: true });
  delete (globalThis as { eval?: unknown }).eval;
}

/** Engine features outside the contract that a replay could not repeat, or that no program should find. */
const REMOVED = ['performance', 'SharedArrayBuffer', 'InternalError'] as const;

export function removeExtras(): void {
  for (const name of REMOVED) delete (globalThis as Record<string, unknown>)[name];
}
