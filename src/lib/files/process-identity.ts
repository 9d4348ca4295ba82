import { readFileSync } from 'node:fs';

/** A process by its pid and start time: pids are reused, pairs are not. Undefined if the process has ended. */
export function processIdentity(pid: number = process.pid): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before it is in brackets and may contain anything, including spaces and brackets.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    const [state, startedAt] = [fields[0] as string, fields[19]];
    // A zombie stays listed until its parent waits for it, which may be never.
    return startedAt === undefined || 'ZXx'.includes(state) ? undefined : `${pid}:${startedAt}`;
  } catch {
    return undefined;
  }
}

export function isProcessAlive(identity: string): boolean {
  const pid = Number(identity.split(':')[0]);
  return Number.isInteger(pid) && pid > 0 && processIdentity(pid) === identity;
}
