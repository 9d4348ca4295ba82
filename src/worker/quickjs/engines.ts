import { Engine } from './engine.js';
import type { Image } from './image.js';
import { restoreImage } from './image.js';
import { withMemoryMaximum } from './wasm.js';

const PAGE_BYTES = 65_536;
const MEBIBYTE = 1024 * 1024;
/** In addition to a program's limit: the image, and copies of data in transit. */
const HEADROOM_BYTES = 48 * MEBIBYTE;
/** Idle instances that are kept. Each takes about 3 MB. */
const MAX_IDLE = 4;

interface MemoryClass {
  readonly module: WebAssembly.Module;
  /** In the state in which their last programs left them. */
  readonly idle: Engine[];
  /** Already holds the image: copying it takes longer than a small program runs. */
  ready: Engine | undefined;
}

/**
 * Instances by their maximum memory. An instance is reused if its memory did not grow (a larger one costs more at every later
 * restore) and nothing trapped in it.
 */
export class Engines {
  readonly #binary: Uint8Array;
  readonly #image: Image;
  readonly #classes = new Map<number, MemoryClass>();

  constructor(binary: Uint8Array, image: Image) {
    this.#binary = binary;
    this.#image = image;
  }

  /** An instance that holds the image and nothing else. */
  take(maxMemoryBytes: number): Engine {
    const found = this.#class(maxMemoryBytes);
    const { ready } = found;
    found.ready = undefined;
    return ready ?? this.#restored(found);
  }

  giveBack(engine: Engine, maxMemoryBytes: number, isTrapped: boolean): void {
    engine.host = undefined;
    const { idle } = this.#class(maxMemoryBytes);
    if (!isTrapped && engine.pages === this.#image.pages && idle.length < MAX_IDLE) idle.push(engine);
  }

  /** Prepares the next instance before it is needed. */
  prepare(maxMemoryBytes: number): void {
    const found = this.#class(maxMemoryBytes);
    found.ready ??= this.#restored(found);
  }

  #restored({ module, idle }: MemoryClass): Engine {
    const engine = idle.pop() ?? new Engine(module);
    restoreImage(engine, this.#image);
    return engine;
  }

  #class(maxMemoryBytes: number): MemoryClass {
    // Powers of two: a few modules serve every limit, and a program cannot make us compile one per byte.
    const bytes = 2 ** Math.ceil(Math.log2(maxMemoryBytes + HEADROOM_BYTES));
    let found = this.#classes.get(bytes);
    if (found === undefined) {
      found = {
        module: new WebAssembly.Module(new Uint8Array(withMemoryMaximum(this.#binary, bytes / PAGE_BYTES))),
        idle: [],
        ready: undefined,
      };
      this.#classes.set(bytes, found);
    }
    return found;
  }
}
