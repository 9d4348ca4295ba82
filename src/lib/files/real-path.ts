import { readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The limit of Linux. */
const MAX_LINKS = 40;

/**
 * Where an absolute path leads once every link in it is followed. The part that does not exist is appended as written to the
 * longest part that does, so that a path can be judged before its file is made. Reads links only and opens nothing.
 */
export function realPathOf(path: string): string {
  const pending = path.split('/').reverse();
  let real = '/';
  let links = 0;
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      real = dirname(real);
      continue;
    }
    const next = join(real, part);
    const target = targetOf(next);
    if (target === 'missing' || links >= MAX_LINKS) return join(next, ...pending.reverse());
    if (target === 'no link') {
      real = next;
      continue;
    }
    links += 1;
    if (target.path.startsWith('/')) real = '/';
    pending.push(...target.path.split('/').reverse());
  }
  return real;
}

function targetOf(path: string): 'missing' | 'no link' | { readonly path: string } {
  try {
    return { path: readlinkSync(path) };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EINVAL' ? 'no link' : 'missing';
  }
}
