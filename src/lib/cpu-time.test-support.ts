/** The CPU time that this process used for the work. Wall-clock time would include the time in which a busy machine gave it no core. */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
