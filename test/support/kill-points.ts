import { readdirSync, readFileSync } from 'node:fs';

/** The n-th call of one kind that a process makes: it is killed when it is about to make it. */
export interface KillPoint {
  readonly systemCall: string;
  readonly count: number;
}

/** What changes something outside of the process: in files, on the disk, in the pipes to workers and servers. */
const CHANGING = [
  ...['write', 'writev', 'pwrite64', 'pwritev', 'sendto', 'sendmsg', 'fsync', 'fdatasync', 'ftruncate'],
  ...['rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink', 'unlinkat', 'mkdir', 'mkdirat'],
].map((name) => `?${name}`);

/** Starts a program and writes the system calls of its main thread to a file. */
export function listing(file: string): string[] {
  return ['strace', '-qq', '-o', file, '-e', `trace=${CHANGING.join(',')}`, '-e', 'signal=none'];
}

/** Starts a program and kills it at a point. What it has started is not touched. */
export function killingAt({ systemCall, count }: KillPoint): string[] {
  const inject = `inject=${systemCall}:signal=KILL:when=${count}`;
  return ['strace', '-qq', '-o', '/dev/null', '-e', `trace=${systemCall}`, '-e', 'signal=none', '-e', inject];
}

/** Every point of a run that was listed. */
export function pointsIn(file: string): KillPoint[] {
  const counts = new Map<string, number>();
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const systemCall = /^(\w+)\(/.exec(line)?.[1];
      if (systemCall === undefined) return [];
      const count = (counts.get(systemCall) ?? 0) + 1;
      counts.set(systemCall, count);
      return [{ systemCall, count }];
    });
}

/** So many of them, evenly spread over their order; the seed says where in each part. */
export function spread<Item>(items: readonly Item[], count: number, seed: number): Item[] {
  if (count >= items.length) return [...items];
  let state = seed;
  const random = () => {
    // A generator of Lehmer's: all that matters here is that a seed gives the same places again.
    state = (state * 48_271 + 11) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  return Array.from(
    { length: count },
    (_, part) => items[Math.floor(((part + random()) * items.length) / count)] as Item,
  );
}

/**
 * Ends the jails that were being started when their host was killed. bubblewrap asks the kernel to end with its parent, but
 * the child that waits for its own parent to map users does so only later: killed in that millisecond, the parent leaves it.
 */
export function endOrphanedJails(workerFolder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!/^\S*bwrap\0/.test(words) || !words.includes(workerFolder)) continue;
      const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
      const parentName = readFileSync(`/proc/${parent}/comm`, 'utf8').trim();
      if (!['bwrap', 'node', 'MainThread'].includes(parentName)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended while we looked.
    }
  }
}
