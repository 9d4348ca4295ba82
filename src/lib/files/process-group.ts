/** Sends a signal to every process of a group. False if the group is empty. */
export function signalGroup(leader: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/** Kills a child that leads its own group, and all processes still in the group. */
export function killGroup(child: { readonly pid?: number | undefined; kill(signal: 'SIGKILL'): boolean }): void {
  if (child.pid !== undefined && !signalGroup(child.pid, 'SIGKILL')) child.kill('SIGKILL');
}
