/**
 * The part of WebAssembly that we use. TypeScript declares it only with the DOM, and Node's types omit it; the whole DOM would let
 * a worker use names that do not exist here.
 */
declare namespace WebAssembly {
  interface ValueTypes {
    i32: number;
    i64: bigint;
    f32: number;
    f64: number;
  }

  type ImportValue = ((...args: never[]) => unknown) | Global | Memory | number;
  type Imports = Record<string, Record<string, ImportValue>>;
  type ExportValue = ((...args: never[]) => unknown) | Global | Memory;

  class Module {
    constructor(bytes: ArrayBuffer | ArrayBufferView<ArrayBufferLike>);
    static customSections(module: Module, name: string): ArrayBuffer[];
    static exports(module: Module): { name: string; kind: string }[];
    static imports(module: Module): { module: string; name: string; kind: string }[];
  }

  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Record<string, ExportValue>;
  }

  class Memory {
    constructor(descriptor: { initial: number; maximum?: number; shared?: boolean });
    readonly buffer: ArrayBuffer;
    /** Grows by this many pages of 64 KiB, and returns the previous number. Every view of the old buffer is detached. */
    grow(pages: number): number;
  }

  class Global<T extends keyof ValueTypes = keyof ValueTypes> {
    constructor(descriptor: { value: T; mutable?: boolean }, value?: ValueTypes[T]);
    value: ValueTypes[T];
  }

  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}
}
