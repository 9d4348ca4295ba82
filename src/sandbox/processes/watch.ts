import type { Failure } from '../../domain/run.js';
import { tooManyFiles, tooMuchComputing, tooMuchMemory } from './process-failures.js';
import { filesOf, OWN_MEMORY_BYTES } from './process-spec.js';
import type { ProgramProcess } from './program-process.js';
import { firstInside, readUsage, workspaceFiles } from './usage.js';

/** Between two checks a program can exceed its limit by some hundred megabytes, and for no longer than this. */
const INTERVAL_MS = 50;

/** CPU time that an interpreter uses before it gets its program, with room for a slow machine. */
const OWN_CPU_MS = 500;

/**
 * Checks a program's usage from outside, if the kernel has no suitable limit: RLIMIT_DATA and RLIMIT_CPU apply per process, and a
 * program may have many; the size of a tmpfs does not count its files.
 */
export class Watch {
  readonly #process: ProgramProcess;
  readonly #maxCpuMs: number;
  readonly #onExceeded: (failure: Failure) => void;
  #timer: NodeJS.Timeout | undefined;
  #hasLooked = false;
  #cpuMs = 0;
  #peakMemoryBytes = 0;

  constructor(watched: ProgramProcess, maxCpuMs: number, onExceeded: (failure: Failure) => void) {
    this.#process = watched;
    this.#maxCpuMs = maxCpuMs;
    this.#onExceeded = onExceeded;
  }

  /** Undefined if the program ended before the first check. */
  get cpuMs(): number | undefined {
    return this.#hasLooked ? this.#cpuMs : undefined;
  }

  get peakMemoryBytes(): number | undefined {
    return this.#hasLooked ? this.#peakMemoryBytes : undefined;
  }

  /** The first check comes after one interval: most programs have ended before it and cost nothing. */
  start(): void {
    this.#timer = setInterval(() => {
      this.#hasLooked = true;
      this.look();
      this.#judge();
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Checks once more before the end, for a program that lived long enough to be checked. */
  look(): void {
    const { pid } = this.#process;
    if (!this.#hasLooked || pid === undefined) return;
    const { memoryBytes, cpuMs } = readUsage(pid, this.#mostBytes);
    this.#cpuMs = Math.max(this.#cpuMs, cpuMs);
    this.#peakMemoryBytes = Math.max(this.#peakMemoryBytes, memoryBytes);
  }

  get #mostBytes(): number {
    const { maxMemoryBytes, language } = this.#process.shape;
    return maxMemoryBytes + OWN_MEMORY_BYTES[language];
  }

  #judge(): void {
    const { shape, pid } = this.#process;
    if (this.#peakMemoryBytes > this.#mostBytes) return this.#onExceeded(tooMuchMemory(shape.maxMemoryBytes));
    if (this.#cpuMs > this.#maxCpuMs + OWN_CPU_MS) return this.#onExceeded(tooMuchComputing(this.#maxCpuMs));
    const inside = pid === undefined ? undefined : firstInside(pid);
    const files = inside === undefined ? undefined : workspaceFiles(inside);
    const most = filesOf(shape);
    if (files !== undefined && files > most) this.#onExceeded(tooManyFiles(most));
  }
}
