import { userInfo } from 'node:os';

/** Who decides, for the record. A container may run under a number that has no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
