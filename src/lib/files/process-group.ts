/** Tells every process of a group something. False if nobody is left in it. */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/** Ends a child that leads its own group, and all that stayed in the group. */
export function killGroup(child: { readonly pid?: number | undefined; kill(signal: 'SIGKILL'): boolean }): void {
  if (child.pid !== undefined && !signalGroup(child.pid, 'SIGKILL')) child.kill('SIGKILL');
}
