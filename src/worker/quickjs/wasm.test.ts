import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { Engine, USED_EXPORTS } from './engine.js';
import { failureOfTrap } from './failures.js';
import { trapOnOutOfMemory, withExports, withMemoryMaximum } from './wasm.js';

const original = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
const { binary, functionIndex } = trapOnOutOfMemory(original);
const compile = (bytes: Uint8Array) => new WebAssembly.Module(new Uint8Array(bytes));

const HOST = {
  shouldInterrupt: () => false,
  hostCall: () => 0,
  promiseRejected: () => {},
  resolveModule: (_: string, specifier: string) => specifier,
  loadModule: () => undefined,
  nowMs: () => 0,
  randomByte: () => 1,
};

/** An engine that was booted as the image's is, with a limit on what its program may use. */
function boot(bytes: Uint8Array, memoryLimitBytes: number): Engine {
  const engine = new Engine(compile(bytes));
  engine.host = HOST;
  engine.exports._initialize();
  engine.exports.qjs_init();
  engine.exports.qjs_set_memory_limit(memoryLimitBytes);
  return engine;
}

/** A program that takes all the memory there is, and would go on if it could. */
const GREEDY = Buffer.from('try { const a = []; for (;;) a.push(new Array(1e4).fill(0)); } catch { "survived" }');

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('running out of memory', () => {
  test('is survivable in the engine as it comes', () => {
    const engine = boot(original, 16 * 1024 * 1024);
    expect(engine.readText(engine.evaluate(GREEDY, 'main.ts', false))).toBe('survived');
  });

  test('is a trap in the patched one, and known as what it is by the index of the function', () => {
    const engine = boot(binary, 16 * 1024 * 1024);
    const trap = thrownBy(() => engine.evaluate(GREEDY, 'main.ts', false));
    expect(trap).toBeInstanceOf(WebAssembly.RuntimeError);
    const limits = { maxMemoryBytes: 16, outOfMemoryFunction: functionIndex };
    expect(failureOfTrap(trap, limits)).toMatchObject({
      kind: 'limit',
      limit: 'memory',
      message: 'the program used more than its 16 bytes of memory',
    });
    expect(failureOfTrap(trap, { ...limits, outOfMemoryFunction: functionIndex + 1 }).message).toBe(
      'the program crashed its engine',
    );
  });
});

test('the patch replaces one body and moves nothing', () => {
  expect(functionIndex).toBe(30);
  expect(binary).toHaveLength(original.length);
  const changed = [...original.keys()].filter((at) => binary[at] !== original[at]);
  expect((changed.at(-1) as number) - (changed[0] as number)).toBeLessThan(200);
  const [module, before] = [compile(binary), compile(original)];
  expect(WebAssembly.Module.exports(module)).toEqual(WebAssembly.Module.exports(before));
  expect(WebAssembly.Module.imports(module)).toEqual(WebAssembly.Module.imports(before));
});

test('the patch leaves the binary it was given alone', () => {
  const copy = Buffer.from(original);
  trapOnOutOfMemory(copy);
  expect(copy.equals(original)).toBe(true);
});

describe('a maximum of memory', () => {
  const PAGE_BYTES = 65_536;

  test.each([64, 128, 300, 16_384])('of %i pages is reached and never passed', (pages) => {
    const engine = new Engine(compile(withMemoryMaximum(binary, pages)));
    engine.growTo(pages);
    expect(engine.exports.memory.buffer.byteLength).toBe(pages * PAGE_BYTES);
    expect(() => engine.exports.memory.grow(1)).toThrow(RangeError);
  });

  test('below what the engine starts with is what it starts with', () => {
    const engine = new Engine(compile(withMemoryMaximum(binary, 1)));
    expect(() => engine.exports.memory.grow(1)).toThrow(RangeError);
  });

  test('changes nothing else: the engine computes', () => {
    const engine = boot(withMemoryMaximum(binary, 256), 8 * 1024 * 1024);
    expect(engine.readText(engine.evaluate(Buffer.from('6 * 7'), 'main.ts', false))).toBe('42');
  });
});

describe('an engine without the exports that nobody uses', () => {
  const bytes = withExports(binary, USED_EXPORTS);

  test('exports what is used, computes, and traps where it traps', () => {
    expect(WebAssembly.Module.exports(compile(bytes)).map(({ name }) => name)).toEqual(
      expect.arrayContaining([...USED_EXPORTS]),
    );
    expect(WebAssembly.Module.exports(compile(bytes))).toHaveLength(USED_EXPORTS.length);
    const engine = boot(withMemoryMaximum(bytes, 1_024), 8 * 1024 * 1024);
    expect(engine.readText(engine.evaluate(Buffer.from('6 * 7'), 'main.ts', false))).toBe('42');
    const trap = thrownBy(() => engine.evaluate(GREEDY, 'main.ts', false));
    const limits = { maxMemoryBytes: 8 * 1024 * 1024, outOfMemoryFunction: functionIndex };
    expect(failureOfTrap(trap, limits)).toMatchObject({ limit: 'memory' });
  });

  test('is not made of one that lacks some of them', () => {
    expect(() => withExports(binary, [...USED_EXPORTS, 'nothing'])).toThrow('does not export all');
  });
});

test("another engine's binary is refused, not patched", () => {
  const empty = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  expect(() => trapOnOutOfMemory(empty)).toThrow('has no section');
  expect(() => withMemoryMaximum(empty, 100)).toThrow('has no section');
  expect(() => trapOnOutOfMemory(original.subarray(0, 2_000))).toThrow(/no section|ends in the middle/);
  // A binary whose export has another name.
  const renamed = Buffer.from(original);
  renamed.write('JS_ThrowOutOfMemorx', renamed.indexOf('JS_ThrowOutOfMemory'));
  expect(() => trapOnOutOfMemory(renamed)).toThrow('exports no JS_ThrowOutOfMemory');
});
