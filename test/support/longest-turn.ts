/**
 * Watches the event loop of this process. Gives the longest turn since: what the process computed, in milliseconds, before others had
 * theirs. By CPU time, because on a busy machine a process also waits for a core.
 */
export function watchTurns(): () => number {
  let longestMs = 0;
  let last = process.cpuUsage();
  const look = () => {
    const { user, system } = process.cpuUsage(last);
    longestMs = Math.max(longestMs, (user + system) / 1_000);
    last = process.cpuUsage();
  };
  const timer = setInterval(look, 1);
  return () => {
    clearInterval(timer);
    look();
    return longestMs;
  };
}
