import { statfsSync } from 'node:fs';

/** Why the state folder cannot be used, and what to do about it. `error` is the system's error. */
export function unwritableState(folder: string, error: unknown): string {
  if (isDiskFull(folder)) return `the disk of the state folder ${folder} is full; make room on it`;
  const { code, message = 'unknown reason' } = error as NodeJS.ErrnoException;
  return `the state folder ${folder} cannot be written (${code ?? message}); make it writable, or set CODEMODE_HOME to another folder`;
}

/** SQLite also reports a full disk as "disk I/O error". */
function isDiskFull(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize < LEAST_FREE_BYTES;
  } catch {
    return false;
  }
}

const LEAST_FREE_BYTES = 64 * 1024;
