import type { WorkerRole } from '../../wire/messages.js';
import type { JailLimits } from '../jail/jail.js';

/** How a worker's process is started, besides its files. */
export interface WorkerShape {
  readonly role: WorkerRole;
  /** Flags of Node. */
  readonly flags: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly limits: JailLimits;
}

const MEGABYTE = 1024 ** 2;
/** The engine's own limit (512 KiB of its stack) is reached well before this size of the thread's stack. */
const NODE_STACK_KIB = 7_000;
/** Memory of all programs of one worker; the engine's limit per program applies first. */
const DATA_BYTES = 4 * 1024 ** 3;
/**
 * Stack of the main thread, where the parser recurses: at most 954 bytes for each byte of source (`type X = [[[[`), so no accepted
 * source overflows it. Only used pages are ever resident.
 */
const STACK_BYTES = 384 * MEGABYTE;
const MAX_PROCESSES = 64;

export const QUICKJS_SHAPE: WorkerShape = {
  role: 'quickjs',
  flags: [`--stack-size=${NODE_STACK_KIB}`],
  limits: {
    dataBytes: DATA_BYTES,
    stackBytes: STACK_BYTES,
    cpuSeconds: undefined,
    processes: MAX_PROCESSES,
    fileBytes: 0,
  },
};

/** Node's own heap with our code, and room for V8 to collect garbage when a program is near its limit. */
const OWN_HEAP_BYTES = 32 * MEGABYTE;
/** The same data takes up to 50% more memory in V8 than in QuickJS, whose values are smaller. */
const V8_PER_QUICKJS_BYTES = 1.5;
/** Node itself, the stacks that its ten threads reserve, and V8's young generation and code. */
const OWN_DATA_BYTES = 320 * MEGABYTE;
/** Far beyond the timeout of any run: the host ends runs by the clock, and this limit ends processes that the host has lost. */
const CPU_SECONDS = 3_600;

/**
 * A V8 process for programs with this much memory. Its heap limit is reached before the kernel refuses pages, so that V8 reports
 * why it died. Recursion goes deeper than in QuickJS, for whose stack programs are written.
 */
export function v8Shape(maxMemoryBytes: number): WorkerShape {
  const heapBytes = V8_PER_QUICKJS_BYTES * maxMemoryBytes + OWN_HEAP_BYTES;
  return {
    role: 'v8',
    flags: [
      '--stack-size=3900',
      `--max-old-space-size=${Math.ceil(heapBytes / MEGABYTE)}`,
      '--experimental-vm-modules',
      '--disallow-code-generation-from-strings',
    ],
    // Programs use UTC in QuickJS too.
    environment: { TZ: 'UTC' },
    limits: {
      // Typed arrays are outside the heap.
      dataBytes: Math.ceil(heapBytes + maxMemoryBytes + OWN_DATA_BYTES),
      stackBytes: STACK_BYTES,
      cpuSeconds: CPU_SECONDS,
      processes: MAX_PROCESSES,
      fileBytes: 0,
    },
  };
}
