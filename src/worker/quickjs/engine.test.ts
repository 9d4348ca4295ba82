import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { Engine } from './engine.js';

const binary = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));

test('the program’s clock is the one it was given, to the millisecond', () => {
  let nowMs = 0;
  const engine = new Engine(new WebAssembly.Module(new Uint8Array(binary)));
  engine.host = {
    shouldInterrupt: () => false,
    hostCall: () => 0,
    promiseRejected: () => {},
    resolveModule: (_, specifier) => specifier,
    loadModule: () => undefined,
    nowMs: () => nowMs,
    randomByte: () => 1,
  };
  engine.exports._initialize();
  engine.exports.qjs_init();
  const seen = () => engine.exports.qjs_get_float64(engine.evaluate(Buffer.from('Date.now()'), 'main.ts', false));
  for (let index = 0; index < 1_000; index++) {
    nowMs = 1_794_785_180_000 + index;
    expect(seen()).toBe(nowMs);
  }
});
