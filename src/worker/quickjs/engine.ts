import { ProgramDropped } from '../guest.js';

/**
 * QuickJS in WebAssembly, driven through its exports. One `Engine` is one instance with its own linear memory. The whole program
 * is in that memory, so restoring the memory gives a fresh sandbox, and copying it out suspends a program.
 */
export interface QuickJsExports {
  readonly memory: WebAssembly.Memory;
  readonly __stack_pointer: WebAssembly.Global<'i32'>;
  _initialize(): void;
  qjs_init(): number;
  qjs_set_interrupt_handler(on: number): void;
  qjs_set_promise_rejection_handler(on: number): void;
  qjs_set_module_loader(on: number): void;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_run_gc(): void;
  qjs_set_gc_threshold(bytes: number): void;
  qjs_eval(code: number, length: number, fileName: number, flags: number): number;
  qjs_compile(code: number, length: number, fileName: number, flags: number, writeFlags: number, size: number): number;
  qjs_eval_bytecode(code: number, length: number): number;
  qjs_new_string(pointer: number, length: number): number;
  qjs_new_number(value: number): number;
  qjs_new_host_function(name: number, length: number, argumentCount: number): number;
  qjs_get_global(): number;
  qjs_get_undefined(): number;
  qjs_get_true(): number;
  qjs_get_false(): number;
  qjs_get_float64(value: number): number;
  qjs_get_bool(value: number): number;
  qjs_get_string_len(value: number, length: number): number;
  qjs_free_cstring(pointer: number): void;
  qjs_is_exception(value: number): number;
  qjs_is_undefined(value: number): number;
  qjs_dup_value(value: number): number;
  qjs_free_value(value: number): void;
  qjs_get_value_ptr(value: number): number;
  qjs_get_prop_string(object: number, name: number): number;
  qjs_set_prop_string(object: number, name: number, value: number): void;
  qjs_call(target: number, self: number, count: number, list: number): number;
  qjs_promise_state(promise: number): number;
  qjs_promise_result(promise: number): number;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  qjs_get_exception(): number;
  qjs_throw(error: number): void;
  qjs_new_error(): number;
  qjs_get_runtime_ptr(): number;
  qjs_get_context_ptr(): number;
  qjs_set_runtime_and_context(runtime: number, context: number): void;
  JS_ParseJSON(context: number, text: number, length: number, fileName: number): bigint;
  JS_FreeValue(context: number, value: bigint): void;
  JS_ComputeMemoryUsage(runtime: number, output: number): void;
  wasm_malloc(bytes: number): number;
  wasm_free(pointer: number): void;
}

const USED: Readonly<Record<keyof QuickJsExports, true>> = {
  memory: true,
  __stack_pointer: true,
  _initialize: true,
  qjs_init: true,
  qjs_set_interrupt_handler: true,
  qjs_set_promise_rejection_handler: true,
  qjs_set_module_loader: true,
  qjs_set_memory_limit: true,
  qjs_set_max_stack_size: true,
  qjs_run_gc: true,
  qjs_set_gc_threshold: true,
  qjs_eval: true,
  qjs_compile: true,
  qjs_eval_bytecode: true,
  qjs_new_string: true,
  qjs_new_number: true,
  qjs_new_host_function: true,
  qjs_get_global: true,
  qjs_get_undefined: true,
  qjs_get_true: true,
  qjs_get_false: true,
  qjs_get_float64: true,
  qjs_get_bool: true,
  qjs_get_string_len: true,
  qjs_free_cstring: true,
  qjs_is_exception: true,
  qjs_is_undefined: true,
  qjs_dup_value: true,
  qjs_free_value: true,
  qjs_get_value_ptr: true,
  qjs_get_prop_string: true,
  qjs_set_prop_string: true,
  qjs_call: true,
  qjs_promise_state: true,
  qjs_promise_result: true,
  qjs_is_job_pending: true,
  qjs_execute_pending_job: true,
  qjs_get_exception: true,
  qjs_throw: true,
  qjs_new_error: true,
  qjs_get_runtime_ptr: true,
  qjs_get_context_ptr: true,
  qjs_set_runtime_and_context: true,
  JS_ParseJSON: true,
  JS_FreeValue: true,
  JS_ComputeMemoryUsage: true,
  wasm_malloc: true,
  wasm_free: true,
};

/** The other 400 exports are removed from the binary: each would cost an object in every instance. */
export const USED_EXPORTS: readonly string[] = Object.keys(USED);

