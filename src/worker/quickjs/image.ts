import type { EngineHost } from './engine.js';
import { Engine } from './engine.js';

/**
 * A frozen, booted engine: the linear memory in which every global, polyfill and binding already exists, and the addresses of its
 * entry points. Built once at build time; copied over an instance for each execution.
 */
export interface Image {
  /** The nonzero parts. Long runs of zeroes between the segments are filled, not copied, which is twice as fast. */
  readonly segments: readonly Segment[];
  readonly pages: number;
  readonly stackPointer: number;
  readonly runtime: number;
  readonly context: number;
  /** Address of the state of `Math.random`. */
  readonly randomStateAt: number;
  /** Bytes that the boot code itself occupies: a program's memory limit counts from here. */
  readonly usedBytes: number;
  /** Address of the engine's own count of used bytes. */
  readonly usedBytesAt: number;
  /** Index of the function that was patched to trap when memory runs out. It distinguishes these traps from others. */
  readonly outOfMemoryFunction: number;
  /** Handles of the guest's entry points. */
  readonly entry: Readonly<Record<EntryName, number>>;
}

export interface Segment {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

const ENTRY_NAMES = [
  'deliver',
  'fireNext',
  'collectResult',
  'lostInResult',
  'lostInValue',
  'unawaitedCalls',
  'describeThrown',
  'beginScript',
  'beginBody',
  'awaitValue',
  'jsonOfValue',
  'siteOf',
] as const;
export type EntryName = (typeof ENTRY_NAMES)[number];

const HOST_FUNCTIONS = ['call', 'callSync', 'log', 'wake', 'mapStack'] as const;
export type HostFunctionName = (typeof HOST_FUNCTIONS)[number];

/** Only our own modules may import it: see `resolveModule` in `modules.ts`. */
export const BINDINGS_MODULE = 'codemode:bindings';
export const ERRORS_MODULE = '@codemode/errors';
export const TEXT_MODULE = '@codemode/text';

/** Half of the binary's own stack, so that the engine detects deep recursion long before the instance's stack overflows. */
const STACK_BYTES = 512 * 1024;

/**
 * The first garbage collection happens at this size. The engine's default is below the size of the image: every small program
 * would pay for a collection, and every page of its memory would differ from the image when it is suspended.
 */
const FIRST_COLLECTION_BYTES = 4 * 1024 * 1024;

/**
 * Free memory from the start: an instance that grew is discarded, and a new one costs 2.9 ms. Each program pays for it with the
 * time to clear it: a restore takes 0.095 ms with this much, 0.154 ms with 1.5 MiB, 0.071 ms with 256 KiB. A program that reads a
 * tool's result of 100 KB fits into it; one that reads 200 KB fits into 1 MiB.
 */
const SLACK_BYTES = 512 * 1024;

/**
 * How far below the stack pointer an instance is cleared. Further down there are only leftovers of deep recursion, which nothing
 * reads before they are overwritten: a suspended program is resumed without them. Clearing all of it makes a restore a quarter
 * slower.
 */
const CLEARED_STACK_BYTES = 128 * 1024;

/** A compiler flag: nobody needs the source text of our functions. */
const STRIP_SOURCE = 1 << 4;

/** Boots the engine that `trapOnOutOfMemory` has patched, and takes its image. */
export function buildImage(module: WebAssembly.Module, bootScript: string, outOfMemoryFunction: number): Image {
  const code = compileBoot(module, bootScript);
  const engine = started(module);
  const { exports } = engine;
  exports.qjs_set_interrupt_handler(1);
  exports.qjs_set_promise_rejection_handler(1);
  exports.qjs_set_module_loader(1);
  exports.qjs_set_max_stack_size(STACK_BYTES);
  exports.qjs_set_gc_threshold(FIRST_COLLECTION_BYTES);

  const global = exports.qjs_get_global();
  giveHostFunctions(engine, global);
  run(engine, code);
  const entry = engine.property(global, '__entry');
  const handles = Object.fromEntries(ENTRY_NAMES.map((name) => [name, engine.property(entry, name)])) as Record<
    EntryName,
    number
  >;
  loadBuiltInModules(engine, entry);
  evaluate(engine, 'delete globalThis.__entry;', 'codemode:boot', false);

  const usedBytesAt = findUsedBytes(engine);
  exports.qjs_run_gc();
  const randomStateAt = findRandomState(engine);
  const slack = exports.wasm_malloc(SLACK_BYTES);
  engine.memory.fill(0, slack, slack + SLACK_BYTES);
  exports.wasm_free(slack);
  return {
    segments: segmentsOf(engine.memory),
    pages: engine.pages,
    stackPointer: exports.__stack_pointer.value,
    runtime: exports.qjs_get_runtime_ptr(),
    context: exports.qjs_get_context_ptr(),
    randomStateAt,
    usedBytes: usedBytes(engine),
    usedBytesAt,
    outOfMemoryFunction,
    entry: handles,
  };
}

/** The built-in objects of a booted engine, as `v8/guest/intrinsics.ts` lists them: V8 is made to have the same. */
export function intrinsicsOf(module: WebAssembly.Module, bootScript: string, listScript: string): string {
  const engine = started(module);
  const global = engine.exports.qjs_get_global();
  giveHostFunctions(engine, global);
  evaluate(engine, bootScript, 'codemode:boot', false);
  evaluate(engine, 'delete globalThis.__entry;', 'codemode:boot', false);
  evaluate(engine, listScript, 'codemode:boot', false);
  return engine.readText(engine.property(global, '__intrinsics'));
}

function giveHostFunctions(engine: Engine, global: number): void {
  const { exports } = engine;
  for (const name of HOST_FUNCTIONS) {
    const { pointer, length } = engine.writeText(name);
    engine.setProperty(global, `__host_${name}`, exports.qjs_new_host_function(pointer, length, 0));
    exports.wasm_free(pointer);
  }
}

function started(module: WebAssembly.Module): Engine {
  const engine = new Engine(module);
  engine.host = new BootHost();
  engine.exports._initialize();
  if (engine.exports.qjs_init() !== 0) throw new Error('the engine did not start');
  return engine;
}

/**
 * Compiles in a separate instance: the compiler's leftovers double the size of the heap, and all of it would be copied for every
 * execution.
 */
function compileBoot(module: WebAssembly.Module, bootScript: string): Uint8Array {
  const engine = started(module);
  const { exports } = engine;
  const source = engine.writeText(bootScript);
  const name = engine.writeText('codemode:boot');
  const length = exports.wasm_malloc(4);
  const code = exports.qjs_compile(source.pointer, source.length, name.pointer, 0, STRIP_SOURCE, length);
  if (code === 0) throw bootFailure(engine, 'codemode:boot');
  const bytes = new DataView(exports.memory.buffer).getUint32(length, true);
  return engine.memory.slice(code, code + bytes);
}

function run(engine: Engine, code: Uint8Array): void {
  const { exports } = engine;
  const pointer = engine.write(code);
  const result = exports.qjs_eval_bytecode(pointer, code.byteLength);
  exports.wasm_free(pointer);
  if (engine.isException(result)) throw bootFailure(engine, 'codemode:boot');
  exports.qjs_free_value(result);
}

/** Copies the image over an instance that has not grown. */
export function restoreImage(engine: Engine, image: Image): void {
  engine.growTo(image.pages);
  const memory = engine.memory;
  let filled = image.stackPointer - CLEARED_STACK_BYTES;
  for (const { offset, bytes } of image.segments) {
    memory.fill(0, filled, offset);
    memory.set(bytes, offset);
    filled = offset + bytes.length;
  }
  memory.fill(0, filled);
  engine.exports.qjs_set_runtime_and_context(image.runtime, image.context);
  engine.exports.__stack_pointer.value = image.stackPointer;
}

/** The image as a file: a line of JSON, then the segments. */
export function encodeImage({ segments, ...rest }: Image): Buffer {
  const places = segments.map(({ offset, bytes }) => ({ offset, length: bytes.length }));
  return Buffer.concat([
    Buffer.from(`${JSON.stringify({ ...rest, segments: places })}\n`),
    ...segments.map(({ bytes }) => bytes),
  ]);
}

export function decodeImage(file: Buffer): Image {
  const end = file.indexOf(10);
  const { segments: places, ...rest } = JSON.parse(file.toString('utf8', 0, end)) as Omit<Image, 'segments'> & {
    segments: { offset: number; length: number }[];
  };
  let at = end + 1;
  const segments = places.map(({ offset, length }) => {
    const bytes = file.subarray(at, at + length);
    at += length;
    return { offset, bytes };
  });
  return { ...rest, segments };
}

/** Runs of zeroes shorter than this are cheaper to copy. */
const MIN_GAP_BYTES = 65_536;

function segmentsOf(memory: Uint8Array): Segment[] {
  const segments: Segment[] = [];
  let start = -1;
  let lastUsed = -1;
  for (let at = 0; at < memory.length; at++) {
    if (memory[at] === 0) continue;
    if (start >= 0 && at - lastUsed > MIN_GAP_BYTES) {
      segments.push({ offset: start, bytes: memory.slice(start, lastUsed + 1) });
      start = -1;
    }
    if (start < 0) start = at;
    lastUsed = at;
  }
  if (start >= 0) segments.push({ offset: start, bytes: memory.slice(start, lastUsed + 1) });
  return segments;
}

/** Loads the modules that are part of the image. They take their values from a global that is deleted before any program runs. */
function loadBuiltInModules(engine: Engine, entry: number): void {
  for (const [specifier, group] of [
    [BINDINGS_MODULE, 'bindings'],
    [ERRORS_MODULE, 'errors'],
    [TEXT_MODULE, 'text'],
  ] as const) {
    const names = keysOf(engine, engine.property(entry, group));
    const source = names.map((name) => `export const ${name} = globalThis.__entry.${group}.${name};`).join('\n');
    evaluate(engine, source, specifier, true);
  }
}

function keysOf(engine: Engine, object: number): string[] {
  const { exports } = engine;
  const list = engine.evaluate(Buffer.from('(object) => Object.keys(object).join()'), 'codemode:boot', false);
  return engine
    .readText(engine.call(list, [object]))
    .split(',')
    .filter((name) => name !== '' && exports.qjs_is_undefined(object) === 0);
}

function evaluate(engine: Engine, source: string, name: string, asModule: boolean): void {
  const { exports } = engine;
  const result = engine.evaluate(Buffer.from(source), name, asModule);
  while (exports.qjs_is_job_pending() !== 0) if (exports.qjs_execute_pending_job() < 0) throw bootFailure(engine, name);
  if (engine.isException(result)) throw bootFailure(engine, name);
  if (asModule && exports.qjs_promise_state(result) === 2) {
    throw new Error(`${name} failed: ${engine.readText(exports.qjs_promise_result(result))}`);
  }
  exports.qjs_free_value(result);
}

function bootFailure(engine: Engine, name: string): Error {
  const exception = engine.exports.qjs_get_exception();
  return new Error(
    `${name} failed: ${engine.readText(exception)} ${engine.readText(engine.property(exception, 'stack'))}`,
  );
}

/**
 * `Math.random` is xorshift64* with its state in the context. One step is simulated on every candidate word: the word that the
 * engine changed in the same way is the state.
 */
function findRandomState(engine: Engine): number {
  const { exports } = engine;
  const context = exports.qjs_get_context_ptr();
  const words = () => new BigUint64Array(exports.memory.buffer.slice(context, context + 2_048));
  const before = words();
  evaluate(engine, 'Math.random()', 'codemode:boot', false);
  const after = words();
  for (let index = 0; index < before.length; index++) {
    let state = before[index] as bigint;
    if (state === 0n || state === after[index]) continue;
    state ^= state >> 12n;
    state = BigInt.asUintN(64, state ^ (state << 25n));
    state ^= state >> 27n;
    if (state === after[index]) return context + index * 8;
  }
  throw new Error('the state of Math.random was not found');
}

/** `malloc_size` of the engine's own accounting, which is compared with the memory limit. */
function usedBytes(engine: Engine): number {
  const { exports } = engine;
  const output = exports.wasm_malloc(512);
  exports.JS_ComputeMemoryUsage(exports.qjs_get_runtime_ptr(), output);
  const bytes = Number(new DataView(exports.memory.buffer).getBigInt64(output, true));
  exports.wasm_free(output);
  return bytes;
}

/**
 * Finds the address of that figure, so that it can be read without walking all objects: the only word that equals it before and
 * after an allocation.
 */
function findUsedBytes(engine: Engine): number {
  const { exports } = engine;
  const runtime = exports.qjs_get_runtime_ptr();
  const places = () => {
    const used = usedBytes(engine);
    const words = new Uint32Array(exports.memory.buffer.slice(runtime, runtime + 256));
    return [...words.keys()].filter((index) => words[index] === used);
  };
  const before = places();
  evaluate(engine, 'globalThis.__taken = new Array(1000).fill({});', 'codemode:boot', false);
  const [found, ...others] = places().filter((index) => before.includes(index));
  evaluate(engine, 'delete globalThis.__taken;', 'codemode:boot', false);
  if (found === undefined || others.length > 0) throw new Error('the count of the memory in use was not found');
  return runtime + found * 4;
}

/** Booting makes no calls and waits for nothing. */
class BootHost implements EngineHost {
  shouldInterrupt(): boolean {
    return false;
  }
  hostCall(name: string): number {
    throw new Error(`the boot code called ${name}`);
  }
  promiseRejected(): void {}
  resolveModule(_importer: string, specifier: string): string {
    return specifier;
  }
  loadModule(): undefined {
    return undefined;
  }
  nowMs(): number {
    return 0;
  }
  randomByte(): number {
    return 1;
  }
}
