import type { VirtualModule } from '../../domain/run.js';
import { digestOf } from './journal.js';

/**
 * The names under which workers know a program's modules. A caller's programs share one list of modules, so its digest is computed
 * once per list: with 200 tools it would take 60 µs of every run.
 */
export class LibraryDigests {
  readonly #known = new WeakMap<readonly VirtualModule[], string>();

  of(modules: readonly VirtualModule[]): string {
    let digest = this.#known.get(modules);
    if (digest === undefined) {
      digest = digestOf(JSON.stringify(modules));
      this.#known.set(modules, digest);
    }
    return digest;
  }
}
