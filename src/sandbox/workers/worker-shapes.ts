import type { WorkerRole } from '../../wire/messages.js';
import type { JailLimits } from '../jail/jail.js';

/** What a worker's process is started with, besides its files. */
export interface WorkerShape {
  readonly role: WorkerRole;
  /** Of Node. */
  readonly flags: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly limits: JailLimits;
}

const MEGABYTE = 1024 ** 2;
/** The engine's own limit (512 KiB of its stack) is reached well before this much of the thread's. */
const NODE_STACK_KIB = 7_000;
/** Memory over all programs of one worker; the engine's limit per program is in front of it. */
const DATA_BYTES = 4 * 1024 ** 3;
/**
 * Of the main thread, where the parser recurses: at most 954 bytes for each byte of source (`type X = [[[[`), so that no
 * source we accept reaches its end. Only what was once used is ever resident.
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

/** Node's own heap with our code in it, and room in which V8 can still collect garbage when a program is near its limit. */
const OWN_HEAP_BYTES = 32 * MEGABYTE;
/** The same data takes up to half as much again in V8 as in QuickJS, whose values are smaller. */
const V8_PER_QUICKJS_BYTES = 1.5;
/** Node itself, ten stacks that its threads set aside, and V8's young generation and code. */
const OWN_DATA_BYTES = 320 * MEGABYTE;
/** Far beyond any time that a run may have: the host ends runs by the clock, this ends what the host has lost. */
const CPU_SECONDS = 3_600;

/**
 * A V8 process for programs with so much memory. Its heap ends before the kernel refuses it pages, so that V8 says what it
 * died of. Deep recursion gets further than in QuickJS, whose stack a program was written for.
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
    // Programs live in UTC in the other engine too.
    environment: { TZ: 'UTC' },
    limits: {
      // Typed arrays lie beside the heap.
      dataBytes: Math.ceil(heapBytes + maxMemoryBytes + OWN_DATA_BYTES),
      stackBytes: STACK_BYTES,
      cpuSeconds: CPU_SECONDS,
      processes: MAX_PROCESSES,
      fileBytes: 0,
    },
  };
}
