import { readFileSync } from 'node:fs';

/** A jail is two or three processes. This bounds a tree that grows while it is read. */
const MAX_PROCESSES_READ = 16;

/** CPU milliseconds of the main threads of a process and its descendants. `NaN` if the kernel does not report it. Takes about 50 µs. */
export function computedMs(root: number): number {
  let nanoseconds = 0;
  const found = [root];
  for (const pid of found) {
    if (found.length > MAX_PROCESSES_READ) break;
    try {
      nanoseconds += Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0]);
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
      for (const child of children.split(' ')) if (child !== '') found.push(Number(child));
    } catch {
      return Number.NaN;
    }
  }
  return nanoseconds / 1e6;
}
