import type { IsolationLevel } from '../../domain/isolation.js';
import type { JailedProgram } from '../jail/jail.js';
import type { SharedSpec } from '../processes/process-spec.js';

const MEGABYTE = 1024 * 1024;
/** Go sets its heap aside in pieces of 64 MB, which count as soon as they are set aside. What is used is watched. */
const SET_ASIDE_BYTES = 192 * MEGABYTE;
const CPU_SECONDS = 3_600;
const DESCRIPTORS = 64;
const FOLDER_INSIDE = '/program';
/** In its folder, and the only file that ever is. */
export const PROGRAM_NAME = 'program';

/**
 * A compiled program's jail, before the program is in it: what will become the program, and a folder that it will be put
 * into from outside. No other files, no children, no network. Starting a program is a call that every jail's filter lets
 * through, so this one is no wider than it would be around the program alone.
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
