import { readFileSync } from 'node:fs';

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
