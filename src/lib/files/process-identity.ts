import { readFileSync } from 'node:fs';

/** A process by its number and the moment it started: numbers are used again, pairs are not. Not of one that has ended. */
export function processIdentity(pid: number = process.pid): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before it is in brackets and may hold anything, blanks and brackets too.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    const [state, startedAt] = [fields[0] as string, fields[19]];
    // One that was killed is listed until its parent asks for it, which may be never.
    return startedAt === undefined || 'ZXx'.includes(state) ? undefined : `${pid}:${startedAt}`;
  } catch {
    return undefined;
  }
}

export function isProcessAlive(identity: string): boolean {
  const pid = Number(identity.split(':')[0]);
  return Number.isInteger(pid) && pid > 0 && processIdentity(pid) === identity;
}
