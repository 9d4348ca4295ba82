import { readFileSync } from 'node:fs';

/** A process by its number and the moment it started: numbers are used again, pairs are not. */
export function processIdentity(pid: number = process.pid): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before it stands in brackets and may hold anything, blanks and brackets too.
    const startedAt = status.slice(status.lastIndexOf(')') + 2).split(' ')[19];
    return startedAt === undefined ? undefined : `${pid}:${startedAt}`;
  } catch {
    return undefined;
  }
}

export function isProcessAlive(identity: string): boolean {
  const pid = Number(identity.split(':')[0]);
  return Number.isInteger(pid) && pid > 0 && processIdentity(pid) === identity;
}
