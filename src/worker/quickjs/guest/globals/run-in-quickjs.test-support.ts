// For tests only: the guest's globals in the real engine, as in the image.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import { build } from 'esbuild';
import { QuickJS } from 'quickjs-wasi';

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('.', import.meta.url));
const MEMORY_LIMIT_BYTES = 128 * 1024 * 1024;

/** One engine with some globals in it. It must be closed. */
export interface Guest {
  /** Evaluates an expression and returns its value through JSON (undefined stays undefined). Throws the expression's errors. */
  evaluate(expression: string): unknown;
  /** Calls a function expression with one argument. Argument and result pass through JSON. */
  call(functionExpression: string, argument: unknown): unknown;
  /** Bytes that the engine has allocated, after a collection. */
  heapBytes(): number;
  close(): void;
}

/**
 * Starts an engine and installs `install` in it: a module's source, relative to this folder, that may import the globals. The
 * stack limit is that of the product.
 */
export async function startGuest(install: string): Promise<Guest> {
  const script = await bundleForGuest(install);
  const wasm = readFileSync(require.resolve('quickjs-wasi/quickjs.wasm'));
  const engine = await QuickJS.create({
    wasm,
    maxStackSize: 512 * 1024,
    memoryLimit: MEMORY_LIMIT_BYTES,
    timezoneOffset: 0,
  });
  engine.evalCode(script, 'globals.js').dispose();
  const evaluateToText = (code: string): unknown => {
    const handle = engine.evalCode(`JSON.stringify(${code})`, 'test.js');
    const text: unknown = engine.dump(handle);
    handle.dispose();
    return text === undefined ? undefined : JSON.parse(text as string);
  };
  return {
    evaluate: (expression) => evaluateToText(`(${expression})`),
    call: (functionExpression, argument) => evaluateToText(`(${functionExpression})(${JSON.stringify(argument)})`),
    heapBytes() {
      engine.runGC();
      return engine.getMemoryUsage().mallocSize;
    },
    close: () => engine.dispose(),
  };
}

/** Bundles guest code as the build does: one script without imports, minified like the image's. */
export async function bundleForGuest(source: string): Promise<string> {
  const result = await build({
    stdin: { contents: source, resolveDir: folder, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2023',
    minify: true,
    keepNames: false,
    charset: 'utf8',
  });
  return result.outputFiles[0]?.text ?? '';
}

/** Evaluates the same source in Node, for comparison. */
export function evaluateInNode(source: string): unknown {
  return runInThisContext(source);
}

/** Numbers in [0, 1) from a seed, so that a failing case can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
