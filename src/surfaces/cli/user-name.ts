import { userInfo } from 'node:os';

/** Who decides, for the audit log. A container may run under a user id without a name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
