import type { IsolationLevel } from '../../domain/isolation.js';
import type { JailedProgram } from '../jail/jail.js';
import type { SharedSpec } from '../processes/process-spec.js';

const MEGABYTE = 1024 * 1024;
/** Go reserves its heap in pieces of 64 MB, and a reservation counts against the limit at once. Actual use is watched separately. */
const SET_ASIDE_BYTES = 192 * MEGABYTE;
const CPU_SECONDS = 3_600;
const DESCRIPTORS = 64;
const FOLDER_INSIDE = '/program';
/** The only file that is ever in its folder. */
export const PROGRAM_NAME = 'program';

/**
 * A compiled program's jail before the program is in it: the starter that will become the program, and a folder into which the
 * host puts the program. No other files, no children, no network. Every jail's filter allows execve, so this jail is not wider than
 * one around the program alone.
 */
export function waitingGoProgram(
  starterPath: string,
  folder: string,
  { maxMemoryBytes, maxProcesses }: SharedSpec,
  level: IsolationLevel,
): JailedProgram {
  const inside = level === 'none' ? folder : FOLDER_INSIDE;
  return {
    runtime: 'go',
    interpreterPath: starterPath,
    interpreterArguments: [`${inside}/${PROGRAM_NAME}`],
    files: [],
    folders: [{ from: folder, to: inside, hidden: [], addons: [] }],
    environment: {
      // It collects garbage before it reaches the limit, and prints the crashed goroutine first.
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
