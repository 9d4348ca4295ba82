import { constants } from 'node:os';
import type { Failure, LimitName } from '../../domain/run.js';
import type { ProcessExit } from './program-process.js';

/** Failures of programs on real interpreters that only the host can see. */

function limit(name: LimitName, message: string, hint: string): Failure {
  return { kind: 'limit', name: 'SandboxLimitError', limit: name, message, hint };
}

export function tooMuchMemory(mostBytes: number): Failure {
  return limit(
    'memory',
    `the program used more than ${mostBytes} bytes of memory`,
    'Process the data in smaller pieces, or raise limits.maxMemoryBytes.',
  );
}

export function tooMuchComputing(mostMs: number): Failure {
  return limit(
    'cpu',
    `the program used more than ${mostMs} ms of CPU time, all its processes together`,
    'Compute less, or with fewer processes and threads at a time.',
  );
}

export function tooManyThreads(): Failure {
  return limit('processes', 'the program could not start another thread', 'Use fewer threads at a time.');
}

export function tooManyFiles(most: number): Failure {
  return limit('disk', `the program made more than ${most} files`, 'Keep fewer files in /workspace at a time.');
}

export function tooMuchOutput(name: 'stdout' | 'stderr', mostBytes: number): Failure {
  return limit(
    'output',
    `the program wrote more than ${mostBytes} bytes to ${name}`,
    'Print less; return data as `result`.',
  );
}

/** The data on the channel is invalid, so nothing after it can be trusted. */
export function brokeItsChannel(reason: string): Failure {
  return {
    kind: 'worker_lost',
    name: 'Error',
    message: `the program wrote to the channel of its tools directly (${reason})`,
    hint: 'Leave descriptor 3 alone, and call tools through the client in /workspace/client.',
  };
}

export function endedWith(exitCode: number): Failure {
  return {
    kind: 'exception',
    name: 'ExitError',
    message: `the program ended with exit code ${exitCode}`,
    hint: 'Read stderr; a program that succeeds ends with 0.',
  };
}

/** It exited with 0, but by a call that ends a process at once (`os._exit`, `process.reallyExit`). */
export const CUT_SHORT: Failure = {
  kind: 'exception',
  name: 'ExitError',
  message: 'the program ended its process before its result could be read',
  hint: 'End with sys.exit(0) or process.exit(0), or print the result as the last line.',
};

/** The end of a process that did not report its end. */
export function endedBySignal(signal: string, stderr: string): Failure {
  if (signal === 'SIGSYS')
    return {
      kind: 'exception',
      name: 'SystemCallError',
      message: 'the program was killed because it made a forbidden system call',
      hint: 'Do not inspect other processes, mounts, users or the kernel: the sandbox forbids it.',
    };
  // The engine's own message. A program may print it too, but then it blames only itself.
  if (/out of memory|Allocation failed/i.test(stderr))
    return limit(
      'memory',
      'the program ran out of memory',
      'Process the data in smaller pieces, or raise limits.maxMemoryBytes.',
    );
  return {
    kind: 'exception',
    name: 'SignalError',
    message: `the program was ended by ${signal}`,
    hint: 'It crashed, or killed itself; read stderr.',
  };
}

/** If a number has two names, the usual one, which comes first: SIGABRT, not SIGIOT. */
const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

/** bwrap reports signals as a shell does: 128 plus the number. A program that exits with such a status counts as killed. */
export function signalOf({ code, signal }: ProcessExit): string | undefined {
  return signal ?? (code === null || code <= 128 ? undefined : SIGNAL_NAMES.get(code - 128));
}
