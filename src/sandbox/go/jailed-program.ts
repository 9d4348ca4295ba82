import type { ProcessLimits } from '../../domain/process-program.js';
import type { JailedProgram } from '../jail/jail.js';

const MEGABYTE = 1024 * 1024;
/** Go sets its heap aside in pieces of 64 MB, which count as soon as they are set aside. What is used is watched. */
const SET_ASIDE_BYTES = 192 * MEGABYTE;
const CPU_SECONDS = 3_600;
const DESCRIPTORS = 64;

/** A compiled program in its jail: the binary and nothing else. No files, no children, no network. */
export function jailedGoProgram(path: string, { maxMemoryBytes, maxProcesses }: ProcessLimits): JailedProgram {
  return {
    runtime: 'go',
    interpreterPath: path,
    interpreterArguments: [],
    files: [],
    environment: {
      // It collects its garbage before the limit, and says the program's own goroutine first when it crashes.
      GOMEMLIMIT: String(maxMemoryBytes),
      GOTRACEBACK: 'single',
    },
    limits: {
      dataBytes: maxMemoryBytes + SET_ASIDE_BYTES,
      cpuSeconds: CPU_SECONDS,
      processes: maxProcesses,
      fileBytes: 0,
      descriptors: DESCRIPTORS,
    },
  };
}