/** The functions that an instance calls while it runs. One program at a time is attached to an engine. */
export interface EngineHost {
  /** True ends the program: the engine raises an exception that the program cannot catch. */
  shouldInterrupt(): boolean;
  /** A host function was called; returns a handle, or throws to raise an error inside the program. */
  hostCall(name: string, argumentHandles: readonly number[]): number;
  promiseRejected(promise: number, reason: number, isHandled: boolean): void;
  resolveModule(importer: string, specifier: string): string;
  loadModule(specifier: string): string | undefined;
  /** The program's clock. Reads that return a new millisecond are journaled: see clock.ts. */
  nowMs(): number;
  randomByte(): number;
}

const PAGE_BYTES = 65_536;

/** Message of the trap that reports that the program's memory limit is reached. */
export const OUT_OF_MEMORY = 'out of memory';

/** An error that the engine itself cannot survive: its memory is no longer trusted, and the instance must be discarded. */
export class EngineTrap extends Error {}

export class Engine {
  readonly exports: QuickJsExports;
  host: EngineHost | undefined;
  /** The linear memory. The engine detaches all three when it grows: see `#look`. */
  #memory = new Uint8Array();
  #text = Buffer.alloc(0);
  #numbers = new DataView(new ArrayBuffer(0));

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, this.#imports()).exports as unknown as QuickJsExports;
  }

  get memory(): Uint8Array {
    if (this.#memory.length === 0) this.#look();
    return this.#memory;
  }

  get #view(): DataView {
    if (this.#memory.length === 0) this.#look();
    return this.#numbers;
  }

  /** Kept, because one call of a program reads and writes the memory about ten times. */
  #look(): void {
    const { buffer } = this.exports.memory;
    this.#memory = new Uint8Array(buffer);
    this.#text = Buffer.from(buffer);
    this.#numbers = new DataView(buffer);
  }

  #textAt(start: number, end: number): string {
    if (this.#memory.length === 0) this.#look();
    return this.#text.toString('utf8', start, end);
  }

  get pages(): number {
    return this.exports.memory.buffer.byteLength / PAGE_BYTES;
  }

  growTo(pages: number): void {
    const missing = pages - this.pages;
    if (missing > 0) this.exports.memory.grow(missing);
  }

  /** Copies bytes into the instance and adds a zero byte. The caller frees. */
  write(bytes: Uint8Array): number {
    const pointer = this.exports.wasm_malloc(bytes.byteLength + 1);
    if (pointer === 0) throw new EngineTrap(OUT_OF_MEMORY);
    const memory = this.memory;
    memory.set(bytes, pointer);
    memory[pointer + bytes.byteLength] = 0;
    return pointer;
  }

  writeText(text: string): { pointer: number; length: number } {
    const bytes = Buffer.from(text, 'utf8');
    return { pointer: this.write(bytes), length: bytes.byteLength };
  }

  /** A copy of a value's text, as UTF-8. */
  readBytes(value: number): Buffer {
    const { exports } = this;
    const lengthAt = exports.wasm_malloc(4);
    const text = exports.qjs_get_string_len(value, lengthAt);
    const length = this.#view.getUint32(lengthAt, true);
    exports.wasm_free(lengthAt);
    if (text === 0) {
      exports.qjs_free_value(exports.qjs_get_exception());
      return Buffer.alloc(0);
    }
    const copy = Buffer.from(this.memory.subarray(text, text + length));
    exports.qjs_free_cstring(text);
    return copy;
  }

  readText(value: number): string {
    // Every character counts: a name with a leading byte order mark is another name, and keeps it here.
    return this.readBytes(value).toString('utf8');
  }

  newText(text: string): number {
    const { pointer, length } = this.writeText(text);
    const value = this.exports.qjs_new_string(pointer, length);
    this.exports.wasm_free(pointer);
    return value;
  }

  property(object: number, name: string): number {
    const { pointer } = this.writeText(name);
    const value = this.exports.qjs_get_prop_string(object, pointer);
    this.exports.wasm_free(pointer);
    return value;
  }

  setProperty(object: number, name: string, value: number): void {
    const { pointer } = this.writeText(name);
    this.exports.qjs_set_prop_string(object, pointer, value);
    this.exports.wasm_free(pointer);
  }

  /** Returns a handle that may be an exception: ask `isException`. */
  evaluate(code: Uint8Array, fileName: string, asModule: boolean): number {
    const { exports } = this;
    const source = this.write(code);
    const name = this.writeText(fileName).pointer;
    const result = exports.qjs_eval(source, code.byteLength, name, asModule ? 1 : 0);
    exports.wasm_free(source);
    exports.wasm_free(name);
    return result;
  }

  /**
   * Parses JSON text into a value. The bytes become values of the program inside the engine: no object of ours is ever converted
   * into it. Undefined after an exception. `dispose` frees it.
   */
  parseJson(context: number, json: Uint8Array): { readonly handle: number; dispose(): void } | undefined {
    const { exports } = this;
    const text = this.write(json);
    const value = exports.JS_ParseJSON(context, text, json.byteLength, text + json.byteLength);
    exports.wasm_free(text);
    const handle = exports.wasm_malloc(8);
    this.#view.setBigInt64(handle, value, true);
    if (this.isException(handle)) {
      exports.wasm_free(handle);
      return undefined;
    }
    const dispose = () => {
      exports.JS_FreeValue(context, value);
      exports.wasm_free(handle);
    };
    return { handle, dispose };
  }

  call(target: number, list: readonly number[]): number {
    const { exports } = this;
    const at = exports.wasm_malloc(Math.max(4, list.length * 4));
    const view = this.#view;
    list.forEach((value, index) => {
      view.setUint32(at + index * 4, value, true);
    });
    const undefinedHandle = exports.qjs_get_undefined();
    const result = exports.qjs_call(target, undefinedHandle, list.length, at);
    exports.qjs_free_value(undefinedHandle);
    exports.wasm_free(at);
    return result;
  }

  isException(value: number): boolean {
    return this.exports.qjs_is_exception(value) !== 0;
  }

  #imports(): WebAssembly.Imports {
    const view = () => this.#view;
    const cString = (pointer: number) => {
      return this.#textAt(pointer, this.memory.indexOf(0, pointer));
    };
    const host = () => {
      if (this.host === undefined) throw new Error('the engine ran with no program attached');
      return this.host;
    };
    /** Our errors become errors of the program; the engine's own traps pass through. */
    const raise = (error: unknown): 0 => {
      if (
        error instanceof EngineTrap ||
        error instanceof ProgramDropped ||
        error instanceof WebAssembly.RuntimeError ||
        error instanceof RangeError
      )
        throw error;
      const handle = this.exports.qjs_new_error();
      const message = this.newText(error instanceof Error ? error.message : String(error));
      this.setProperty(handle, 'message', message);
      this.exports.qjs_throw(handle);
      return 0;
    };
    return {
      env: {
        host_call: (name: number, nameLength: number, _self: number, count: number, list: number) => {
          try {
            const handles: number[] = [];
            const data = view();
            for (let index = 0; index < count; index++) handles.push(data.getUint32(list + index * 4, true));
            return host().hostCall(this.#textAt(name, name + nameLength), handles);
          } catch (error) {
            return raise(error);
          }
        },
        host_interrupt: () => (host().shouldInterrupt() ? 1 : 0),
        host_promise_rejection: (promise: number, reason: number, isHandled: number) => {
          host().promiseRejected(promise, reason, isHandled !== 0);
        },
        host_module_normalize: (importer: number, specifier: number) => {
          try {
            return this.writeText(host().resolveModule(cString(importer), cString(specifier))).pointer;
          } catch (error) {
            return raise(error);
          }
        },
        host_module_load: (specifier: number, lengthAt: number) => {
          try {
            const source = host().loadModule(cString(specifier));
            if (source === undefined) return 0;
            const { pointer, length } = this.writeText(source);
            view().setUint32(lengthAt, length, true);
            return pointer;
          } catch (error) {
            return raise(error);
          }
        },
        // Programs use UTC: the host's time zone must not leak, and a replay must not depend on it.
        host_get_timezone_offset: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_clock: number, _precision: bigint, output: number) => {
          // Computed in microseconds: nanoseconds since 1970 exceed the exact range of a number, and would be a millisecond early.
          view().setBigUint64(output, BigInt(Math.round((this.host?.nowMs() ?? 0) * 1e3)) * 1_000n, true);
          return 0;
        },
        random_get: (output: number, length: number) => {
          const memory = this.memory;
          for (let index = 0; index < length; index++) memory[output + index] = this.host?.randomByte() ?? 0;
          return 0;
        },
        // There are no descriptors: every file operation returns "bad descriptor".
        fd_write: () => 8,
        fd_close: () => 8,
        fd_fdstat_get: () => 8,
        fd_seek: () => 8,
      },
    };
  }
}
